"""From a scenario file to results: compile once, build and install each case, run its seeds, write in order.

Runs go side by side (`jobs`), but their results are written in the scenario's order, so that the files do not depend
on which ended first. Each run is kept in a cache as soon as it is whole; results take their places only when all are
written (`result_folder`). A call that was interrupted or killed goes on, when it is made again, where the one before
stopped, and ends with the same bytes.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from controller import ControllerError
from p4cc.analysis.metrics import derive
from p4cc.errors import InterruptedRunError, UserError
from p4cc.files import FilesSeen, files_seen, inputs_read
from p4cc.planning.compared import transport_warnings
from p4cc.planning.execution import Exec
from p4cc.planning.programs import CompiledProgram, compiled_sources, read_p4info
from p4cc.running import provenance
from p4cc.running.cache import KeptRuns, RunCache
from p4cc.running.cache_files import FOLDER as CACHE
from p4cc.running.call_cache import Call, CallRecord, keep
from p4cc.running.captures import FOLDER, CaptureWriter
from p4cc.running.case import CaseRun, PushedProgram, Session, run_case
from p4cc.running.derived_run import DerivedRun, keys_of, measures_of
from p4cc.running.destination import Destination, destination_of
from p4cc.running.drawing import Drawing
from p4cc.running.live_run import LiveRun
from p4cc.running.loops import run_to_end
from p4cc.running.outcome import RunOutcome
from p4cc.running.packet_trace import PacketTrace, TraceRequest
from p4cc.running.progress import Runs, progress
from p4cc.running.remote_runs import LostClusterError, RemoteRunner, Study
from p4cc.running.result_folder import REPORT, SETTINGS_AS_WRITTEN, Claim, Manifest, results_into
from p4cc.running.result_writer import ResultWriter, file_names, write_summary
from p4cc.running.server_run import ServerSettings
from p4cc.running.table_stream import streamed_parts
from p4cc.running.warning_place import with_place
from p4cc.scenario.expand import Case, expand
from p4cc.scenario.findings import Places
from p4cc.scenario.load import check_network, validate
from p4cc.scenario.overrides import Origins, apply_overrides, named_by
from p4cc.scenario.schema import Scenario
from p4cc.scenario.units import plain_numbers
from p4cc.scenario.yaml import document_of, read_document


class Watcher(LiveRun, Protocol):
    """Who watches the one run of a call."""

    def folder(self, results: Path, name: str) -> Path:
        """Where the results of a watched run of this scenario go, in the folder of all results."""
        ...

    def begin(self, prepared: Prepared) -> None:
        """Is told what will run; raises UserError."""
        ...

    def as_run(self, prepared: Prepared) -> Prepared:
        """What was run in the end, with what was changed on the way: it repeats the run."""
        ...

    def kept(self) -> str:
        """What a call leaves that was interrupted, for people; empty for nothing."""
        ...


@dataclass(frozen=True)
class RunRequest:
    """What the command line asks for, or a program."""

    scenario: Path
    out: Path | None = None
    overrides: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    jobs: int = 1
    threads: int = 1
    """Of each run; results do not depend on it."""
    figures: bool = True
    quiet: bool = False
    use_cache: bool = True
    back_end: Exec | None = None
    """What runs the P4 programs; native code for busy switches if not given."""
    cache: Path | None = None
    """Folder of runs made before; `.cache` beside the results' folder if not given."""
    force: bool = False
    """Replace results of other settings."""
    report: Callable[[Path, str], str] | None = None
    """Makes a page to read, which stands beside the results, of a folder and the name that the reader knows it by."""
    serving: ServerSettings | None = None
    """Serve the one run to controllers that are programs of their own."""
    tracing: TraceRequest | None = None
    """Follow packets of the one run."""
    watcher: Watcher | None = None
    """Who watches the one run, leads its time and may change its tables."""
    remote: RemoteRunner | None = None
    """Machines that make the runs, in place of this one with its `jobs`."""
    store: KeptRuns | None = None
    """Where finished runs are kept, in place of the folder `cache`."""
    call: Call | None = None
    """Keeps for the next such call what this one made."""
    made_of: Path | None = None
    """The file that the scenario was made of, where `scenario` is none that stays."""
    text: str | None = None
    """What stands in the scenario in place of its file, which then says where files that it names are looked for."""

    @property
    def settings(self) -> str:
        """What the command line changes of the scenario, as a short hash."""
        if not self.overrides and not self.variants:
            return SETTINGS_AS_WRITTEN
        return hashlib.sha256(json.dumps([self.overrides, self.variants]).encode()).hexdigest()[:8]


