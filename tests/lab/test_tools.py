"""What is missing on a machine, and what `--run` cannot run: said before anything is built, as root or not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from p4cc.errors import UserError
from p4cc.lab import tools
from p4cc.lab.tools import called

FILES = Path(__file__).parent / "files"
HOSTS = frozenset({"h1", "h2", "h3"})


def lab(tmp_path: Path, *lines: str, **environment: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "p4cc.cli", "lab", "--import", str(FILES / "topology.json"), "--no-cli"]
    words += ["--program", str(FILES / "route.p4"), "--out", str(tmp_path / "lab"), "--switch", "bmv2"]
    words += [word for line in lines for word in ("--run", line)]
    done = subprocess.run(words, env=os.environ | environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "lab").exists()
    return done


def test_everything_that_is_missing_is_named_at_once(tmp_path: Path) -> None:
    tools_at_hand = tmp_path / "bin"
    tools_at_hand.mkdir()
    # `ping` too, which no line calls: one installation is enough.
    said = lab(tmp_path, "h1 iperf3 -s & sleep 1", PATH=str(tools_at_hand)).stderr
    for tool in ("mnexec", "bash", "mount", "iperf3", "ping", "simple_switch_grpc", "p4c-bm2-ss", "simple_switch_CLI"):
        assert f" {tool}" in said.partition("remedy")[0]
    (apt,) = [part for part in said.partition("remedy: ")[2].split("; ") if part.startswith("sudo apt-get install")]
    assert {"mininet", "mount", "bash", "iputils-ping", "iperf3"} <= set(apt.split())
    assert "docs/how-to/bmv2.md" in said


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("h9 true", "no host 'h9'"),
        ("h1", "nothing to run in h1"),
        ("h1 ping h2 && (", "syntax error"),
        ("h1 echo 'open", "unexpected EOF"),
    ],
)
def test_a_line_that_cannot_run_is_refused(tmp_path: Path, line: str, said: str) -> None:
    done = lab(tmp_path, "h1 true", line)
    assert said in done.stderr
    assert "--run" in done.stderr
    assert "remedy: " in done.stderr


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("ping -c 1 h2", ["ping"]),
        ("iperf3 -s & sleep 1; h2 iperf3 -c h1", ["iperf3"]),
        ("h2 iperf3 -s & ping h2 | tail -1", ["ping", "iperf3"]),
        ("LANG=C exec ping h2", ["ping"]),
        ("for n in 1 2; do (ping -c 1 h$n); done", ["ping"]),
        ("echo ping; pkill iperf3", []),
        ("echo 'iperf3 -s; ping' # ping", []),
    ],
)
def test_tools_are_those_that_a_line_calls(line: str, names: list[str]) -> None:
    assert called([line], HOSTS) == names


def test_the_makefile_is_told_packages_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def which(tool: str) -> str | None:
        return None if tool in ("mnexec", "ping") else f"/usr/bin/{tool}"

    monkeypatch.setattr(tools, "which", which)
    assert [one.package for one in tools.debian([*tools.TOOLS, *tools.IN_HOSTS])] == ["mininet", "iputils-ping"]


def test_a_python_that_mininet_does_not_run_on_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools.sys, "version_info", (3, 12, 1, "final", 0))
    with pytest.raises(UserError, match=r"needs Python 3\.11.*\n.*install p4cc with Python 3\.11"):
        tools.check([], [])
