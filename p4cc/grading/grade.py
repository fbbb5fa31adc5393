"""Grades submissions side by side, each in a process of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from p4cc.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from p4cc.grading.course import Course, CourseTest

MOST_NAME_BYTES = 200
"""Longest name of a student, so that the name of a page fits every file system."""
NO_STUDENTS = (".", "__MACOSX")
"""Names of folders that tools leave behind begin so."""
AT_LIMITS = {signal.SIGKILL, signal.SIGXCPU, signal.SIGABRT}
"""Signals that a process ends by at its limits: memory that is refused ends p4cc's engine by the last."""


@dataclass(frozen=True)
class Limits:
    """What one submission may take."""

    seconds: int = 60
    memory_bytes: int = 4_000_000_000


@dataclass(frozen=True)
class GradedTest:
    """Result of one test."""

    test: CourseTest
    passed: bool
    problems: Sequence[str] = ()
    packets: Sequence[Mapping[str, Any]] = ()

    @property
    def points(self) -> float:
        """Points earned."""
        return self.test.points if self.passed else 0


@dataclass(frozen=True)
class Grade:
    """Result of one submission; `error` says why no test ran."""

    student: str
    tests: Sequence[GradedTest]
    error: str = ""

    @property
    def points(self) -> float:
        """Points earned."""
        return sum(test.points for test in self.tests)


def submissions(folder: Path, program: str) -> dict[str, Path]:
    """Programs by student: those of a folder's folders, or the one of the folder itself; raises UserError."""
    inside = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    students = [path for path in inside if not path.name.startswith(NO_STUDENTS)]
    of_students = [path for path in students if (path / program).is_file()]
    if (folder / program).is_file():
        if of_students:
            cause = f"{program} is in this folder and in {of_students[0].name}"
            raise UserError(cause, place=str(folder), remedy="keep one submission, or a folder for each student")
        return {_name(folder.resolve()): folder / program}
    if not students:
        remedy = f"give a folder with a folder for each student, or one that holds {program}"
        raise UserError("no submission is there", place=str(folder), remedy=remedy)
    return {_name(path): path / program for path in students}


def _name(folder: Path) -> str:
    """A student's name, which becomes that of a page."""
    try:
        length = len(folder.name.encode())
    except UnicodeEncodeError:
        place = folder.name.encode(errors="replace").decode()
        raise UserError("the folder's name is not UTF-8", place=place, remedy="rename it") from None
    if length > MOST_NAME_BYTES:
        cause = f"the folder's name has {length} bytes, more than {MOST_NAME_BYTES}"
        raise UserError(cause, place=str(folder), remedy="rename it")
    return folder.name


def graded(
    course: Course, texts: Mapping[str, str], programs: Mapping[str, Path], limits: Limits, jobs: int
) -> Iterator[Grade]:
    """Grades as they are found; `programs` need not exist."""
    with ThreadPoolExecutor(jobs) as pool:
        waits = [pool.submit(_grade, course, texts, student, path, limits) for student, path in programs.items()]
        try:
            for done in as_completed(waits):
                yield done.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _grade(course: Course, texts: Mapping[str, str], student: str, program: Path, limits: Limits) -> Grade:
    def failed(error: str) -> Grade:
        return Grade(student, [GradedTest(test, passed=False) for test in course.tests], error)

    if not program.is_file():
        return failed(f"{program.name} is missing")
    task = {
        "program": str(program.absolute()),
        "define": course.define,
        "tests": [texts[test.stf] for test in course.tests],
        "memory_bytes": limits.memory_bytes,
        "cpu_s": limits.seconds,
    }
    try:
        done = subprocess.run(
            [sys.executable, "-m", "p4cc.grading.worker"],
            input=json.dumps(task),
            capture_output=True,
            text=True,
            errors="replace",
            # Where a process waits, processor time does not end it.
            timeout=2 * limits.seconds + 10,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return failed(f"took longer than {limits.seconds} s")
    return _read(done, course, failed, limits, student)


def _read(
    done: subprocess.CompletedProcess[str], course: Course, failed: Callable[[str], Grade], limits: Limits, student: str
) -> Grade:
    """The grade in a worker's output; one that ended before it told the results is a failure."""
    results, _, ways = done.stdout.partition("\n")
    if not results:
        if -done.returncode in AT_LIMITS or "MemoryError" in done.stderr:
            return failed(f"ended at its limits: {limits.seconds} s of processor time, {limits.memory_bytes} bytes")
        last = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        return failed(f"p4cc itself failed: {last[0]}")
    result: dict[str, Any] = json.loads(results)
    if "error" in result:
        return failed(result["error"])
    # A worker that ended while it followed packets has told the results.
    packets: list[list[Any]] = json.loads(ways) if ways.endswith("\n") else [[] for _ in course.tests]
    rows = zip(course.tests, result["tests"], packets, strict=True)
    return Grade(student, [GradedTest(test, one["passed"], one["problems"], way) for test, one, way in rows])
