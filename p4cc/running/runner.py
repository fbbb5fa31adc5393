"""From a scenario file to results: compile once, let a driver run each case, write in order.

Runs are concurrent (`jobs`), but results are written in the scenario's order, so that files do not depend on which run
ends first. Each run is cached as soon as it is complete; results move to their places only when all are written
(`result_folder`). After an interruption or kill, the same call continues where the last one stopped, and ends with the
same bytes.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from p4cc.errors import InterruptedRunError, UserError
from p4cc.planning.compared import transport_warnings
from p4cc.running import provenance
from p4cc.running.cache import KeptRuns, RunCache
from p4cc.running.cache_files import FOLDER as CACHE
from p4cc.running.call_cache import CallRecord, keep
from p4cc.running.captures import FOLDER, CaptureWriter
from p4cc.running.case import CaseRun, CaseRunner
from p4cc.running.case_writer import CaseWriter, Collected
from p4cc.running.derived_run import keys_of
from p4cc.running.drawing import Drawing
from p4cc.running.driver import SharedByRuns
from p4cc.running.loops import run_to_end
from p4cc.running.outcome import RunOutcome
from p4cc.running.prepared import Prepared, account, prepare
from p4cc.running.process_runs import RunProcesses
from p4cc.running.progress import Runs
from p4cc.running.remote_runs import LostClusterError, Study
from p4cc.running.result_folder import REPORT, Claim, Manifest, results_into
from p4cc.running.result_writer import ResultWriter, file_names, write_summary
from p4cc.running.shown_progress import progress
from p4cc.scenario.overrides import named_by

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from datetime import datetime
    from pathlib import Path

    from p4cc.running.planned_case import Programs
    from p4cc.running.request import RunRequest
    from p4cc.scenario.expand import Case


def run_scenario(request: RunRequest) -> RunOutcome:
    """Runs everything that a scenario describes; raises UserError for errors that the user can fix."""
    prepared = prepare(request)
    with progress(prepared.runs, request.quiet) as shown:
        return execute(prepared, shown)


def execute(prepared: Prepared, shown: Runs, purpose: str = "") -> RunOutcome:
    """Runs the cases that are not cached, and writes results and figures; raises UserError.

    `purpose` prefixes the names of the runs.
    """
    request = prepared.request
    with account(request, prepared.inputs, prepared.seen), named_by(prepared.origins, request.scenario):
        return _Execution(prepared, shown, purpose).outcome()


@dataclass
class _Execution:
    """One call, from its checked request to its results."""

    prepared: Prepared
    shown: Runs
    purpose: str
    collected: Collected = field(default_factory=Collected)
    made: RunOutcome | None = None
    undrawn: UserError | None = None
    """A figure that cannot be drawn does not affect the other results."""
    started: datetime = field(default_factory=provenance.now)
    clock: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        request, folder = self.prepared.request, self.prepared.folder
        figures = (figure.file for figure in self.prepared.scenario.figures)
        names = (*file_names(), REPORT, f"{FOLDER}/", *provenance.names(), *figures)
        self.claim = Claim(folder, self.prepared.destination.identity, names, request.force)
        self.local = RunCache((request.cache or folder.parent / CACHE) if request.use_cache else None)
        self.cache: KeptRuns = request.store if request.store is not None and request.use_cache else self.local
        self.drawing = Drawing(self.prepared.scenario, folder, request.call)
        self.collected.warnings.update(dict.fromkeys(transport_warnings(self.prepared.cases, self.prepared.places)))

    def outcome(self) -> RunOutcome:
        """Makes the results."""
        prepared, driver, collected = self.prepared, self.prepared.request.driver, self.collected
        programs = prepared.programs()
        with results_into(self.claim, self._keep_call) as partial:
            driver.begin(prepared, prepared.folder)
            self._run_cases(programs, partial)
            damaged = list(_damaged(self.local))
            collected.passing.update(damaged)
            collected.notes.update(dict.fromkeys(damaged))
            self.prepared = driver.as_run(prepared)
            outcome = self.made = self._write(partial)
        if self.undrawn is not None:
            raise self.undrawn
        return outcome

    def _write(self, partial: Path) -> RunOutcome:
        """Writes everything except tables."""
        prepared, request, collected = self.prepared, self.prepared.request, self.collected
        summary = _summary(prepared, collected)
        write_summary(partial, summary)
        duration_s = time.monotonic() - self.clock
        provenance.write(partial, provenance.Provenance(prepared, collected, self.started, duration_s))
        try:
            if request.figures:
                self.drawing.draw(collected.runs, partial)
            if self.drawing.note is not None:
                collected.notes[self.drawing.note] = None
            if request.report is not None:
                (partial / REPORT).write_text(request.report(partial, str(prepared.folder)), encoding="utf-8")
        except UserError as error:
            self.undrawn = error
        return RunOutcome(
            title=summary["title"],
            summary=summary,
            folder=prepared.folder,
            figures=[prepared.folder / name for name in self.drawing.drawn],
            row_keys=list(prepared.cases[0].keys()) if prepared.cases else [],
            warnings=list(collected.warnings),
            notes=[*_named_senders(prepared), *collected.notes],
            traced=collected.traced,
            report=None if request.report is None else prepared.folder / REPORT,
            aside=prepared.destination.aside,
        )

    def _run_cases(self, programs: Programs, folder: Path) -> None:
        """Runs the cases, writes their tables to `folder`, and collects the rest."""
        request, cases = self.prepared.request, self.prepared.cases
        swept = {name: path for case in cases for name, path in case.columns().items()}
        with ResultWriter(folder, swept) as tables:
            writer = CaseWriter(tables, CaptureWriter(folder), self.prepared.places, self.collected)
            try:
                run_to_end(lambda: self._scheduled(programs, folder, writer))
            except LostClusterError as error:
                done = f"{self.shown.done + error.finished} of {self.shown.total} runs are finished"
                kept = "run the same command to continue: finished runs are kept" if request.use_cache else ""
                raise UserError(f"{error.cause}; {done}", place=error.place, remedy=kept) from error
            except KeyboardInterrupt as error:
                kept = request.driver.left_by_interrupt(uses_cache=request.use_cache)
                raise InterruptedRunError("interrupted; no results were written", remedy=kept) from error
            finally:
                self.cache.prune()

    async def _scheduled(self, programs: Programs, folder: Path, writer: CaseWriter) -> None:
        """Runs the cases and writes them."""
        request, cases = self.prepared.request, self.prepared.cases
        ahead = request.driver.cases_ahead(max((len(case.scenario.seeds) for case in cases), default=1))
        async with RunProcesses(folder) as processes:
            shared = SharedByRuns(
                study=self._study(programs),
                cache=self.cache,
                places=asyncio.Semaphore(request.jobs),
                progress=self.shown,
                purpose=self.purpose,
                streams=folder,
                processes=processes if request.jobs > 1 and self.prepared.runs > 1 else None,
            )
            prepare_figures = self.drawing.load if request.figures else lambda: None
            runner = CaseRunner(request.driver, programs, shared, prepare_figures)
            await schedule(cases, runner.run, request.jobs, writer.add, ahead)

    def _study(self, programs: Programs) -> Study:
        """The study that all runs share."""
        prepared, request = self.prepared, self.prepared.request
        contents = {name: program.content for name, program in programs.by_name.items()}
        inputs = dict(prepared.inputs)
        return Study(request.scenario, prepared.data, inputs, contents, request.threads, request.back_end)

    def _keep_call(self, written: Manifest) -> None:
        """Records this call for the next one, without notes on how its runs were made."""
        prepared, collected = self.prepared, self.collected
        if prepared.request.call is None or self.made is None or self.undrawn is not None:
            return
        lasting = [note for note in self.made.notes if note not in collected.passing]
        record = CallRecord(
            outcome=replace(self.made, notes=lasting),
            claim=self.claim,
            wanted=prepared.destination.wanted,
            seen=prepared.seen,
            sources=tuple(source for case in prepared.cases for source in case.sources),
            programs=prepared.compiled,
            runs=tuple(collected.keys),
            drawn=self.drawing.drawn,
        )
        keep(prepared.request.call, record, written)


def _named_senders(prepared: Prepared) -> Iterator[str]:
    """Notes which algorithms run for variants named on the command line, since the scenario's variants do not apply."""
    if not any(text.startswith("variant=") for text in prepared.request.overrides):
        return
    for variant in prepared.scenario.variants:
        for kind, one in provenance.algorithms_of(variant).items():
            values = ", ".join(f"{name}={value}" for name, value in one.items() if name != "name")
            yield f"variant {variant.name}: {kind} {one['name']}" + (f" with {values}" if values else "")


