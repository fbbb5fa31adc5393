"""`p4cc grade`: grades students' programs by the packet tests of a course."""

from __future__ import annotations

import json
import os
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from p4cc.errors import UserError
from p4cc.files import write_text
from p4cc.running.bars import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p4cc.grading.course import Course, CourseFiles
    from p4cc.grading.grade import Grade
    from p4cc.grading.ptf_bench import PtfBench

INTERRUPTED = 130
WIDE = 160
"""Columns where nothing says how many there are."""


class Target(Enum):
    """Where PTF tests run."""

    P4CC = "p4cc"
    BMV2 = "bmv2"


class Rules(Enum):
    """What a program has to keep besides the language."""

    COURSE = "course"
    TOFINO = "tofino"


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("grade")(grade)


def grade(
    submissions: Annotated[
        Path, typer.Argument(help="Folder with a folder for each student, or the folder of one student.")
    ],
    tests: Annotated[Path, typer.Option("--tests", help="The course: course.yaml, or the folder that holds it.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the results.")] = Path("grades"),
    seconds: Annotated[int, typer.Option("--seconds", min=1, max=3_600, help="Processor time of one submission.")] = 60,
    memory_mb: Annotated[
        int, typer.Option("--memory-mb", min=300, max=1_000_000, help="Address space of one submission, in MB.")
    ] = 4_000,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, max=256, help="Submissions at the same time.")
    ] = None,
    target: Annotated[
        Target,
        typer.Option("--target", help="Switch of the PTF tests; STF tests run on p4cc, and are left out on BMv2."),
    ] = Target.P4CC,
    strict: Annotated[
        Rules | None,
        typer.Option("--strict", help="A program with a warning (course), or that the chip rejects (tofino), fails."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the grades as JSON.")] = False,
) -> None:
    """Grade P4 programs by packet tests (STF and PTF) with points and hints.

    Each submission is compiled and tested in a process of its own, with bounds on processor time and memory, without
    network. Writes grades.csv, junit.xml and a page for each student, which traces the packets of failed tests.

    Exit code: 0 the submissions were graded, whatever their points; 2 bad input.

    Examples:

    * `p4cc grade submissions --tests course`
    * `p4cc grade submissions/alice --tests course/course.yaml --json`
    * `p4cc grade submissions --tests course --target bmv2`: the PTF tests on BMv2
    * `p4cc grade submissions --tests course --strict course`: no points for a program with warnings
    """
    from p4cc.grading.course import read_course
    from p4cc.grading.grade import Grader, Limits
    from p4cc.grading.grade import submissions as submissions_in

    course, files = read_course(tests)
    if strict is not None:
        course = course.model_copy(update={"strict": strict.value})
    if target is Target.BMV2:
        course = _without_stf(course, tests)
    bench = _bench(course, files, target)
    programs = submissions_in(submissions, course.program)
    grader = Grader(course, files, Limits(seconds, memory_mb * 1_000_000), bench)
    grades: list[Grade] = []
    try:
        with counted("grading", len(programs), quiet=as_json) as advance:
            for one in grader.graded(programs, jobs or len(os.sched_getaffinity(0))):
                grades.append(one)
                advance(one.student)
    except KeyboardInterrupt:
        typer.echo(f"interrupted: {len(grades)} of {len(programs)} submissions graded, nothing written", err=True)
        raise typer.Exit(INTERRUPTED) from None
    grades.sort(key=lambda one: one.student)
    _write(out, course, grades)
    if as_json:
        typer.echo(json.dumps([_record(course, one) for one in grades], indent=1))
    else:
        _show(course, grades)
        typer.echo(f"wrote {out}")


def _bench(course: Course, files: CourseFiles, target: Target) -> PtfBench | None:
    """Where the course's PTF tests run, None if it has none; raises UserError for a test that PTF does not find."""
    from p4cc.grading.ptf_bench import ptf_bench

    of_ptf = [test for test in course.tests if test.ptf]
    if not of_ptf:
        return None
    bench = ptf_bench(target.value)
    if not bench.has_p4runtime:
        typer.echo("simple_switch has no P4Runtime: PTF tests that need it fail (simple_switch_grpc has it)", err=True)
    for name, folder in files.folders.items():
        bench.check(folder, [test.ptf_class for test in of_ptf if test.ptf == name and test.ptf_class])
    return bench


def _without_stf(course: Course, place: Path) -> Course:
    """The PTF tests of a course; raises UserError if it has none."""
    tests = [test for test in course.tests if test.ptf]
    if not tests:
        remedy = "p4c's run-bmv2-test.py runs STF tests on BMv2; list PTF tests for --target bmv2"
        raise UserError("the course has no PTF tests", place=str(place), remedy=remedy)
    if left_out := len(course.tests) - len(tests):
        typer.echo(f"left out on BMv2: {left_out} STF tests", err=True)
    return course.model_copy(update={"tests": tests})


def _write(out: Path, course: Course, grades: Sequence[Grade]) -> None:
    from p4cc.grading.results import csv_text, junit_text, page_text

    try:
        (out / "students").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        cause = f"cannot make the folder: {error.strerror}"
        raise UserError(cause, place=str(out), remedy="give a folder that you can write to") from error
    write_text(out / "grades.csv", csv_text(course, grades))
    write_text(out / "junit.xml", junit_text(course, grades))
    for one in grades:
        write_text(out / "students" / f"{one.student}.html", page_text(course, one))


def _record(course: Course, one: Grade) -> dict[str, Any]:
    """Plain data of a grade."""
    tests = [
        {"name": test.test.label, "passed": test.passed, "points": test.points, "problems": list(test.problems)}
        for test in one.tests
    ]
    return {"student": one.student, "points": one.points, "of": course.points, "error": one.error, "tests": tests}


def _show(course: Course, grades: Sequence[Grade]) -> None:
    """The table."""
    from rich.console import Console
    from rich.table import Table

    from p4cc.grading.results import points_text

    table = Table(title=course.title or None)
    table.add_column("student")
    for test in course.tests:
        table.add_column(f"{test.label} ({points_text(test.points)})", justify="right")
    table.add_column(f"points ({points_text(course.points)})", justify="right")
    table.add_column("error")
    for one in grades:
        first = one.error.strip().splitlines()[:1]
        cells = [points_text(test.points) for test in one.tests]
        table.add_row(one.student, *cells, points_text(one.points), *(first or [""]))
    width = None if Console().is_terminal else WIDE
    Console(width=width, markup=False, highlight=False).print(table)
