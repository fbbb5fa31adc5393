"""One case: build the network, install its switches over P4Runtime, run every seed, read the counters back.

The controller is the one that would program real switches: it connects to the address that the network serves, pushes
the compiled program, writes tables, and reads counters. Seeds run on copies of the network as installed.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, TypeVar

from controller.pipeline import load_pipeline
from p4cc.control.load import load_controller
from p4cc.files import files_read
from p4cc.planning.bfrt_rows import CHIPS, filters_of
from p4cc.planning.execution import Exec
from p4cc.planning.memory import run_bytes
from p4cc.planning.network import NetworkPlan, plan_case
from p4cc.running.cache import KeptRuns, run_keys
from p4cc.running.cached_run import SeedRun
from p4cc.running.captures import engine_captures
from p4cc.running.controller_run import ControlOutcome, run_with_stops, stops_for
from p4cc.running.derived_run import DerivedRun, Facts, facts_of
from p4cc.running.installer import Installer
from p4cc.running.losses import drop_notes, lossless_warnings, refusal_warnings
from p4cc.running.network_thread import NetworkThread
from p4cc.running.networks import build_network, fork_network, served
from p4cc.running.packet_trace import PacketTrace, TraceRequest
from p4cc.running.remote_runs import ProgramContent, RunOrder
from p4cc.running.result_writer import engine_tables
from p4cc.running.run_end import cut_off, ending_warnings
from p4cc.running.server_run import ServerSettings, run_with_server
from p4cc.running.streams import Streams

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable, Iterator, Mapping
    from pathlib import Path

    from p4cc import _engine
    from p4cc.control.load import ControllerClass
    from p4cc.planning.programs import CompiledProgram
    from p4cc.running.live_run import LiveRun
    from p4cc.running.progress import Runs
    from p4cc.running.remote_runs import RemoteRunner, Study
    from p4cc.scenario.expand import Case


PLANNED_AT_ONCE = 64
Run = TypeVar("Run", "SeedRun", "SeedRun | DerivedRun")


@dataclass(frozen=True)
class CaseRun:
    """What a case left, its seeds in the scenario's order."""

    plan: NetworkPlan
    seeds: list[SeedRun | DerivedRun]
    facts: list[Facts]
    """Of the seeds."""
    warnings: list[str]
    """What a reader of the results should know."""
    notes: list[str]
    """What the user should know of how it ran; it changes no result."""
    keys: tuple[str, ...]
    """Names of the seeds' runs in a cache."""
    passing: tuple[str, ...] = ()
    """Those of the notes that are of how runs were made just now."""
    traced: PacketTrace | None = None
    """What was kept of packets that are followed."""


class PushedProgram:
    """One compiled program as it is pushed to switches."""

    def __init__(self, program: CompiledProgram, p4info: bytes | str | None = None) -> None:
        """With `p4info` the ids and names of that are the controller's, in place of those that p4cc would give."""
        self.config = program.device_config()
        """What is pushed, which decides what a switch does."""
        self.p4info = program.p4info_bytes() if p4info is None else p4info
        self.pipeline = load_pipeline(self.p4info, self.config)
        self.header_types = program.header_types()
        self.filters = filters_of(program) if self.pipeline.schema.arch in CHIPS else frozenset[str]()

    @classmethod
    def of_content(cls, content: ProgramContent) -> Self:
        """A program that was compiled on another machine; raises ControllerError."""
        made = cls.__new__(cls)
        made.config, made.p4info, made.header_types = content.config, content.p4info, content.header_types
        made.filters = content.filters
        made.pipeline = load_pipeline(content.p4info, content.config)
        return made

    @property
    def content(self) -> ProgramContent:
        """What another machine needs of it."""
        return ProgramContent(self.config, self.p4info, self.header_types, self.filters)


@dataclass(frozen=True)
class Session:
    """What all cases of one call share."""

    scenario: Path
    programs: Mapping[str, PushedProgram]
    """By their names in the scenario."""
    cache: KeptRuns
    places: asyncio.Semaphore
    """How many runs may be under way."""
    runs: Runs
    """Told how far each run is."""
    threads: int = 1
    """Of each run."""
    back_end: Exec | None = None
    """What runs the P4 programs; native code for busy switches if not given."""
    of: str = ""
    """What the runs are for, in front of their names."""
    serving: ServerSettings | None = None
    """For controllers that are programs of their own, in a run that nobody keeps."""
    tracing: TraceRequest | None = None
    """Packets that are followed in the one run."""
    watcher: LiveRun | None = None
    """Who watches the one run."""
    planning: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(PLANNED_AT_ONCE))
    """Cases that are planned or looked for at the same time: runs begin meanwhile."""
    remote: tuple[RemoteRunner, Study] | None = None
    """Machines that make the runs in place of this process, and what they are told of all of them."""
    streams: Path | None = None
    """Folder on whose disk long tables of runs are written while they go on; all rows stay in memory if not given."""

    @property
    def is_hands_on(self) -> bool:
        """Whether others have a hand in the run, so that it is not kept for other calls."""
        return self.serving is not None or self.watcher is not None

    def program_of(self, case: Case, switch: str) -> PushedProgram:
        """The program of a switch."""
        return self.programs[case.source_of(switch).program]

    def label(self, case: Case, seed: int) -> str:
        """The name of a run, for people."""
        return f"{self.of}{case.label()} seed {seed}"


