"""Programs compiled for chips, several at once, and what each takes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from p4cc.bundled import P4SRC
from p4cc.errors import UserError
from p4cc.tofino.compiler import Chip, Compilation, Compiler, Job, Options
from p4cc.tofino.usage import Usage, read_usage

_T2NA = re.compile(r"^\s*#\s*include\s*[<\"]t2na\.p4", re.MULTILINE)

PROGRAMS = P4SRC / "tna"
"""Our own programs for Tofino."""


@dataclass(frozen=True)
class Outcome:
    """A job that is done: its pipes, or why there are none."""

    compilation: Compilation
    pipes: tuple[Usage, ...]
    failure: str = ""

    @property
    def job(self) -> Job:
        """A compiled program."""
        return self.compilation.job


def find_programs(given: Sequence[Path]) -> list[Path]:
    """The given programs, including those of folders, or ours; raises UserError for anything else."""
    paths: list[Path] = []
    for path in given or (PROGRAMS,):
        programs = sorted(path.glob("*.p4")) if path.is_dir() else [path]
        if not programs:
            raise UserError(
                "the folder contains no P4 program",
                place=str(path),
                remedy="give a .p4 file, or a folder that contains some",
            )
        if not programs[0].is_file():
            raise UserError(
                "the file does not exist", place=str(path), remedy="give a .p4 file, or a folder that contains some"
            )
        paths.extend(programs)
    return list(dict.fromkeys(paths))


def is_for(program: Path, chip: Chip) -> bool:
    """Whether a program is for this chip: T2NA is the architecture of Tofino 2 alone."""
    text = program.read_text(encoding="utf-8", errors="replace")
    return chip is Chip.TOFINO2 or not _T2NA.search(text)


def compile_all(
    compiler: Compiler,
    jobs: Sequence[Job],
    scratch: Path,
    options: Options,
    at_once: int,
    advance: Callable[[str], None],
) -> list[Outcome]:
    """Outcomes in the order of the jobs; each job has a separate folder below `scratch`."""
    outcomes: dict[Job, Outcome] = {}
    with ThreadPoolExecutor(max_workers=at_once) as pool:
        waiting = {pool.submit(_one, compiler, job, folder, options): job for job, folder in _folders(jobs, scratch)}
        try:
            for done in as_completed(waiting):
                outcome = done.result()
                outcomes[waiting[done]] = outcome
                advance(f"{outcome.job.program.stem} for {outcome.job.chip.title}")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            compiler.processes.end_all()
            raise
    return [outcomes[job] for job in jobs]


def _folders(jobs: Sequence[Job], scratch: Path) -> Iterator[tuple[Job, Path]]:
    """A folder for each job, by the program's name; a number tells equal names apart."""
    taken: dict[tuple[str, str], int] = {}
    for job in jobs:
        key = (job.program.stem, job.chip.value)
        taken[key] = count = taken.get(key, 0) + 1
        name = key[0] if count == 1 else f"{key[0]}-{count}"
        yield job, scratch / name / key[1]


def _one(compiler: Compiler, job: Job, folder: Path, options: Options) -> Outcome:
    compilation = compiler.compile(job, folder, options)
    if compilation.failure:
        return Outcome(compilation, (), compilation.failure)
    try:
        return Outcome(compilation, tuple(read_usage(compilation.folder)))
    except UserError as error:
        return Outcome(compilation, (), f"compiled, but its reports cannot be read: {error}")
