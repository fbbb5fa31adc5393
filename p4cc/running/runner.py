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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from controller import ControllerError
from p4cc.analysis.metrics import Measures, derive
from p4cc.analysis.tables import ALGORITHM
from p4cc.errors import InterruptedRunError, UserError
from p4cc.files import inputs_read
from p4cc.planning.execution import Exec
from p4cc.planning.network import NetworkPlan
from p4cc.planning.programs import CompiledProgram, compiled_sources, read_p4info
from p4cc.running import provenance
from p4cc.running.cache import FOLDER as CACHE
from p4cc.running.cache import KeptRuns, RunCache
from p4cc.running.captures import FOLDER, CaptureWriter
from p4cc.running.case import CaseRun, PushedProgram, Session, run_case
from p4cc.running.elsewhere import Elsewhere, LostClusterError, Study
from p4cc.running.loops import run_to_end
from p4cc.running.progress import Runs, progress
from p4cc.running.result_folder import REPORT, SETTINGS_AS_WRITTEN, Claim, results_into
from p4cc.running.result_writer import ResultWriter, file_names, write_summary
from p4cc.running.served import Serving
from p4cc.running.traced import Traced, Tracing
from p4cc.running.watched import WatchedRun
from p4cc.scenario.expand import Case, expand
from p4cc.scenario.load import check_network, validate
from p4cc.scenario.overrides import Origins, apply_overrides
from p4cc.scenario.schema import Scenario
from p4cc.scenario.units import plain_numbers
from p4cc.scenario.yaml import document_of, read_document


class Watcher(WatchedRun, Protocol):
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
    serving: Serving | None = None
    """Serve the one run to controllers that are programs of their own."""
    tracing: Tracing | None = None
    """Follow packets of the one run."""
    watcher: Watcher | None = None
    """Who watches the one run, leads its time and may change its tables."""
    elsewhere: Elsewhere | None = None
    """Machines that make the runs, in place of this one with its `jobs`."""
    store: KeptRuns | None = None
    """Where finished runs are kept, in place of the folder `cache`."""
    text: str | None = None
    """What stands in the scenario in place of its file, which then says where files that it names are looked for."""

    @property
    def settings(self) -> str:
        """What the command line changes of the scenario, as a short hash."""
        if not self.overrides and not self.variants:
            return SETTINGS_AS_WRITTEN
        return hashlib.sha256(json.dumps([self.overrides, self.variants]).encode()).hexdigest()[:8]


@dataclass(frozen=True)
class RunOutcome:
    """What was made: the summary, where it is, and what to say about it."""

    title: str
    summary: dict[str, Any]
    folder: Path
    figures: list[Path]
    row_keys: list[str]
    warnings: list[str]
    notes: list[str]
    """What this call did that changes no result."""
    traced: Traced | None = None
    """What was kept of packets that are followed."""
    report: Path | None = None


@dataclass
class _Collected:
    """What cases leave while they end one by one."""

    runs: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    warnings: dict[str, None] = field(default_factory=dict[str, None])
    notes: dict[str, None] = field(default_factory=dict[str, None])
    """What this call did that changes no result; not in the summary."""
    thresholds: dict[str, list[dict[str, Any]]] = field(default_factory=dict[str, list[dict[str, Any]]])
    """By case: K and K_dc as installed, with the number of ports that have them."""
    traced: Traced | None = None


