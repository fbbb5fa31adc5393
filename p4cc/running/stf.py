"""Tests of the Simple Test Framework: from paths to pairs of program and test, and their results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from p4cc.errors import UserError
from p4cc.planning.execution import Exec
from p4cc.planning.programs import CompiledProgram, compile_program

if TYPE_CHECKING:
    from p4cc import _engine

TEST_SUFFIX = ".stf"
PROGRAM_SUFFIXES = (".p4", ".json")


class Outcome(Enum):
    """Result of a test."""

    PASSED = "pass"
    FAILED = "fail"
    ERROR = "error"
    """It could not run: the program or the test is invalid."""


@dataclass(frozen=True)
class Pair:
    """A program and one of its tests."""

    program: Path
    test: Path


@dataclass(frozen=True)
class Result:
    """Result of a test; `error` says why it could not run, `report` has the findings of a run."""

    program: Path
    test: Path
    outcome: Outcome
    error: str | None = None
    report: _engine.StfReport | None = None
    packets: Sequence[Mapping[str, Any]] = ()
    """Of a test that failed, the way of its packets, where it was asked for."""


def find_pairs(paths: Sequence[Path]) -> list[Pair]:
    """The pairs that a command line names; raises UserError.

    Each test belongs to the program before it; a program without tests, or a folder, is paired by name.
    """
    pairs: list[Pair] = []
    program: Path | None = None
    unused = False
    for path in paths:
        if path.suffix == TEST_SUFFIX:
            if program is None:
                raise UserError("no program precedes it", place=str(path), remedy="write PROGRAM.p4 TEST.stf")
            pairs.append(Pair(program, path))
            unused = False
            continue
        if program is not None and unused:
            pairs.append(_sibling(program))
        program, unused = None, False
        if path.is_dir():
            pairs.extend(_of_folder(path))
        else:
            program, unused = path, True
    if program is not None and unused:
        pairs.append(_sibling(program))
    return pairs


def _sibling(program: Path) -> Pair:
    """A program named without tests, with the test next to it."""
    test = program.with_suffix(TEST_SUFFIX)
    if not program.is_file():
        raise UserError("no such program", place=str(program), remedy="give P4-16 source, BMv2 JSON or a folder")
    if not test.is_file():
        raise UserError("no test is given", place=str(program), remedy=f"name one behind it, or write {test.name}")
    return Pair(program, test)


def _of_folder(folder: Path) -> list[Pair]:
    """Tests of a folder that have a program of the same name, sorted by name."""
    pairs: list[Pair] = []
    for test in sorted(folder.glob(f"*{TEST_SUFFIX}")):
        programs = [test.with_suffix(suffix) for suffix in PROGRAM_SUFFIXES]
        program = next((path for path in programs if path.is_file()), None)
        if program is not None:
            pairs.append(Pair(program, test))
    if not pairs:
        remedy = "put NAME.p4 (or NAME.json) and NAME.stf there"
        raise UserError("no program with a test of its name", place=str(folder), remedy=remedy)
    return pairs


def run_pairs(
    pairs: Sequence[Pair],
    include: tuple[Path, ...],
    defines: tuple[str, ...],
    back_end: Exec | None = None,
    *,
    trace: bool = False,
) -> Iterator[Result]:
    """Runs tests in order; consecutive tests of a program share its compilation. `trace` follows failed tests."""
    compiled: CompiledProgram | UserError | None = None
    of: Path | None = None
    for pair in pairs:
        if compiled is None or of != pair.program:
            of = pair.program
            try:
                compiled = compile_program(pair.program, include, defines)
            except UserError as error:
                compiled = error
        yield _run(pair, compiled, back_end, trace)


def _run(pair: Pair, compiled: CompiledProgram | UserError, back_end: Exec | None, trace: bool) -> Result:
    def error(cause: str) -> Result:
        return Result(pair.program, pair.test, Outcome.ERROR, error=cause)

    if isinstance(compiled, UserError):
        return error(str(compiled))
    if not compiled.ok:
        return error(compiled.rendered)
    try:
        text = pair.test.read_text(encoding="utf-8")
    except OSError as failed:
        return error(f"{pair.test}: {failed.strerror or 'cannot be read'}")
    except UnicodeDecodeError:
        return error(f"{pair.test}: is not text")
    try:
        report = compiled.run_stf(text, back_end)
    except UserError as refused:
        return error(str(refused))
    if any(problem.kind == "syntax" for problem in report.problems):
        return Result(pair.program, pair.test, Outcome.ERROR, report=report)
    if not report.problems:
        return Result(pair.program, pair.test, Outcome.PASSED, report=report)
    packets = compiled.trace_stf(text).packets if trace else ()
    return Result(pair.program, pair.test, Outcome.FAILED, report=report, packets=packets)
