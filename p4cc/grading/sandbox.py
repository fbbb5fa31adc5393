"""Bounds of the process that grades one submission: memory, processor time, files, network."""

from __future__ import annotations

import ctypes
import os
import resource
import struct
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import p4cc
from p4cc import bundled

if TYPE_CHECKING:
    from collections.abc import Iterable

_CLONE_NEWNET, _CLONE_NEWUSER = 0x40000000, 0x10000000
_PR_SET_NO_NEW_PRIVS = 38
# Landlock (Linux 5.13): its system calls have these numbers on every architecture but alpha.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_EVERY_ACCESS = (1 << 13) - 1
"""What the first version of Landlock knows: to execute, write, read, remove and make."""
_READ = 1 << 2 | 1 << 3
_PATH_BENEATH = 1


def limit(memory_bytes: int, cpu_s: int) -> None:
    """Bounds this process: memory, processor time, no files written, no core, no network."""
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    libc = ctypes.CDLL(None)
    if libc.unshare(_CLONE_NEWNET):
        libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET)


def read_only(folder: Path) -> bool:
    """Lets this process read a folder, p4cc and Python, and nothing else; whether the kernel can."""
    libc = ctypes.CDLL(None, use_errno=True)
    attributes = struct.pack("Q", _EVERY_ACCESS)
    ruleset = libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    if ruleset < 0:
        return False
    for path in _readable(folder):
        beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
        rule = struct.pack("=Qi", _READ, beneath)
        libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
        os.close(beneath)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    return libc.syscall(_RESTRICT_SELF, ruleset, 0) == 0


def _readable(folder: Path) -> Iterable[Path]:
    package = Path(p4cc.__file__).parent
    python = (Path(path) for path in {sys.prefix, sys.base_prefix})
    folders = (folder, package, bundled.P4SRC, *python)
    return sorted({path.resolve() for path in folders if path.is_dir()})