async def run_case(case: Case, session: Session) -> CaseRun:
    """Plans a case and gives its runs: those made before from the cache, the others made now; raises UserError."""
    async with session.planning:
        with files_read() as inputs:
            planned = plan_runs(case, session)
        plan, _, keys = planned
        found: dict[int, SeedRun | DerivedRun] = {**await _kept(case, keys, session)}
    notes: list[str] = []
    traced: list[PacketTrace] = []
    if missing := {seed: key for seed, key in keys.items() if seed not in found}:
        if session.remote is not None:
            memory_bytes = run_bytes(plan)
            found.update(await _run_remotely(case, missing, session, (inputs, memory_bytes), notes))
        else:
            found.update(await run_seeds(case, planned, missing, session, (notes, traced)))
    runs = [found[seed] for seed in case.scenario.seeds]
    facts = [run.facts if isinstance(run, DerivedRun) else facts_of(case, plan, run) for run in runs]
    warnings = [warning for one in facts for warning in one.warnings]
    warnings += [warning for one in facts for warning in one.captures]
    warnings += refusal_warnings(case.label(), [one.refused for one in facts])
    warnings += lossless_warnings(case, plan, [one.lossless for one in facts])
    endings = [(run.seed, one.ending) for run, one in zip(runs, facts, strict=True) if one.ending is not None]
    warnings += ending_warnings(case.label(), endings)
    warnings += cut_off(case.label(), [run.summary for run in runs])
    return CaseRun(
        plan=plan,
        seeds=runs,
        facts=facts,
        warnings=[*plan.warnings, *warnings],
        notes=[*plan.notes, *notes, *drop_notes(case.label(), [one.drops for one in facts])],
        keys=tuple(keys.values()),
        passing=tuple(notes),
        traced=next(iter(traced), None),
    )


PlannedRuns = tuple[NetworkPlan, "ControllerClass | None", dict[int, str]]
"""A case's plan, the user's controller, and the names of its runs in a cache by seed."""


def plan_runs(case: Case, session: Session) -> PlannedRuns:
    """Plans a case and names its runs; raises UserError."""
    plan = plan_case(
        case,
        session.scenario,
        lambda switch: session.program_of(case, switch).pipeline.schema,
        lambda switch: session.program_of(case, switch).header_types,
        lambda switch: session.program_of(case, switch).filters,
    )
    chosen = _controller(case, session)
    return plan, chosen, run_keys(_parts(plan, case, session, chosen), case.scenario.seeds)


async def _kept(case: Case, keys: Mapping[int, str], session: Session) -> dict[int, SeedRun]:
    """Runs that were made before."""
    if session.is_hands_on or session.tracing is not None:
        return {}
    loop = asyncio.get_running_loop()
    # Off the loop and side by side: a store may be far away.
    loads = {seed: loop.run_in_executor(session.cache.threads, session.cache.load, key) for seed, key in keys.items()}
    found: dict[int, SeedRun] = {}
    for seed, load in loads.items():
        if (held := await load) is not None and held.seed == seed:
            found[seed] = held
            session.runs.ended(session.label(case, seed), 0)
    return found


async def _run_remotely(
    case: Case,
    keys: Mapping[int, str],
    session: Session,
    needs: tuple[Mapping[str, Path], int],
    notes: list[str],
) -> dict[int, SeedRun | DerivedRun]:
    """Has other machines make the runs, which need these files and so much memory; adds to `notes`."""
    if session.remote is None:
        raise ValueError("no other machines")
    machines, study = session.remote
    loop = asyncio.get_running_loop()
    inputs, memory_bytes = needs
    read = {**study.inputs, **inputs}

    async def one(seed: int, key: str) -> SeedRun | DerivedRun:
        label = session.label(case, seed)
        asked = RunOrder(study, read, case.variant.name, case.point, seed, key, label, memory_bytes)
        with session.runs.asked():
            made = await machines.make(asked)
            if made.run is not None and not made.is_kept:
                await loop.run_in_executor(session.cache.threads, session.cache.store, key, made.run)
        notes.extend(made.notes)
        session.runs.ended(label, made.result.summary["packet_hops"])
        return made.result

    return dict(zip(keys, await _all(one(seed, key) for seed, key in keys.items()), strict=True))