@dataclass
class _Collected:
    """What cases leave while they end one by one."""

    runs: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    warnings: dict[str, None] = field(default_factory=dict[str, None])
    notes: dict[str, None] = field(default_factory=dict[str, None])
    """What this call did that changes no result; not in the summary."""
    thresholds: dict[str, list[dict[str, Any]]] = field(default_factory=dict[str, list[dict[str, Any]]])
    """By case: K and K_dc as installed, with the number of ports that have them."""
    traced: PacketTrace | None = None
    keys: list[str] = field(default_factory=list[str])
    """Names of the runs in a cache."""
    passing: set[str] = field(default_factory=set[str])
    """Notes of how runs were made just now."""


@dataclass(frozen=True)
class Prepared:
    """A request that was checked, with the cases to run."""

    request: RunRequest
    scenario: Scenario
    cases: list[Case]
    programs: dict[str, CompiledProgram]
    data: dict[str, Any]
    """The scenario after `extends` and what the command line changes."""
    origins: Origins
    """Where values come from that no file holds."""
    places: Places
    """Where all values come from."""
    inputs: dict[str, Path]
    """Files that decide the runs, by the names that the scenario gives them; complete when the cases are planned."""
    seen: FilesSeen
    """The same files and the scenario's own as they were read, where a call is kept."""
    destination: Destination

    @property
    def runs(self) -> int:
        """Runs to make, those of the cache included."""
        return sum(len(case.scenario.seeds) for case in self.cases)

    @property
    def folder(self) -> Path:
        """Where results go."""
        return self.destination.folder

    @property
    def claim(self) -> Claim:
        """What is written there."""
        return Claim(
            self.folder,
            self.destination.identity,
            (
                *file_names(),
                REPORT,
                f"{FOLDER}/",
                *provenance.names(),
                *(figure.file for figure in self.scenario.figures),
            ),
            self.request.force,
        )


def run_scenario(request: RunRequest) -> RunOutcome:
    """Runs everything a scenario describes; raises UserError for what the user can mend."""
    prepared = prepare(request)
    with progress(prepared.runs, request.quiet) as shown:
        return execute(prepared, shown)


def prepare(request: RunRequest) -> Prepared:
    """Reads and checks a scenario and compiles its programs; raises UserError."""
    inputs, seen = dict[str, Path](), FilesSeen()
    with _account(request, inputs, seen):
        return _prepare(request, inputs, seen)


@contextmanager
def _account(request: RunRequest, inputs: dict[str, Path], seen: FilesSeen) -> Generator[None]:
    """Keeps account of the files that are read within; of what is in them where the call is kept."""
    tokens = inputs_read.set(inputs), files_seen.set(None if request.call is None else seen)
    try:
        yield
    finally:
        inputs_read.reset(tokens[0])
        files_seen.reset(tokens[1])


def _prepare(request: RunRequest, inputs: dict[str, Path], seen: FilesSeen) -> Prepared:
    document = read_document(request.scenario) if request.text is None else document_of(request.text, request.scenario)
    origins: Origins = {}
    data = apply_overrides(document.plain(), list(request.overrides), origins)
    scenario = validate(document, data, origins)

    data = plain_numbers(data, [])

    def check(at_point: dict[str, Any], swept: Origins) -> Scenario:
        found = validate(document, at_point, {**origins, **swept})
        check_network(document, found, {**origins, **swept})
        return found

    cases = _chosen(expand(data, scenario, check, origins), request.variants)
    if request.remote is not None and (request.serving or request.tracing or request.watcher):
        remedy = "leave out --on, or --serve, --live and --trace"
        raise UserError("a run that is served, watched or traced runs on this machine", place="--on", remedy=remedy)
    if request.serving is not None:
        _check_one(scenario, cases, "serves", "--serve")
    if request.tracing is not None:
        _check_one(scenario, cases, "follows packets of", "--trace")
    if request.watcher is not None:
        _check_one(scenario, cases, "shows", "--live")
    with named_by(origins, request.scenario):
        programs = compiled_sources([source for case in cases for source in case.sources], request.scenario)
    return Prepared(
        request,
        scenario,
        cases,
        programs,
        data,
        origins,
        Places(document, origins),
        inputs,
        seen,
        _destination(request, scenario),
    )


