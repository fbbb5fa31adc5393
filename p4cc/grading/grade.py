"""Grades submissions side by side, each in a process of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from p4cc.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from p4cc.grading.course import Course, CourseFiles, CourseTest
    from p4cc.grading.ptf_bench import PtfBench

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

    def __str__(self) -> str:
        """Both, in a sentence."""
        return f"{self.seconds} s of processor time, {self.memory_bytes} bytes"

    @property
    def wall_s(self) -> int:
        """Most time on the clock."""
        return 2 * self.seconds + 10


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


@dataclass(frozen=True)
class Grader:
    """Grades submissions of one course."""

    course: Course
    files: CourseFiles
    limits: Limits
    bench: PtfBench | None = None
    """For a course with PTF tests."""

    def graded(self, programs: Mapping[str, Path], jobs: int) -> Iterator[Grade]:
        """Grades as they are found; `programs` need not exist."""
        with ThreadPoolExecutor(jobs) as pool:
            waits = [pool.submit(self._grade, student, path) for student, path in programs.items()]
            try:
                for done in as_completed(waits):
                    yield done.result()
            finally:
                pool.shutdown(cancel_futures=True)

    def _grade(self, student: str, program: Path) -> Grade:
        if not program.is_file():
            return self._failed(student, f"{program.name} is missing")
        task = {
            "program": str(program.absolute()),
            "define": self.course.define,
            "strict": self.course.strict,
            "tests": [self.files.texts[test.stf] for test in self.course.tests if test.stf],
            "target": self.bench.target if self.bench else "",
            "memory_bytes": self.limits.memory_bytes,
            "cpu_s": self.limits.seconds,
        }
        try:
            done = self._worker([sys.executable, "-m", "p4cc.grading.worker"], task)
        except subprocess.TimeoutExpired:
            return self._failed(student, f"took longer than {self.limits.seconds} s")
        return self._read(done, student)

    def _worker(self, words: list[str], task: dict[str, Any]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: S603 - modules of this package
            words,
            input=json.dumps(task),
            capture_output=True,
            text=True,
            errors="replace",
            # Where a process waits, processor time does not end it.
            timeout=self.limits.wall_s,
            check=False,
        )

    def _failed(self, student: str, error: str) -> Grade:
        return Grade(student, [GradedTest(test, passed=False) for test in self.course.tests], error)

    def _read(self, done: subprocess.CompletedProcess[str], student: str) -> Grade:
        """The grade in a worker's output; one that ended before it told the results is a failure."""
        results, _, ways = done.stdout.partition("\n")
        if not results:
            if -done.returncode in AT_LIMITS or "MemoryError" in done.stderr:
                return self._failed(student, f"ended at its limits: {self.limits}")
            last = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
            return self._failed(student, f"p4cc itself failed: {last[0]}")
        result: dict[str, Any] = json.loads(results)
        if "error" in result:
            return self._failed(student, result["error"])
        # A worker that ended while it followed packets has told the results.
        packets: list[list[Any]] = json.loads(ways) if ways.endswith("\n") else [[] for _ in result["tests"]]
        of_stf = zip(result["tests"], packets, strict=True)
        of_ptf = iter(self._ptf(result) if self.bench else ())
        tests: list[GradedTest] = []
        for test in self.course.tests:
            one, ways_of_test = next(of_stf) if test.stf else (next(of_ptf), [])
            tests.append(GradedTest(test, one["passed"], one["problems"], ways_of_test))
        return Grade(student, tests)

    def _ptf(self, built: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Results of the PTF tests, in order."""
        tests = [test for test in self.course.tests if test.ptf]
        if self.bench is None or "no_config" in built:
            return [_not_run(built["no_config"]) for _ in tests]
        folders = [str(self.files.folders[test.ptf]) for test in tests]
        programs = (self.bench.ptf, self.bench.switch, self.bench.command_line)
        readable = {str(path) for program in programs for path in (program.parent, program.resolve().parent)}
        with tempfile.TemporaryDirectory(prefix="p4cc-grade-", ignore_cleanup_errors=True) as work:
            task = {
                "folder": work,
                "config": built["config"],
                "config_name": "program.json" if self.bench.target == "bmv2" else "program.p4",
                "p4info": built["p4info"],
                "ptf": str(self.bench.ptf),
                "switch": str(self.bench.switch),
                "command_line": str(self.bench.command_line),
                "has_p4runtime": self.bench.has_p4runtime,
                "has_notifications": self.bench.has_notifications,
                "target": self.bench.target,
                "readable": [*readable, *(str(Path(folder).parent) for folder in folders)],
                "tests": [
                    {"folder": folder, "class": test.ptf_class} for test, folder in zip(tests, folders, strict=True)
                ],
                "memory_bytes": self.limits.memory_bytes,
                "cpu_s": self.limits.seconds,
            }
            words = [*self.bench.namespaces, sys.executable, "-m", "p4cc.grading.ptf_worker"]
            try:
                done = self._worker(words, task)
            except subprocess.TimeoutExpired as late:
                output = late.stdout.decode(errors="replace") if isinstance(late.stdout, bytes) else ""
                why = f"PTF tests took longer than {self.limits.wall_s} s"
            else:
                output = done.stdout
                last = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
                why = f"p4cc itself failed: {last[0]}"
        results = [json.loads(line) for line in output.splitlines(keepends=True) if line.endswith("\n")]
        return results + [_not_run(why)] * (len(tests) - len(results))


def _not_run(why: str) -> dict[str, Any]:
    return {"passed": False, "problems": [why]}