@dataclass(frozen=True)
class Prepared:
    """A request that was checked, with the cases to run."""

    request: RunRequest
    scenario: Scenario
    cases: list[Case]
    programs: dict[str, CompiledProgram]
    data: dict[str, Any]
    """The scenario after `extends` and what the command line changes."""
    inputs: dict[str, Path]
    """Files that decide the runs, by the names that the scenario gives them; complete when the cases are planned."""

    @property
    def runs(self) -> int:
        """Runs to make, those of the cache included."""
        return sum(len(case.scenario.seeds) for case in self.cases)

    @property
    def folder(self) -> Path:
        """Where results go: those of other settings than the file's get a folder of their own."""
        if self.request.out is not None:
            return self.request.out
        settings = self.request.settings
        if self.request.watcher is not None:
            return self.request.watcher.folder(Path("results"), self.scenario.name)
        name = self.scenario.name if settings == SETTINGS_AS_WRITTEN else f"{self.scenario.name}-{settings}"
        return Path("results") / name

    @property
    def claim(self) -> Claim:
        """What is written there."""
        return Claim(
            self.folder,
            {"kind": "run", "scenario": self.scenario.name, "settings": self.request.settings},
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
    inputs: dict[str, Path] = {}
    token = inputs_read.set(inputs)
    try:
        return _prepare(request, inputs)
    finally:
        inputs_read.reset(token)


def _prepare(request: RunRequest, inputs: dict[str, Path]) -> Prepared:
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
    if request.elsewhere is not None and (request.serving or request.tracing or request.watcher):
        remedy = "leave out --on, or --serve, --live and --trace"
        raise UserError("a run that is served, watched or traced runs on this machine", place="--on", remedy=remedy)
    if request.serving is not None:
        _check_one(scenario, cases, "serves", "--serve")
    if request.tracing is not None:
        _check_one(scenario, cases, "follows packets of", "--trace")
    if request.watcher is not None:
        _check_one(scenario, cases, "shows", "--live")
    programs = compiled_sources([source for case in cases for source in case.sources], request.scenario)
    return Prepared(request, scenario, cases, programs, data, inputs)


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
    token = inputs_read.set(prepared.inputs)
    try:
        return _execute(prepared, shown, of)
    finally:
        inputs_read.reset(token)


def _execute(prepared: Prepared, shown: Runs, of: str) -> RunOutcome:
    request, scenario, cases, folder = prepared.request, prepared.scenario, prepared.cases, prepared.folder
    pushed = pushed_programs(prepared)
    row_keys = list(cases[0].keys()) if cases else []
    local = RunCache((request.cache or folder.parent / CACHE) if request.use_cache else None)
    cache = request.store if request.store is not None and request.use_cache else local
    undrawn: UserError | None = None
    figures: list[Path] = []
    started, clock = provenance.now(), time.monotonic()
    with results_into(prepared.claim) as partial:
        if request.watcher is not None:
            request.watcher.begin(prepared)
        collected = _run_cases(prepared, pushed, cache, partial, (shown, of))
        if request.watcher is not None:
            prepared = request.watcher.as_run(prepared)
        summary = _summary(scenario, cases, collected)
        write_summary(partial, summary)
        provenance.write(partial, _provenance(prepared, collected, started, time.monotonic() - clock))
        try:
            figures = _draw(scenario, collected.runs, partial) if request.figures else []
            if request.report is not None:
                (partial / REPORT).write_text(request.report(partial, str(folder)), encoding="utf-8")
        except UserError as error:
            # A figure that cannot be drawn does not take the results away.
            undrawn = error
    if undrawn is not None:
        raise undrawn
    return RunOutcome(
        title=scenario.title or scenario.name,
        summary=summary,
        folder=folder,
        figures=[folder / figure.name for figure in figures],
        row_keys=row_keys,
        warnings=list(collected.warnings),
        notes=[*_named_senders(prepared), *collected.notes],
        traced=collected.traced,
        report=None if request.report is None else folder / REPORT,
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
) -> _Collected:
    request, cases = prepared.request, prepared.cases
    collected = _Collected()
    captures = CaptureWriter(folder)
    with ResultWriter(folder, _swept(cases)) as writer:

        def keep(case: Case, run: CaseRun) -> None:
            collected.warnings.update(dict.fromkeys(run.warnings))
            collected.notes.update(dict.fromkeys(run.notes))
            collected.traced = collected.traced or run.traced
            measures = measures_of(case, run.plan)
            collected.warnings.update(dict.fromkeys(_cut_off(case, run)))
            collected.thresholds[case.label()] = _installed(run)
            for one in run.seeds:
                keys = {**keys_of(case), "seed": one.seed}
                summary, tables = derive(measures, one.summary, {**one.tables, **one.long_tables})
                collected.runs.append({**keys, **summary})
                writer.add(keys, tables)
                captures.add(case.label(), one)

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
                elsewhere=_machines(prepared, programs),
                streams=folder,
            )

        try:
            run_to_end(lambda: schedule(cases, session, request.jobs, keep, _cases_ahead(prepared)))
        except LostClusterError as error:
            done = f"{progress_of[0].done} of {progress_of[0].total} runs are finished"
            kept = "run the same command to go on: finished runs are kept" if request.use_cache else ""
            raise UserError(f"{error.cause}; {done}", place=error.place, remedy=kept) from error
        except KeyboardInterrupt as error:
            keeps = request.use_cache and request.serving is None and request.watcher is None
            kept = "finished runs are kept: the same command goes on from there" if keeps else ""
            kept = request.watcher.kept() if request.watcher is not None else kept
            raise InterruptedRunError("interrupted; no results were written", remedy=kept) from error
        finally:
            cache.prune()
    return collected