def _destination(request: RunRequest, scenario: Scenario) -> Destination:
    """Where results go: those of other settings than the file's, or of another file, get a folder of their own."""
    settings = request.settings
    identity = {"kind": "run", "scenario": scenario.name, "settings": settings}
    file = request.made_of or request.scenario
    if request.out is not None:
        return destination_of(request.out, file, identity, is_asked_for=True)
    if request.watcher is not None:
        folder = request.watcher.folder(Path("results"), scenario.name)
        return destination_of(folder, file, identity, is_asked_for=True)
    name = scenario.name if settings == SETTINGS_AS_WRITTEN else f"{scenario.name}-{settings}"
    return destination_of(Path("results") / name, file, identity, is_asked_for=False)


def _check_one(scenario: Scenario, cases: list[Case], does: str, option: str) -> None:
    """Raises UserError where there is not one run."""
    runs = len(cases) * len(scenario.seeds)
    if runs != 1:
        remedy = "choose one: --variant NAME, --set seeds=[1], and one value for what is swept"
        raise UserError(f"{does} one run, and there are {runs}", place=option, remedy=remedy)


def _named_senders(prepared: Prepared) -> Iterator[str]:
    """Says what senders named on the command line run with: nothing of the scenario's own variants."""
    if not any(text.startswith("variant=") for text in prepared.request.overrides):
        return
    for variant in prepared.scenario.variants:
        for kind, one in provenance.algorithms_of(variant).items():
            values = ", ".join(f"{name}={value}" for name, value in one.items() if name != "name")
            yield f"variant {variant.name}: {kind} {one['name']}" + (f" with {values}" if values else "")


def execute(prepared: Prepared, shown: Runs, of: str = "") -> RunOutcome:
    """Runs the cases, those in the cache excepted, and writes results and figures; raises UserError.

    `of` says what the runs are for, in front of their names.
    """
    request = prepared.request
    with _account(request, prepared.inputs, prepared.seen), named_by(prepared.origins, request.scenario):
        return _execute(prepared, shown, of)


def _execute(prepared: Prepared, shown: Runs, of: str) -> RunOutcome:
    request, scenario, cases, folder = prepared.request, prepared.scenario, prepared.cases, prepared.folder
    pushed = pushed_programs(prepared)
    row_keys = list(cases[0].keys()) if cases else []
    local = RunCache((request.cache or folder.parent / CACHE) if request.use_cache else None)
    cache = request.store if request.store is not None and request.use_cache else local
    drawing = Drawing(scenario, folder, request.call)
    undrawn: UserError | None = None
    collected = _Collected(warnings=dict.fromkeys(transport_warnings(cases, prepared.places)))
    started, clock = provenance.now(), time.monotonic()

    def keep_call(written: Manifest) -> None:
        if request.call is not None and undrawn is None:
            keep(request.call, _made(prepared, outcome, collected, drawing), written)

    with results_into(prepared.claim, keep_call) as partial:
        if request.watcher is not None:
            request.watcher.begin(prepared)
        _run_cases(prepared, pushed, cache, partial, (shown, of), collected)
        collected.passing.update(_damaged(local))
        collected.notes.update(dict.fromkeys(_damaged(local)))
        if request.watcher is not None:
            prepared = request.watcher.as_run(prepared)
        summary = _summary(scenario, cases, collected)
        write_summary(partial, summary)
        provenance.write(partial, _provenance(prepared, collected, started, time.monotonic() - clock))
        try:
            if request.figures:
                drawing.draw(collected.runs, partial)
            if request.report is not None:
                (partial / REPORT).write_text(request.report(partial, str(folder)), encoding="utf-8")
        except UserError as error:
            # A figure that cannot be drawn does not take the results away.
            undrawn = error
        outcome = RunOutcome(
            title=scenario.title or scenario.name,
            summary=summary,
            folder=folder,
            figures=[folder / name for name in drawing.drawn],
            row_keys=row_keys,
            warnings=list(collected.warnings),
            notes=[*_named_senders(prepared), *collected.notes],
            traced=collected.traced,
            report=None if request.report is None else folder / REPORT,
            aside=prepared.destination.aside,
        )
    if undrawn is not None:
        raise undrawn
    return outcome


