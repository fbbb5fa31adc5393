"""From a scenario file to results: compile once, build and install each case, run its seeds, write in order.

Cases run side by side (`jobs`), but their results are written in the scenario's order, so that the files do not
depend on which case ended first. Results are collected in a folder of their own that takes its name only when all is
written: an interrupted run leaves nothing behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from p4cc.case import CaseRun, Controller, keys_of, run_case
from p4cc.errors import InterruptedRunError, UserError
from p4cc.programs import CompiledProgram, compile_program, find_program
from p4cc.progress import Advance, progress
from p4cc.results import ResultWriter, write_summary
from p4cc.scenario.expand import Case, expand
from p4cc.scenario.load import validate
from p4cc.scenario.overrides import apply_overrides
from p4cc.scenario.schema import Scenario, SweepFigure
from p4cc.scenario.yaml import read_document

PARTIAL = ".partial"


@dataclass(frozen=True)
class RunRequest:
    """What the command line asks for."""

    scenario: Path
    out: Path | None = None
    overrides: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    jobs: int = 1
    figures: bool = True
    quiet: bool = False


@dataclass(frozen=True)
class RunOutcome:
    """What was made: the summary, where it is, and what to say about it."""

    title: str
    summary: dict[str, Any]
    folder: Path
    figures: list[Path]
    row_keys: list[str]
    warnings: list[str]


@dataclass
class _Collected:
    """What cases leave while they end one by one."""

    runs: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    warnings: dict[str, None] = field(default_factory=dict[str, None])


def run_scenario(request: RunRequest) -> RunOutcome:
    """Runs everything a scenario describes; raises UserError for what the user can mend."""
    document = read_document(request.scenario)
    data = apply_overrides(document.plain(), list(request.overrides))
    scenario = validate(document, data)
    cases = _chosen(expand(data, scenario, lambda changed: validate(document, changed)), request.variants)
    program = _compiled(scenario, request.scenario)
    folder = request.out or Path("results") / scenario.name
    row_keys = list(keys_of(cases[0])) if cases else []
    with _partial_folder(folder) as partial:
        collected = _run_cases(cases, program, request, partial)
        summary = _summary(scenario, cases, collected)
        write_summary(partial, summary)
    # The results stand by now: a figure that cannot be drawn does not take them away.
    figures = _draw(scenario, collected.runs, folder) if request.figures else []
    return RunOutcome(
        title=scenario.title,
        summary=summary,
        folder=folder,
        figures=figures,
        row_keys=row_keys,
        warnings=list(collected.warnings),
    )


def _chosen(cases: list[Case], variants: Sequence[str]) -> list[Case]:
    known = {case.variant.name for case in cases}
    for name in variants:
        if name not in known:
            raise UserError(f"no variant {name!r}", place="--variant", remedy=f"variants: {', '.join(sorted(known))}")
    return [case for case in cases if not variants or case.variant.name in variants]


def _compiled(scenario: Scenario, path: Path) -> CompiledProgram:
    program = compile_program(find_program(scenario.switch.program, path))
    if not program.ok:
        raise UserError(f"the P4 program does not compile\n{program.rendered}", place=scenario.switch.program)
    return program


def _run_cases(cases: list[Case], program: CompiledProgram, request: RunRequest, folder: Path) -> _Collected:
    total = sum(len(case.scenario.seeds) for case in cases)
    collected = _Collected()
    with progress(total, request.quiet) as advance, ResultWriter(folder) as writer:

        def keep(case: Case, run: CaseRun) -> None:
            collected.warnings.update(dict.fromkeys(run.warnings))
            for one in run.seeds:
                keys = {**keys_of(case), "seed": one.seed}
                collected.runs.append({**keys, **one.summary})
                writer.add(keys, one.tables)

        try:
            asyncio.run(_schedule(cases, program, request.jobs, advance, keep))
        except KeyboardInterrupt as error:
            raise InterruptedRunError("interrupted; nothing was left behind") from error
    return collected


async def _schedule(
    cases: list[Case],
    program: CompiledProgram,
    jobs: int,
    advance: Advance,
    keep: Callable[[Case, CaseRun], None],
) -> None:
    """Runs at most `jobs` cases at a time and hands their results over in order."""
    places = asyncio.Semaphore(jobs)
    controller = Controller(program)

    async def one(case: Case) -> CaseRun:
        async with places:
            return await run_case(case, controller, advance)

    tasks = [asyncio.create_task(one(case)) for case in cases]
    try:
        for case, task in zip(cases, tasks, strict=True):
            keep(case, await task)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _summary(scenario: Scenario, cases: list[Case], collected: _Collected) -> dict[str, Any]:
    return {
        "scenario": scenario.name,
        "title": scenario.title,
        "source": scenario.source,
        "program": scenario.switch.program,
        "cases": [{"case": case.label(), **keys_of(case)} for case in cases],
        "warnings": list(collected.warnings),
        "runs": collected.runs,
    }


def _draw(scenario: Scenario, runs: list[dict[str, Any]], folder: Path) -> list[Path]:
    # Plotting takes a second to import; runs without figures need not wait for it.
    from p4cc.figures import over_sweep, over_time

    frame = pl.DataFrame(runs, infer_schema_length=None)
    drawn: list[Path] = []
    for figure in scenario.figures:
        if isinstance(figure, SweepFigure):
            drawn.append(over_sweep.draw(frame, figure, folder))
        else:
            series = over_time.Series(
                windows=pl.read_parquet(folder / "windows.parquet"),
                queues=pl.read_parquet(folder / "queues.parquet"),
            )
            drawn.append(over_time.draw(series, figure, folder))
    return drawn


@contextlib.contextmanager
def _partial_folder(folder: Path) -> Generator[Path]:
    """A fresh folder beside `folder` that replaces it at the end, and vanishes if the end is not reached."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", suffix=PARTIAL, dir=folder.parent))
        partial.chmod(0o755)
    except OSError as error:
        raise UserError(
            f"cannot write results: {error.strerror}",
            place=str(folder),
            remedy="give another folder with --out",
        ) from error
    try:
        yield partial
        _replace(folder, partial)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _replace(folder: Path, partial: Path) -> None:
    """Puts `partial` in the place of `folder`, which is removed only if it holds results."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / "summary.json").exists():
        raise UserError(
            "the folder holds something other than results",
            place=str(folder),
            remedy="give an empty or new folder with --out",
        )
    if folder.exists():
        shutil.rmtree(folder)
    partial.replace(folder)
