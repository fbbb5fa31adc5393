"""Grades submissions side by side, each in a process of its own."""

from __future__ import annotations

import json
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

MOST_OUTPUT = 50_000_000
"""Longest result of a submission, in bytes: the ways of packets make most of it."""


@dataclass(frozen=True)
class Limits:
    """What one submission may take."""

    seconds: int = 60
    memory_bytes: int = 4_000_000_000


@dataclass(frozen=True)
class TestGrade:
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
    tests: Sequence[TestGrade]
    error: str = ""

    @property
    def points(self) -> float:
        """Points earned."""
        return sum(test.points for test in self.tests)


def submissions(folder: Path, program: str) -> dict[str, Path]:
    """Programs by student: those of a folder's folders, or the one of the folder itself; raises UserError."""
    if (folder / program).is_file():
        return {folder.resolve().name: folder / program}
    students = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    if not students:
        remedy = f"give a folder with a folder for each student, or one that holds {program}"
        raise UserError("no submission is there", place=str(folder), remedy=remedy)
    return {path.name: path / program for path in students}


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
        return Grade(student, [TestGrade(test, passed=False) for test in course.tests], error)

    if not program.is_file():
        return failed(f"{program.name} is missing")
    task = {
        "program": str(program.resolve()),
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
    """The grade in a worker's output; a worker that ended otherwise ran into a limit."""
    if done.returncode < 0:
        return failed(f"ended at its limits: {limits.seconds} s of processor time, {limits.memory_bytes} bytes")
    if done.returncode or len(done.stdout) > MOST_OUTPUT:
        last = done.stderr.strip().splitlines()[-1:] or ["no message"]
        return failed(
            f"ended at its limits ({last[0]}): {limits.memory_bytes} bytes of memory, {MOST_OUTPUT} of output"
        )
    result: dict[str, Any] = json.loads(done.stdout)
    if "error" in result:
        return failed(result["error"])
    pairs = zip(course.tests, result["tests"], strict=True)
    return Grade(student, [TestGrade(test, one["passed"], one["problems"], one["packets"]) for test, one in pairs])