def _damaged(cache: RunCache) -> Iterator[str]:
    """Says that files of the cache were not what was written."""
    if cache.damaged:
        more = f" (and {len(cache.damaged) - 1} more such files)" if len(cache.damaged) > 1 else ""
        yield f"{cache.damaged[0]}: it was removed, and its run was made again{more}"


def _made(prepared: Prepared, outcome: RunOutcome, collected: _Collected, drawing: Drawing) -> CallRecord:
    """What the next such call must know; how these runs were made is not of it."""
    lasting = [note for note in outcome.notes if note not in collected.passing]
    return CallRecord(
        outcome=replace(outcome, notes=lasting),
        claim=prepared.claim,
        wanted=prepared.destination.wanted,
        seen=prepared.seen,
        sources=tuple(source for case in prepared.cases for source in case.sources),
        programs=prepared.programs,
        runs=tuple(collected.keys),
        drawn=drawing.drawn,
    )


def _provenance(
    prepared: Prepared, collected: _Collected, started: datetime, duration_s: float
) -> provenance.Provenance:
    request = prepared.request
    return provenance.Provenance(
        scenario_file=request.scenario,
        data=prepared.data,
        scenario=prepared.scenario,
        overrides=request.overrides,
        variants=request.variants,
        cases=prepared.cases,
        programs=prepared.programs,
        inputs=prepared.inputs,
        thresholds=collected.thresholds,
        warnings=list(collected.warnings),
        started=started,
        duration_s=duration_s,
    )


def _chosen(cases: list[Case], variants: Sequence[str]) -> list[Case]:
    known = {case.variant.name for case in cases}
    for name in variants:
        if name not in known:
            raise UserError(f"no variant {name!r}", place="--variant", remedy=f"variants: {', '.join(sorted(known))}")
    return [case for case in cases if not variants or case.variant.name in variants]


def pushed_programs(prepared: Prepared) -> dict[str, PushedProgram]:
    """Each program with the P4Info that belongs to it; raises UserError for one that does not fit."""
    sources = {source.program: source for case in prepared.cases for source in case.sources}
    found: dict[str, PushedProgram] = {}
    for name, program in prepared.programs.items():
        p4info = read_p4info(sources[name], prepared.request.scenario)
        try:
            found[name] = PushedProgram(program, p4info)
        except ControllerError as error:
            raise UserError(error.cause, place=f"{name}: {error.place}", remedy=error.remedy) from error
    return found


