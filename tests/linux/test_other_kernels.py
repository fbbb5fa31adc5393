"""Programs find their fields in the BTF of kernels that do not run here: libbpf relocates them and loads nothing."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.linux.kernel import COMMAND, LOAD_S, needs_senders

#: BTF of other kernels, out of Debian's packages (docs/explanation/linux-hosts.md); colons between files.
FILES = [Path(word) for word in os.environ.get("P4CC_BTF_FILES", "").split(":") if word]
RUNNING = Path("/sys/kernel/btf/vmlinux")
ALL = """window senders: 7 programs find all their fields
senders by rate: 6 programs find all their fields
option: 3 programs find all their fields
profile: 2 programs find all their fields
"""


def check(btf: Path) -> subprocess.CompletedProcess[str]:
    needs_senders()
    words = [str(COMMAND), "check", "--btf", str(btf)]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=LOAD_S)


def test_the_running_kernel_has_all_fields() -> None:
    done = check(RUNNING)
    assert (done.returncode, done.stdout) == (0, ALL), done.stderr


def without(fields: Sequence[str]) -> bytes:
    """The running kernel's BTF with other names for these fields."""
    btf = RUNNING.read_bytes()
    for field in fields:
        # Names are in one table of strings that end with a zero.
        name, other = f"\0{field}\0".encode(), f"\0{field[:-1]}_\0".encode()
        assert name in btf
        btf = btf.replace(name, other)
    return btf


@pytest.mark.parametrize(
    ("structure", "field"), [("tcp_sock", "delivered_ce"), ("tcp_sock", "snd_cwnd_clamp"), ("rate_sample", "rtt_us")]
)
def test_a_kernel_without_a_field_is_named(tmp_path: Path, structure: str, field: str) -> None:
    (tmp_path / "btf").write_bytes(without([field]))
    done = check(tmp_path / "btf")
    assert done.returncode == 1
    assert f"a program reads {structure}.{field}, which is not there; the programs need another kernel" in done.stderr


def test_a_kernel_without_ipv6_has_all_fields_that_are_read(tmp_path: Path) -> None:
    (tmp_path / "btf").write_bytes(without(["skc_v6_daddr", "skc_v6_rcv_saddr"]))
    done = check(tmp_path / "btf")
    assert (done.returncode, done.stdout) == (0, ALL), done.stderr


@pytest.mark.skipif(not FILES, reason="P4CC_BTF_FILES names no BTF of another kernel (docs/explanation/linux-hosts.md)")
@pytest.mark.parametrize("btf", FILES, ids=lambda file: file.name)
def test_another_kernel_has_all_fields(btf: Path) -> None:
    done = check(btf)
    assert (done.returncode, done.stdout) == (0, ALL), done.stderr


def test_what_is_no_btf_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no BTF")
    assert check(tmp_path / "text").returncode == 1
    missing = check(tmp_path / "missing")
    assert (missing.returncode, "there is no such file; give a kernel's BTF" in missing.stderr) == (1, True)
