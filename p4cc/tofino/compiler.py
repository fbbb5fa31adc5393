"""p4c's Tofino back end: its place, and one program compiled for one chip in a separate folder."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from threading import Lock

from p4cc.bundled import LIBRARY
from p4cc.errors import UserError

VARIABLE = "P4C"
"""Names the driver `p4c` where the command line does not."""
KNOWN_S = 60.0
"""How long the driver may take to report its targets."""
MESSAGE_LINES = 6
"""Lines of the compiler's messages that a failure shows."""
MESSAGE_COLUMNS = 400
"""Columns of such a line: some messages carry whole expressions."""

_REMEDY = (
    "build p4c with -DENABLE_TOFINO=ON, and give its driver with --p4c or the variable P4C, or put it on PATH (see "
    "docs/tofino.md)"
)
_WARNING = re.compile(r"\[--Wwarn=|(?:^|\s)warning:", re.IGNORECASE)
_ERROR = re.compile(r"\[--Werror=|(?:^|\s)\w*(?:error|compiler bug):|^(?:in file|cannot|no such)", re.IGNORECASE)


class Chip(Enum):
    """A chip, by the name that p4c's `--target` has for it."""

    TOFINO = "tofino"
    TOFINO2 = "tofino2"

    @property
    def title(self) -> str:
        """For people."""
        return {"tofino": "Tofino 1", "tofino2": "Tofino 2"}[self.value]


@dataclass(frozen=True)
class Job:
    """A program for a chip."""

    program: Path
    chip: Chip


@dataclass(frozen=True)
class Compilation:
    """The result of a job; `failure` is empty if it succeeded, and says why otherwise."""

    job: Job
    folder: Path
    seconds: float
    warnings: int
    failure: str = ""


@dataclass(frozen=True)
class Options:
    """What all jobs have in common."""

    include: tuple[Path, ...] = ()
    define: tuple[str, ...] = ()
    limit_s: float = 600.0


class Processes:
    """Programs under way, so that all of them can be ended from another thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._ended = False

    def run(self, command: list[str], folder: Path, limit_s: float) -> tuple[int | None, str]:
        """Exit code and both outputs; no code if time ran out, or if all were ended."""
        with self._lock:
            if self._ended:
                return None, ""
            # A separate process group, so that the driver's children end with it.
            process = subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self._running.add(process)
        try:
            output, _ = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            return None, ""
        finally:
            with self._lock:
                self._running.discard(process)
            if process.returncode is None:
                _end(process)
                process.communicate()
        return process.returncode, output.decode("utf-8", "replace")

    def end_all(self) -> None:
        """Ends what runs, and starts no more."""
        with self._lock:
            self._ended = True
            for process in self._running:
                _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """The program and all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


@dataclass(frozen=True)
class Compiler:
    """A driver of p4c with both Tofino targets."""

    driver: Path
    version: str
    processes: Processes = field(default_factory=Processes)

    def compile(self, job: Job, folder: Path, options: Options) -> Compilation:
        """Compiles into `folder`, reports of resources included."""
        # -g asks for the reports. Without an architecture the driver takes the target's own.
        command = [str(self.driver), "--target", job.chip.value, "--std", "p4-16", "-g"]
        for include in (*options.include, LIBRARY):
            command += ["-I", str(include.resolve())]
        for define in options.define:
            command += ["-D", define]
        command += ["-o", str(folder / "out"), str(job.program.resolve())]
        folder.mkdir(parents=True, exist_ok=True)
        started = time.monotonic()
        code, text = self.processes.run(command, folder, options.limit_s)
        seconds = time.monotonic() - started
        (folder / "messages.txt").write_text(text, encoding="utf-8")
        warnings = sum(bool(_WARNING.search(line)) for line in text.splitlines())
        failure = ""
        if code is None:
            failure = f"not finished within {options.limit_s:g} s; increase --limit"
        elif code != 0:
            failure = _what_failed(text, code)
        return Compilation(job, folder / "out", seconds, warnings, failure)


def find_compiler(given: Path | None, chips: tuple[Chip, ...]) -> Compiler:
    """The driver given as option, by the variable, or on PATH; raises UserError with the remedy."""
    driver, place = _driver(given)
    processes = Processes()
    code, text = processes.run([str(driver), "--target-help"], driver.parent, KNOWN_S)
    if code != 0:
        cause = "did not list its targets" if code is not None else f"did not finish within {KNOWN_S:g} s"
        raise UserError(f"p4c ({driver}) {cause}", place=place, remedy=_REMEDY)
    missing = [chip.value for chip in chips if not re.search(rf"\b{chip.value}\b", text)]
    if missing:
        raise UserError(
            f"p4c ({driver}) lacks the target {' and the target '.join(missing)}", place=place, remedy=_REMEDY
        )
    _, version = processes.run([str(driver), "--version"], driver.parent, KNOWN_S)
    return Compiler(driver, " ".join(version.split()), processes)


def _driver(given: Path | None) -> tuple[Path, str]:
    """The driver's path and where it was named."""
    named = [(given, "--p4c")] if given is not None else []
    if not named and os.environ.get(VARIABLE):
        named = [(Path(os.environ[VARIABLE]), f"variable {VARIABLE}")]
    for path, place in named:
        driver = path / "p4c" if path.is_dir() else path
        if not (driver.is_file() and os.access(driver, os.X_OK)):
            raise UserError(f"{driver} is not an executable program", place=place, remedy=_REMEDY)
        return driver.resolve(), place
    found = shutil.which("p4c")
    if found is None:
        raise UserError("p4c is not installed", place="PATH", remedy=_REMEDY)
    return Path(found).resolve(), "PATH"


def _what_failed(text: str, code: int) -> str:
    """The lines of the compiler's output that say why."""
    lines = [line.rstrip()[:MESSAGE_COLUMNS] for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if _ERROR.search(line) and not _WARNING.search(line)]
    shown = (errors or lines[-MESSAGE_LINES:])[:MESSAGE_LINES]
    return "\n".join(shown) if shown else f"p4c exited with code {code} without a message"
