"""What PTF tests need of this machine: PTF, a switch, namespaces for its ports."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from p4cc.errors import UserError
from p4cc.own_programs import BUILD, find_own

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PLACE = "PTF tests"
GUIDE = "docs/how-to/bmv2.md"
CHECK_S = 60
_TEST = re.compile(r"\w+\.\w+")
_NAMESPACES = ("--net", "--pid", "--fork", "--kill-child")
_AS_USER = ("--user", "--map-root-user")


@dataclass(frozen=True)
class PtfBench:
    """Programs and the words in front of a process that makes interfaces of its own."""

    target: str
    ptf: Path
    switch: Path
    command_line: Path
    has_p4runtime: bool
    has_notifications: bool
    """Whether it was built with nanomsg, and then has a socket that is the machine's unless it is named."""
    namespaces: Sequence[str]

    def check(self, folder: Path, classes: Iterable[str]) -> None:
        """Imports the tests of a folder once, here; raises UserError if they cannot be, or if a name is of none."""
        listed = self._listed(folder)
        names = {name for test in listed for name in (test, test.partition(".")[0])}
        for name in classes:
            if name not in names:
                remedy = f"choose one of: {', '.join(listed)}"
                raise UserError(f"there is no test {name!r}", place=str(folder), remedy=remedy)

    def _listed(self, folder: Path) -> list[str]:
        words = [str(self.ptf), "--test-dir", str(folder), "--pypath", str(folder.parent), "--list-test-names"]
        with tempfile.TemporaryDirectory(prefix="p4cc-grade-") as work:
            try:
                done = subprocess.run(  # noqa: S603 - PTF, on the teacher's tests
                    [*words, "--log-file", f"{work}/ptf.log"],
                    cwd=work,
                    capture_output=True,
                    text=True,
                    timeout=CHECK_S,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                remedy = "a test module does nothing but define tests when it is imported"
                raise UserError(f"PTF did not list them in {CHECK_S} s", place=str(folder), remedy=remedy) from None
        listed = [line for line in done.stdout.splitlines() if _TEST.fullmatch(line)]
        if done.returncode or not listed:
            last = done.stderr.strip().splitlines()[-1:] if done.returncode else []
            remedy = "correct the tests: each is a class with runTest, in a module of this folder"
            raise UserError(f"PTF lists no tests: {(last or ['there are none'])[0]}", place=str(folder), remedy=remedy)
        return listed


def ptf_bench(target: str) -> PtfBench:
    """The programs of a target, `p4cc` or `bmv2`; raises one UserError with all that is missing."""
    ptf = _program("ptf")
    if target == "p4cc":
        switch, command_line, has_p4runtime = find_own("p4cc-switch"), find_own("p4cc-switch-cli"), True
        install = BUILD
    else:
        with_p4runtime = shutil.which("simple_switch_grpc")
        switch, command_line = with_p4runtime or shutil.which("simple_switch"), shutil.which("simple_switch_CLI")
        has_p4runtime, install = with_p4runtime is not None, f"install BMv2 ({GUIDE})"
    missing = {
        "ptf": None if ptf else "pip install 'p4cc[ptf]'",
        f"the switch of target {target}": None if switch and command_line else install,
        "ip": None if shutil.which("ip") else "apt-get install iproute2",
        "unshare": None if shutil.which("unshare") else "apt-get install util-linux",
    }
    remedies = {name: remedy for name, remedy in missing.items() if remedy}
    if ptf is None or switch is None or command_line is None or remedies:
        cause = f"missing on this machine: {', '.join(remedies)}"
        raise UserError(cause, place=PLACE, remedy="; ".join(remedies.values()))
    ptf_path, switch_path, cli_path = (Path(one).absolute() for one in (ptf, switch, command_line))
    options = subprocess.run([switch, "--help"], capture_output=True, text=True, check=False).stdout  # noqa: S603 - as below
    has_notifications = "--notifications-addr" in options
    return PtfBench(target, ptf_path, switch_path, cli_path, has_p4runtime, has_notifications, _namespaces())


def _program(name: str) -> str | None:
    near = Path(sys.executable).parent / name
    return str(near) if near.is_file() else shutil.which(name)


def _namespaces() -> list[str]:
    """Words that start a process where it can make interfaces: as root, or in a user namespace; raises UserError."""
    said = ""
    for user in ((), _AS_USER):
        words = ["unshare", *user, *_NAMESPACES]
        pair = ["ip", "link", "add", "p4cc0", "type", "veth", "peer", "name", "p4cc1"]
        done = subprocess.run([*words, *pair], capture_output=True, text=True, check=False)  # noqa: S603 - constant
        if done.returncode == 0:
            return words
        said = done.stderr.strip()
    remedy = "run it as root, or let the kernel give users namespaces (sysctl kernel.unprivileged_userns_clone=1)"
    raise UserError(f"need a network namespace of their own: {said}", place=PLACE, remedy=remedy)