def _run_cases(
    prepared: Prepared,
    programs: dict[str, PushedProgram],
    cache: KeptRuns,
    folder: Path,
    progress_of: tuple[Runs, str],
    collected: _Collected,
) -> None:
    """Runs the cases, writes their tables into `folder`, and collects the rest."""
    request, cases = prepared.request, prepared.cases
    captures = CaptureWriter(folder)
    with ResultWriter(folder, _swept(cases)) as writer:

        def keep(case: Case, run: CaseRun) -> None:
            of_plan = frozenset(run.plan.warnings)
            said = (with_place(one, case, prepared.places) if one in of_plan else one for one in run.warnings)
            collected.warnings.update(dict.fromkeys(said))
            collected.notes.update(dict.fromkeys(run.notes))
            collected.passing.update(run.passing)
            collected.keys.extend(run.keys)
            collected.traced = collected.traced or run.traced
            # They are the same for every seed.
            collected.thresholds[case.label()] = run.facts[0].installed
            measures = measures_of(case, run.plan)
            for one in run.seeds:
                keys = {**keys_of(case), "seed": one.seed}
                if isinstance(one, DerivedRun):
                    numbers = one.numbers
                    for name, stream in one.tables.items():
                        writer.add_parts(keys, name, streamed_parts(stream, case.label()))
                else:
                    numbers, tables = derive(measures, one.summary, {**one.tables, **one.long_tables})
                    writer.add(keys, tables)
                collected.runs.append({**keys, **numbers})
                captures.add(case.label(), one.seed, one.captures)

        def session() -> Session:
            return Session(
                request.scenario,
                programs,
                cache,
                asyncio.Semaphore(request.jobs),
                progress_of[0],
                request.threads,
                request.back_end,
                progress_of[1],
                request.serving,
                request.tracing,
                request.watcher,
                remote=_machines(prepared, programs),
                streams=folder,
            )

        try:
            run_to_end(lambda: schedule(cases, session, request.jobs, keep, _cases_ahead(prepared)))
        except LostClusterError as error:
            done = f"{progress_of[0].done + error.finished} of {progress_of[0].total} runs are finished"
            kept = "run the same command to go on: finished runs are kept" if request.use_cache else ""
            raise UserError(f"{error.cause}; {done}", place=error.place, remedy=kept) from error
        except KeyboardInterrupt as error:
            keeps = request.use_cache and request.serving is None and request.watcher is None
            kept = "finished runs are kept: the same command goes on from there" if keeps else ""
            kept = request.watcher.kept() if request.watcher is not None else kept
            raise InterruptedRunError("interrupted; no results were written", remedy=kept) from error
        finally:
            cache.prune()


def _machines(prepared: Prepared, programs: Mapping[str, PushedProgram]) -> tuple[RemoteRunner, Study] | None:
    """Other machines, with what they are told of all runs."""
    request = prepared.request
    if request.remote is None:
        return None
    contents = {name: program.content for name, program in programs.items()}
    inputs = dict(prepared.inputs)
    study = Study(request.scenario, prepared.data, inputs, contents, request.threads, request.back_end)
    return request.remote, study


def _cases_ahead(prepared: Prepared) -> int | None:
    """Cases that are begun and not written, where others make the runs."""
    if prepared.request.remote is None:
        return None
    most = max((len(case.scenario.seeds) for case in prepared.cases), default=1)
    return max(1, prepared.request.remote.runs_ahead // most)


def _swept(cases: list[Case]) -> dict[str, str]:
    """Swept fields by the name of their column."""
    return {name: path for case in cases for name, path in case.columns().items()}


async def schedule(
    cases: list[Case],
    session: Callable[[], Session],
    jobs: int,
    keep: Callable[[Case, CaseRun], None],
    ahead: int | None = None,
) -> None:
    """Works on at most `jobs` cases at a time and hands their results over in order.

    With `ahead` that many cases at most are begun and not handed over: others make the runs, and results that wait for
    an earlier case stay in memory.
    """
    shared = session()
    places = asyncio.Semaphore(ahead or jobs)

    async def one(case: Case) -> CaseRun:
        if ahead is not None:
            await places.acquire()
            return await run_case(case, shared)
        async with places:
            return await run_case(case, shared)

    tasks = [asyncio.create_task(one(case)) for case in cases]
    try:
        for case in cases:
            run = await tasks[0]
            # Off the loop: what is worked out of many cached cases would let requests of others time out.
            await asyncio.to_thread(keep, case, run)
            # A task holds its result: what is written need not stay in memory.
            del tasks[0]
            if ahead is not None:
                places.release()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _summary(scenario: Scenario, cases: list[Case], collected: _Collected) -> dict[str, Any]:
    return {
        "scenario": scenario.name,
        "title": scenario.title or scenario.name,
        "source": scenario.source,
        "program": scenario.switch.program,
        # What the medians of tables are, where they are none.
        **({} if scenario.interval == "range" else {"interval": scenario.interval}),
        "cases": [{"case": case.label(), **keys_of(case)} for case in cases],
        "warnings": list(collected.warnings),
        "runs": collected.runs,
    }