async def _all(calls: Iterable[Coroutine[Any, Any, Run]]) -> list[Run]:
    """What calls give that go side by side; the others are cancelled when one fails."""
    tasks = [asyncio.create_task(call) for call in calls]
    try:
        return [await task for task in tasks]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _controller(case: Case, session: Session) -> ControllerClass | None:
    """The user's controller of a case; raises UserError."""
    name = case.scenario.switch.controller
    return (
        None
        if name is None or session.serving is not None
        else load_controller(name, case.scenario.control.parameters, session.scenario)
    )


def _parts(plan: NetworkPlan, case: Case, session: Session, chosen: ControllerClass | None) -> Iterator[str | bytes]:
    """What decides a run beside its seed, switch by switch: the plan of a large network is long."""
    yield plan.spec_json
    yield from (one.identity for one in plan.user_algorithms)
    yield from map(repr, plan.switches)
    if plan.bfrt_rows:
        yield repr(plan.bfrt_rows)
    for name in dict.fromkeys(source.program for source in case.sources):
        program = session.programs[name]
        yield program.config
        yield program.p4info
    if case.scenario.switch.programs:
        yield repr([case.source_of(switch.switch).program for switch in plan.switches])
    if stops_for(case, chosen) is not None:
        yield repr(case.scenario.faults)
        yield from (f"{one.at_ns} {one.switch} {one.entry!r}" for one in plan.changes)
    if chosen is not None:
        yield chosen.digest
        yield chosen.text
        yield case.scenario.control.model_dump_json(exclude={"handler_limit_s"})


async def run_seeds(
    case: Case,
    planned: PlannedRuns,
    keys: Mapping[int, str],
    session: Session,
    told: tuple[list[str], list[PacketTrace]],
) -> dict[int, SeedRun]:
    """Builds and installs the network once and runs a copy of it for each seed, with the user's controller.

    Adds to `told` notes and what was kept of packets that are followed.
    """
    (plan, chosen, _), (notes, traced) = planned, told
    network = build_network(plan, case.label(), session.tracing)
    stops = stops_for(case, chosen) if session.serving is None else "virtual time waits for controllers"
    if session.watcher is not None:
        stops = stops or "somebody watches it"
    reason = stops or network.one_thread_reason()
    if session.serving is not None and case.scenario.switch.controller is not None:
        notes.append(f"{case.scenario.switch.controller} does not run: controllers at the port take its place")
    if session.threads > 1 and reason is not None:
        notes.append(f"case {case.label()} runs on one thread: {reason}")
    if session.back_end is not None:
        network.set_exec(session.back_end.value)
    pipelines = {one.switch: session.program_of(case, one.switch).pipeline for one in plan.switches}
    async with served(network) as server:
        installer = Installer(server, plan, pipelines)
        await installer.install(network)
        behind_server = asyncio.Lock()

        async def to_end(fork: _engine.Network, advancing: NetworkThread) -> ControlOutcome | None:
            """Runs it; what was left behind by whoever had a hand in it."""
            if session.watcher is not None:
                progress = (advancing.label, session.runs)
                return await session.watcher.run((network, fork), (case, plan, pipelines), chosen, progress)
            if session.serving is not None:
                return await run_with_server((network, fork), (plan, pipelines), session.serving, advancing)
            if stops is not None:
                return await run_with_stops((network, fork), (case, plan, pipelines), chosen, advancing)
            await advancing.to_end(session.threads)
            return None

        async def one(seed: int, key: str) -> SeedRun:
            async with session.places:
                async with behind_server:
                    fork = fork_network(network, seed, case.label(), session.tracing)
                with Streams(session.streams if session.watcher is None else None) as streams:
                    streams.take_from(fork)
                    started = time.perf_counter()
                    left = await to_end(fork, NetworkThread(fork, session.label(case, seed), session.runs))
                    wall_s = time.perf_counter() - started
                    result = fork.result()
                    tables, long_tables = streams.finish(fork, engine_tables(result))
                if session.tracing is not None:
                    traced.append(session.tracing.kept(result))
                if left is None:
                    async with behind_server:
                        # What the run counted is read like anything else of a switch: over P4Runtime.
                        # Then the network as installed takes its place again, for the seeds to come.
                        network.exchange(fork)
                        left = ControlOutcome({}, {"counters": await installer.read_ports()})
                        network.exchange(fork)
                summary = {**result.summary(), **left.summary, "wall_s": round(wall_s, 6)}
                run = SeedRun(seed, summary, {**tables, **left.tables}, engine_captures(result), long_tables)
                if not session.is_hands_on:
                    await asyncio.to_thread(session.cache.store, key, run)
            session.runs.ended(session.label(case, seed), run.summary["packet_hops"])
            return run

        runs = await _all(one(seed, key) for seed, key in keys.items())
    if (cause := network.native_error()) is not None:
        notes.append(f"case {case.label()}: the interpreter ran the P4 program: {cause}")
    return dict(zip(keys, runs, strict=True))
