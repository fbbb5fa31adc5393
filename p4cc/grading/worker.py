"""Grades one program in a process with limits: `python -m p4cc.grading.worker`, a task as JSON on standard input.

Limits are set before the program is read. The process has a network of its own without any interface where the kernel
allows that; tests run on the embedded switch, which opens no socket in any case.
"""

from __future__ import annotations

import ctypes
import json
import resource
import sys
from pathlib import Path
from typing import Any

from p4cc.errors import UserError
from p4cc.planning.programs import CompiledProgram, compile_program

_CLONE_NEWNET, _CLONE_NEWUSER = 0x40000000, 0x10000000
MOST_TRACED = 3
"""Packets of a failed test whose way is kept."""


def main() -> None:
    """Reads a task, writes a result."""
    task: dict[str, Any] = json.load(sys.stdin)
    limit(task["memory_bytes"], task["cpu_s"])
    json.dump(graded(task), sys.stdout)


def limit(memory_bytes: int, cpu_s: int) -> None:
    """Bounds this process: memory, processor time, no files written, no core, no network."""
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    libc = ctypes.CDLL(None)
    if libc.unshare(_CLONE_NEWNET):
        libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET)


def graded(task: dict[str, Any]) -> dict[str, Any]:
    """Compiles the program and runs each test: `error`, or `tests` in the order of the task."""
    try:
        compiled = compile_program(Path(task["program"]), (), tuple(task["define"]))
    except UserError as error:
        return {"error": str(error)}
    if not compiled.ok:
        return {"error": compiled.rendered}
    return {"tests": [tested(compiled, text) for text in task["tests"]]}


def tested(compiled: CompiledProgram, text: str) -> dict[str, Any]:
    """One test: whether it passed, and why not."""
    try:
        report = compiled.run_stf(text)
    except UserError as error:
        return {"passed": False, "problems": [str(error)], "packets": []}
    problems = [f"line {one.line}: {one.message}" if one.line else one.message for one in report.problems]
    if not problems:
        return {"passed": True, "problems": [], "packets": []}
    is_test = all(one.kind != "syntax" for one in report.problems)
    packets = compiled.trace_stf(text).packets[:MOST_TRACED] if is_test else []
    return {"passed": False, "problems": problems, "packets": packets}


if __name__ == "__main__":
    main()