def _machines(prepared: Prepared, programs: Mapping[str, PushedProgram]) -> tuple[Elsewhere, Study] | None:
    """Other machines, with what they are told of all runs."""
    request = prepared.request
    if request.elsewhere is None:
        return None
    contents = {name: program.content for name, program in programs.items()}
    inputs = dict(prepared.inputs)
    study = Study(request.scenario, prepared.data, inputs, contents, request.threads, request.back_end)
    return request.elsewhere, study


def _cases_ahead(prepared: Prepared) -> int | None:
    """Cases that are begun and not written, where others make the runs."""
    if prepared.request.elsewhere is None:
        return None
    most = max((len(case.scenario.seeds) for case in prepared.cases), default=1)
    return max(1, prepared.request.elsewhere.runs_ahead // most)


def _installed(run: CaseRun) -> list[dict[str, Any]]:
    """K and K_dc as the switches had them, with the number of ports; they are the same for every seed."""
    found: dict[tuple[int | None, int | None], int] = {}
    for row in run.seeds[0].tables["counters"].select(["k_pkts", "k_dc_pkts"]).to_pylist():
        pair = (row["k_pkts"], row["k_dc_pkts"])
        found[pair] = found.get(pair, 0) + 1
    return [{"k_pkts": k, "k_dc_pkts": k_dc, "ports": ports} for (k, k_dc), ports in found.items()]


def _cut_off(case: Case, run: CaseRun) -> Iterator[str]:
    """Says how many flows had not finished when their runs ended: what is worked out of flows leaves them out."""
    finite, completed = (sum(one.summary[f"flows_{name}"] for one in run.seeds) for name in ("finite", "completed"))
    if left := finite - completed:
        ends = ", ".join(dict.fromkeys(f"{one.summary['end_ns'] / 1e6:g} ms" for one in run.seeds))
        yield (
            f"case {case.label()}: {left} of {finite} flows ({100 * left / finite:.2g} %) had not finished when the "
            f"run ended ({ends}); completion times and slowdowns are of the others"
        )


def _swept(cases: list[Case]) -> dict[str, str]:
    """Swept fields by the name of their column."""
    return {name: path for case in cases for name, path in case.columns().items()}


def keys_of(case: Case) -> dict[str, Any]:
    """A case's keys, the algorithm behind the variant's name among them."""
    return {"variant": case.variant.name, ALGORITHM: case.algorithm, **case.keys()}


def measures_of(case: Case, plan: NetworkPlan) -> Measures:
    """What is worked out of the runs of a case."""
    return Measures(
        topology=plan.topology,
        paths=plan.paths,
        alone=plan.alone,
        windows=case.scenario.measure,
        goodput_interval_ns=case.scenario.record.goodput_interval_ns,
        by_label=len(case.scenario.traffic_items) > 1,
        slowdown_by_size=case.scenario.record.slowdown_by_size,
        algorithm=case.algorithm,
        senders=case.algorithms(),
    )


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
        "cases": [{"case": case.label(), **keys_of(case)} for case in cases],
        "warnings": list(collected.warnings),
        "runs": collected.runs,
    }


def _draw(scenario: Scenario, runs: list[dict[str, Any]], folder: Path) -> list[Path]:
    if not scenario.figures:
        return []
    # Plotting takes half a second to import; runs without figures need not wait for it.
    from p4cc.figures.draw import draw

    frame = pl.DataFrame(runs, infer_schema_length=None)
    return [draw(figure, frame, folder, scenario) for figure in scenario.figures]
