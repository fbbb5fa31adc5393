"""A lab's requirements on this machine; one message lists all missing tools with the line that installs them.

`python -m p4cc.lab.tools` prints the Debian packages that are missing, for `make lab-tools`.
"""

from __future__ import annotations

import os
import platform
import re
import shlex
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from p4cc.errors import UserError
from topos.mininet import TOOLS, which

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FIRST_WITHOUT_MININET = (3, 12)
"""Python has no distutils from here on."""
IN_HOSTS = {"ping": "iputils-ping", "iperf3": "iperf3"}
"""Tools that exercises run in hosts, with Debian's packages; only labs that name them need them."""
_BEGINS_COMMAND = frozenset({"if", "then", "else", "elif", "while", "until", "do", "!", "{", "exec", "time", "sudo"})
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


@dataclass(frozen=True)
class Missing:
    """A tool that is not there: a Debian package brings it, or something else does."""

    tool: str
    package: str = ""
    remedy: str = ""


def debian(tools: Iterable[str]) -> list[Missing]:
    """Those of a lab's tools that Debian has and this machine has not."""
    packages = {**TOOLS, **IN_HOSTS}
    return [Missing(tool, packages[tool]) for tool in tools if which(tool) is None]


def check(others: Sequence[Missing], lines: Sequence[str], hosts: frozenset[str] = frozenset()) -> None:
    """Raise UserError that names root where it is missing, `others`, and every tool that labs and `lines` call for.

    It names a Python without distutils too. Where a tool is missing, what hosts usually run is named with it, so that
    one installation is enough.
    """
    missing = [*debian([*TOOLS, *called(lines, hosts)]), *others]
    if missing:
        missing = list(dict.fromkeys([*missing, *debian(IN_HOSTS)]))
    causes: list[str] = []
    remedies: list[str] = []
    if sys.version_info >= FIRST_WITHOUT_MININET:
        causes.append(f"needs Python 3.11, this is {platform.python_version()}: Debian's mininet imports distutils")
        remedies.append("install p4cc with Python 3.11")
    if not is_root():
        causes.append("needs root: it makes network namespaces")
        remedies.append("run it with sudo")
    if missing:
        causes.append(f"missing on this machine: {', '.join(one.tool for one in missing)}")
        remedies[:0] = _remedies(missing)
    if causes:
        raise UserError("; ".join(causes), place="p4cc lab", remedy="; ".join(remedies))


def _remedies(missing: Iterable[Missing]) -> list[str]:
    packages = dict.fromkeys(one.package for one in missing if one.package)
    install = [f"sudo apt-get install {' '.join(packages)}"] if packages else []
    return [*install, *dict.fromkeys(one.remedy for one in missing if one.remedy)]


def called(lines: Sequence[str], hosts: frozenset[str] = frozenset()) -> list[str]:
    """The tools of exercises that shell lines use as commands."""
    return [tool for tool in IN_HOSTS if any(tool in _commands(line, hosts) for line in lines)]


def _commands(line: str, hosts: frozenset[str]) -> set[str]:
    """Words of a shell line at which a command begins; none of a line that is not whole, which the shell refuses."""
    words = shlex.shlex(line, posix=True, punctuation_chars="();&|`")
    words.whitespace_split = True
    words.commenters = ""
    commands: set[str] = set()
    begins = True
    try:
        for word in words:
            operator = not word.strip("();&|`")
            if begins and not operator:
                commands.add(word)
            # The name of a host precedes a command.
            begins = operator or (begins and (word in _BEGINS_COMMAND | hosts or bool(_ASSIGNMENT.match(word))))
    except ValueError:
        return set()
    return commands


def is_root() -> bool:
    """Whether this process may make namespaces and interfaces."""
    return os.geteuid() == 0


if __name__ == "__main__":
    print(" ".join(dict.fromkeys(one.package for one in debian([*TOOLS, *IN_HOSTS]))))
