"""Networks of p4-utils with `p4cc-switch` in the place of simple_switch, from a copy outside of this project.

`P4CC_P4UTILS` names the copy, `P4CC_P4UTILS_PYTHON` an interpreter that has what p4-utils imports (networkx, psutil,
ipaddr, scapy, thrift, pynng, grpcio, p4runtime; BMv2's `bm_runtime`, `sswitch_runtime` and `bmpy_utils`, and Mininet,
from PYTHONPATH or its own folders). p4-utils removes other Minineters' files and processes by name when it starts; it
therefore runs in network, process and mount namespaces of its own, with its changes to /tmp kept from everybody else.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from tests.switchd.namespaces import ROOT, needs_namespaces, switch_program

COPY = os.environ.get("P4CC_P4UTILS")
PYTHON = os.environ.get("P4CC_P4UTILS_PYTHON", sys.executable)
HERE = Path(__file__).with_name("p4utils")
TIME_LIMIT_S = 90.0

pytestmark = pytest.mark.skipif(COPY is None, reason="P4CC_P4UTILS names no copy of p4-utils")

#: The folder that is kept and the one to run in come first.
ISOLATED = """
set -e
mount --make-rprivate /
mount -t proc proc /proc
mount -t tmpfs tmpfs /mnt
mkdir /mnt/upper /mnt/work /mnt/kept
mount --bind "$0" /mnt/kept
mount -t overlay overlay -o lowerdir=/tmp,upperdir=/mnt/upper,workdir=/mnt/work /tmp
mount --bind /mnt/kept "$0"
ip link set lo up
cd "$1"
shift
exec "$@"
"""

#: p4-utils calls the compiler's driver; our switch takes the source itself in the place of what it makes.
COMPILER = """#!{python}
import pathlib, shutil, subprocess, sys
words = sys.argv[1:]
source = pathlib.Path(words[0])
folder = pathlib.Path(words[words.index("-o") + 1])
shutil.copy(source, folder / (source.stem + ".json"))
if "--p4runtime-files" in words:
    info = words[words.index("--p4runtime-files") + 1]
    subprocess.run([{p4cc!r}, "compile", str(source), "--p4info", info], check=True, stdout=subprocess.DEVNULL)
"""

BRIDGE = """#!/bin/sh
case "$1" in
    addbr) exec ip link add "$2" type bridge ;;
    delbr) exec ip link del "$2" ;;
    addif) exec ip link set "$3" master "$2" ;;
esac
"""


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder for PATH: BMv2's names for our switch, and what p4-utils calls beside it."""
    needs_namespaces()
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("simple_switch", "simple_switch_grpc"):
        (folder / name).symlink_to(switch_program())
    p4cc = str(Path(sys.executable).with_name("p4cc"))
    scripts = {
        "p4c": COMPILER.format(python=sys.executable, p4cc=p4cc),
        # Its schedulers are started as `python3`.
        "python": f'#!/bin/sh\nexec {PYTHON} "$@"\n',
        "python3": f'#!/bin/sh\nexec {PYTHON} "$@"\n',
        "sudo": '#!/bin/sh\nexec "$@"\n',
        "simple_switch_CLI": f"#!/bin/sh\nexec {PYTHON} -c 'import sswitch_CLI; sswitch_CLI.main()' \"$@\"\n",
    }
    if shutil.which("brctl") is None:
        scripts["brctl"] = BRIDGE
    for name, text in scripts.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder


def isolated(tools: Path, folder: Path, command: list[str], typed: str = "") -> str:
    """Runs p4-utils' Python in a folder; what it said."""
    library = [str(COPY), os.environ.get("PYTHONPATH", ""), "/usr/lib/python3/dist-packages"]
    environment = os.environ | {"PATH": f"{tools}:{os.environ['PATH']}", "PYTHONPATH": ":".join(filter(None, library))}
    namespaces = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount", "--uts"]
    shell = ["sh", "-c", ISOLATED, str(folder.parent), str(folder), *command]
    done = subprocess.run(
        [*namespaces, *shell],
        input=typed,
        env=environment,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIME_LIMIT_S,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_its_own_example_forwards(tools: Path, tmp_path: Path) -> None:
    folder = tmp_path / "switches"
    shutil.copytree(Path(COPY or "") / "examples/switches", folder)
    said = isolated(tools, folder, [PYTHON, "network.py"], "pingall\nexit\n")
    assert "0% dropped (12/12 received)" in said, said
    assert "error in file" not in said, said


def test_controllers_learn_by_digest_over_thrift_and_p4runtime(tools: Path, tmp_path: Path) -> None:
    folder = tmp_path / "network"
    folder.mkdir()
    program, report = folder / "features.p4", folder / "report.json"
    shutil.copy(HERE / "features.p4", program)
    said = isolated(tools, folder, [PYTHON, str(HERE / "network.py"), str(program), str(report)])
    seen = json.loads(report.read_text())
    assert seen["loss"] == 0, said
    # Where each switch says the hosts are.
    assert seen["s1"] == {"h1": 1, "h2": 2, "h3": 3, "h4": 3}, said
    assert seen["s2"] == {"h1": 3, "h2": 3, "h3": 1, "h4": 2}, said
    arrays = seen["arrays"]
    assert arrays["calculations"] == [["calc", 32], ["calc_0", 32]]
    assert " 0% packet loss" in arrays["ping"]
    packets = arrays["counter"][1] if isinstance(arrays["counter"], list) else arrays["counter"]["packets"]
    assert packets >= 5
    assert arrays["watched"] == 5
    first, second, source = arrays["hashes"]
    # The first is the standard CRC-32, the second CRC-32C: two calculations, two polynomials.
    assert first == zlib.crc32(source.to_bytes(4, "big"))
    assert second == crc32c(source.to_bytes(4, "big"))
    assert arrays["slow_s"] > 1.0, "8 packets at 5 a second take more than a second"
    assert " 0% packet loss" not in arrays["metered"]


def crc32c(data: bytes) -> int:
    register = 0xFFFFFFFF
    for byte in data:
        register ^= byte
        for _ in range(8):
            register = register >> 1 ^ (0x82F63B78 if register & 1 else 0)
    return register ^ 0xFFFFFFFF


def test_the_repository_is_not_written_to() -> None:
    """The copy lies outside of the project."""
    assert not Path(COPY or "").resolve().is_relative_to(ROOT)