def _damaged(cache: RunCache) -> Iterator[str]:
    """Notes damaged files of the cache."""
    if cache.damaged:
        more = f" (and {len(cache.damaged) - 1} more such files)" if len(cache.damaged) > 1 else ""
        yield f"{cache.damaged[0]}: it was removed, and its run was repeated{more}"


async def schedule(
    cases: list[Case],
    run: Callable[[Case], Awaitable[CaseRun]],
    jobs: int,
    keep: Callable[[Case, CaseRun], None],
    ahead: int | None = None,
) -> None:
    """Processes at most `jobs` cases concurrently and yields their results in order.

    `ahead` limits the number of cases started but not yielded: other machines make the runs, and results that wait for
    an earlier case stay in memory.
    """
    places = asyncio.Semaphore(ahead or jobs)
    tasks = [asyncio.create_task(_run_in(places, run, case, holds=ahead is not None)) for case in cases]
    try:
        for case in cases:
            made = await tasks[0]
            # Outside the event loop: deriving results of many cached cases would let other requests time out.
            await asyncio.to_thread(keep, case, made)
            # A task holds its result, but written results should not stay in memory.
            del tasks[0]
            if ahead is not None:
                places.release()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _run_in(
    places: asyncio.Semaphore, run: Callable[[Case], Awaitable[CaseRun]], case: Case, *, holds: bool
) -> CaseRun:
    """Runs a case once it has a slot; with `holds` it keeps the slot until it is released elsewhere."""
    await places.acquire()
    try:
        return await run(case)
    finally:
        if not holds:
            places.release()


def _summary(prepared: Prepared, collected: Collected) -> dict[str, Any]:
    scenario = prepared.scenario
    return {
        "scenario": scenario.name,
        "title": scenario.title or scenario.name,
        "source": scenario.source,
        "program": scenario.switch.program,
        # Tables then show means instead of medians.
        **({} if scenario.interval == "range" else {"interval": scenario.interval}),
        "cases": [{"case": case.label(), **keys_of(case)} for case in prepared.cases],
        "warnings": list(collected.warnings),
        "runs": collected.runs,
    }
