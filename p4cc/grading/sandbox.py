"""Bounds of the process that grades one submission: memory, processor time, files, network."""

from __future__ import annotations

import ctypes
import os
import resource
import site
import struct
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import p4cc
from p4cc import bundled

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_CLONE_NEWNET, _CLONE_NEWUSER = 0x40000000, 0x10000000
_PR_SET_NO_NEW_PRIVS = 38
# Landlock (Linux 5.13): its system calls have these numbers on every architecture but alpha.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_EVERY_ACCESS = (1 << 13) - 1
"""What the first version of Landlock knows: to execute, write, read, remove and make."""
_EXECUTE = 1 << 0
_READ = 1 << 2 | 1 << 3
_PATH_BENEATH = 1
_SYSTEM = ("/bin", "/etc", "/lib", "/lib64", "/opt", "/proc", "/sys", "/usr")
"""Where programs of the system are, and what they read."""


def limit(memory_bytes: int, cpu_s: int, file_bytes: int = 0) -> None:
    """Bounds this process and each that it starts: memory, processor time, size of a file, no core."""
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def leave_network() -> None:
    """Leaves this process without interfaces, where the kernel lets it."""
    libc = ctypes.CDLL(None)
    if libc.unshare(_CLONE_NEWNET):
        libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET)


def read_only(folder: Path) -> bool:
    """Lets this process read a folder, p4cc and Python, and nothing else; whether the kernel can."""
    return _restricted(dict.fromkeys((folder, *_python()), _READ))


def run_within(folder: Path, readable: Iterable[Path]) -> bool:
    """Lets this process write to a folder, and read and start what is in `readable`, Python and the system."""
    places = dict.fromkeys((*readable, *_python(), *map(Path, _SYSTEM)), _READ | _EXECUTE)
    return _restricted({**places, Path("/dev"): _EVERY_ACCESS, folder: _EVERY_ACCESS})


def _restricted(places: Mapping[Path, int]) -> bool:
    libc = ctypes.CDLL(None, use_errno=True)
    attributes = struct.pack("Q", _EVERY_ACCESS)
    ruleset = libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    if ruleset < 0:
        return False
    for path, access in places.items():
        if not path.is_dir():
            continue
        beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
        rule = struct.pack("=Qi", access, beneath)
        libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
        os.close(beneath)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    return libc.syscall(_RESTRICT_SELF, ruleset, 0) == 0


def _python() -> Iterable[Path]:
    """Folders of p4cc, of Python and of packages."""
    named = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if Path(path).is_absolute()]
    packages = [*site.getsitepackages(), site.getusersitepackages(), *named]
    ours = (Path(p4cc.__file__).parent, bundled.P4SRC)
    return [path.resolve() for path in (*ours, *map(Path, (sys.prefix, sys.base_prefix, *packages)))]
