"""Builds the wheel for `make wheel`: `python engine/wheel.py FOLDER [--tuned]`.

maturin packs the Python module. The programs that set-up put next to this Python, the switch and the agent, become the
wheel's scripts, so that one `pip install` brings them along; `p4cc-hosts` too, after `make linux-hosts`. With `--tuned`
the module is compiled twice: what engine/training.py runs in the first tells the compiler of the second where packets
go, and the second is optimised across crates (docs/reference/performance.md, "Released wheels"). Needs nothing that is
not Python's own.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = ("p4cc-switch", "p4cc-switch-cli", "p4cc-agent")
HOSTS = ROOT / "target/linux-hosts/release/p4cc-hosts"
"""`p4cc-hosts` with its eBPF objects inside, if `make linux-hosts` built it."""
TUNED = {"CARGO_PROFILE_RELEASE_LTO": "fat"}
EXECUTABLE = 0o100755 << 16
"""What zip keeps as the attributes of a file that can be run."""


def add_programs(wheel: Path, programs: list[Path]) -> None:
    """Adds programs to a wheel, and their lines to its record."""
    stem = "-".join(wheel.name.split("-")[:2])
    record = f"{stem}.dist-info/RECORD"
    partial = wheel.with_suffix(".partial")
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as new:
        for item in old.infolist():
            if item.filename != record:
                new.writestr(item, old.read(item), zipfile.ZIP_DEFLATED)
        lines = old.read(record).decode().splitlines()
        for program in programs:
            content = program.read_bytes()
            item = zipfile.ZipInfo(f"{stem}.data/scripts/{program.name}")
            item.external_attr = EXECUTABLE
            new.writestr(item, content, zipfile.ZIP_DEFLATED)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            lines.append(f"{item.filename},sha256={digest},{len(content)}")
        new.writestr(record, "\n".join(lines) + "\n")
    partial.replace(wheel)


def has_profdata() -> bool:
    """Whether there is what merges the counts of an instrumented module."""
    sysroot = subprocess.run(["rustc", "--print", "sysroot"], cwd=ROOT, check=True, capture_output=True, text=True)
    beside = Path(sysroot.stdout.strip()).glob("lib/rustlib/*/bin/llvm-profdata")
    return any(beside) or shutil.which("llvm-profdata") is not None


def main() -> int:
    """The exit code of maturin where that fails."""
    parser = argparse.ArgumentParser(description="Builds p4cc's wheel.")
    parser.add_argument("folder", type=Path, help="where the wheel goes")
    parser.add_argument("--tuned", action="store_true", help="compiled by counts of training runs and across crates")
    given = parser.parse_args()
    folder, binaries = given.folder.resolve(), Path(sys.executable).parent
    before = set(folder.glob("*.whl"))
    words = [str(binaries / "maturin"), "build", "--release", "--locked", "--out", str(folder)]
    environment = dict(os.environ)
    if given.tuned:
        if not has_profdata():
            print("wheel: a tuned wheel needs llvm-profdata: rustup component add llvm-tools", file=sys.stderr)
            return 1
        # A folder of its own: other flags would make `make setup` compile all anew.
        words += ["--pgo", "--target-dir", str(ROOT / "target/tuned")]
        environment |= TUNED
    else:
        words.append("--quiet")
    if code := subprocess.run(words, cwd=ROOT, env=environment, check=False).returncode:
        return code
    made = set(folder.glob("*.whl")) - before or before
    programs = [*(binaries / name for name in PROGRAMS), *([HOSTS] if HOSTS.exists() else [])]
    add_programs(max(made, key=lambda wheel: wheel.stat().st_mtime), programs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
