"""`p4cc grade`: grades students' programs by the packet tests of a course."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from p4cc.errors import UserError
from p4cc.files import write_text
from p4cc.running.progress import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p4cc.grading.course import Course
    from p4cc.grading.grade import Grade

INTERRUPTED = 130
WIDE = 160
"""Columns where nothing says how many there are."""


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
    as_json: Annotated[bool, typer.Option("--json", help="Print the grades as JSON.")] = False,
) -> None:
    """Grade P4 programs by packet tests (STF) with points and hints.

    Each submission is compiled and tested in a process of its own, with bounds on processor time and memory, without
    network. Writes grades.csv, junit.xml and a page for each student, which traces the packets of failed tests.

    Exit code: 0 the submissions were graded, whatever their points; 2 bad input.

    Examples:

    * `p4cc grade submissions --tests course`
    * `p4cc grade submissions/alice --tests course/course.yaml --json`
    """
    from p4cc.grading.course import read_course
    from p4cc.grading.grade import Limits, graded
    from p4cc.grading.grade import submissions as submissions_in

    course, texts = read_course(tests)
    programs = submissions_in(submissions, course.program)
    limits = Limits(seconds, memory_mb * 1_000_000)
    grades: list[Grade] = []
    try:
        with counted("grading", len(programs), quiet=as_json) as advance:
            for one in graded(course, texts, programs, limits, jobs or len(os.sched_getaffinity(0))):
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
