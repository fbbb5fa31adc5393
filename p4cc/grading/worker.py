"""Grades one program in a process with limits: `python -m p4cc.grading.worker`, a task as JSON on standard input.

Two lines of JSON come out: the results, then the ways of some packets of the tests that failed. Following packets
takes more than running a test, and what ends there must not cost a result. For PTF tests, which need a switch, the
results have the compiled program (`p4cc.grading.ptf_worker`).
"""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from p4cc.errors import UserError
from p4cc.grading.sandbox import leave_network, limit, read_only
from p4cc.packet_way.concerned import concerned
from p4cc.planning.programs import CompiledProgram, compile_program

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from p4cc.packet_way.concerned import Failure

MOST_TRACED = 3
"""Packets of a failed test whose way is kept."""
MOST_TRACE_CHARACTERS = 5_000_000


def main() -> None:
    """Reads a task, writes its results."""
    task: dict[str, Any] = json.load(sys.stdin)
    program = Path(task["program"])
    limit(task["memory_bytes"], task["cpu_s"])
    leave_network()
    read_only(program.parent)
    compiled, error = _compiled(program, task["define"], task["strict"])
    if compiled is None:
        print(json.dumps({"error": error}))
        return
    reports = [_reported(compiled, text) for text in task["tests"]]
    results = [result for result, _ in reports]
    built = _built(compiled, task["target"]) if task["target"] else {}
    print(json.dumps({"tests": results, **built}), flush=True)
    print(json.dumps(_traced(compiled, task["tests"], [failures for _, failures in reports])))


def _compiled(program: Path, defines: list[str], strict: str | None) -> tuple[CompiledProgram | None, str]:
    try:
        compiled = compile_program(program, (), tuple(defines), strict)
    except UserError as error:
        return None, str(error)
    return (compiled, "") if compiled.ok else (None, compiled.rendered)


def _built(compiled: CompiledProgram, target: str) -> dict[str, Any]:
    """The program as a switch takes it, or why there is none."""
    try:
        config = compiled.bmv2_json().encode() if target == "bmv2" else compiled.device_config()
        return {"config": base64.b64encode(config).decode(), "p4info": compiled.p4info_text()}
    except UserError as error:
        return {"no_config": str(error)}


def _reported(compiled: CompiledProgram, text: str) -> tuple[dict[str, Any], Sequence[Failure]]:
    """One test: whether it passed, and why not; the failures whose packets can be followed."""
    try:
        report = compiled.run_stf(text)
    except UserError as error:
        return {"passed": False, "problems": [str(error)]}, ()
    problems = [f"line {one.line}: {one.message}" if one.line else one.message for one in report.problems]
    can_trace = all(one.kind != "syntax" for one in report.problems)
    return {"passed": not problems, "problems": problems}, report.problems if can_trace else ()


def _traced(
    compiled: CompiledProgram, texts: Sequence[str], failures: Sequence[Sequence[Failure]]
) -> list[Sequence[Mapping[str, Any]]]:
    """The first packets that each failed test is about, while they fit."""
    found: list[Sequence[Mapping[str, Any]]] = []
    left = MOST_TRACE_CHARACTERS
    for text, failed in zip(texts, failures, strict=True):
        packets = concerned(compiled.trace_stf(text).packets, failed)[:MOST_TRACED] if failed and left > 0 else []
        left -= len(json.dumps(packets))
        found.append(packets if left > 0 else [])
    return found


if __name__ == "__main__":
    main()
