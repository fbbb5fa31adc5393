"""Brings whole networks into the planned state, and reads back what their switches count.

One server may stand for many switches (by device id), so a network is one address and a plan per switch. Switches
are served one after another in order: requests then arrive in the same order in every run.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from controller import program
from controller.client import Line, Session, Target, line_to
from controller.defaults import DEFAULT_ELECTION_ID, DEFAULT_TIMEOUT_S
from controller.ecn import Level
from controller.entities import ActionCall, Entity, Entry, EntryKey, Exact, Scope, Update
from controller.errors import PlanError, SwitchError
from controller.install_runtime import InstallReport, install_runtime
from controller.pipeline import Pipeline
from controller.plan import SwitchPlan, level_cells
from controller.reconcile import diff
from controller.session import AnyProgram, AnyServer, AnySession

P = TypeVar("P", bound=AnyProgram)
Pipelines: TypeAlias = P | Mapping[str, P]
"""The program of all switches, or of each by its name."""


@dataclass(frozen=True)
class Server:
    """Where the switches of a network are that speak P4Runtime, and how to talk to them."""

    address: str
    election_id: int = DEFAULT_ELECTION_ID
    timeout_s: float = DEFAULT_TIMEOUT_S

    @property
    def bid(self) -> int:
        """What a session becomes primary with."""
        return self.election_id

    def target(self, plan: SwitchPlan) -> Target:
        """The switch of a plan at this server."""
        return Target(self.address, plan.device_id, plan.switch)

    def line(self) -> AbstractAsyncContextManager[Line]:
        """A channel to it."""
        return line_to(self.address)


@dataclass(frozen=True)
class SwitchDiff:
    """What an installation would do to one switch; without the pipeline its tables count as empty."""

    switch: str
    pipeline_differs: bool
    updates: tuple[Update, ...]


@dataclass(frozen=True)
class PortState:
    """A port as its switch has it: thresholds (None: never marks), and packets sent by queue level at enqueue.

    Thresholds are in packets; in the switch's own unit where the plan does not say how many of it a packet takes.
    """

    switch: str
    port: int
    peer: str
    k_pkts: int | None
    k_dc_pkts: int | None
    level0_pkts: int
    level1_pkts: int
    level2_pkts: int


async def install_network(
    server: AnyServer[P], pipelines: Pipelines[P], plans: Sequence[SwitchPlan]
) -> tuple[InstallReport, ...]:
    """Install every plan, writing only what differs, and verify by reading back; raises SwitchError or PlanError."""
    reports: list[InstallReport] = []
    async with server.line() as line:
        for plan in plans:
            async with line.session(server.target(plan), server.timeout_s) as session:
                await session.become_primary(server.bid)
                reports.append(await install_switch(session, _of(pipelines, plan), plan))
    return tuple(reports)


def _of(pipelines: Pipelines[P], plan: SwitchPlan) -> P:
    return pipelines[plan.switch] if isinstance(pipelines, Mapping) else pipelines


async def install_switch(session: AnySession[P], pipeline: P, plan: SwitchPlan) -> InstallReport:
    """Bring one switch, of which the session is primary, into the planned state."""
    if plan.fixed:
        _check_fixed(session, plan)
    pushed = await session.ensure_pipeline(pipeline)
    # A program that was just pushed holds what it says itself, and mostly that is nothing.
    held = () if pushed and not pipeline.fills(plan.scope) else await session.read(plan.scope, pipeline)
    batches = diff(plan.entities, held)
    written = await session.write(batches, pipeline)
    if written:
        left = diff(plan.entities, await session.read(plan.scope, pipeline))
        if left:
            count = sum(len(batch) for batch in left)
            cause = f"{count} updates are still due after writing, first: {left[0][0]}"
            raise SwitchError(f"{session.target}: verify", cause, "see that no other controller writes to the switch")
    if plan.fixed:
        written += await _install_fixed(session, pipeline, plan)
    return InstallReport(plan.switch, pushed, written)


def _check_fixed(session: object, plan: SwitchPlan) -> None:
    """Raise PlanError, before anything is written, where the session has no words for a user's own entries."""
    if not isinstance(session, Session):
        cause = "entries of files and clone sessions are P4Runtime's messages"
        raise PlanError(f"switch {plan.switch}", cause, "install them over P4Runtime, or leave them out")


async def _install_fixed(session: object, pipeline: object, plan: SwitchPlan) -> int:
    """Write what files and rows of the user's say; the number of updates."""
    if not isinstance(session, Session) or not isinstance(pipeline, Pipeline):
        return 0
    return (await install_runtime(session, pipeline, plan.fixed)).updates_written


async def diff_network(
    server: AnyServer[P], pipelines: Pipelines[P], plans: Sequence[SwitchPlan]
) -> tuple[SwitchDiff, ...]:
    """What `install_network` would write; needs no arbitration and changes nothing."""
    found: list[SwitchDiff] = []
    async with server.line() as line:
        for plan in plans:
            pipeline = _of(pipelines, plan)
            async with line.session(server.target(plan), server.timeout_s) as session:
                loaded = await session.has_pipeline(pipeline)
                actual: tuple[Entity, ...] = await session.read(plan.scope, pipeline) if loaded else ()
                updates = tuple(update for batch in diff(plan.entities, actual) for update in batch)
                found.append(SwitchDiff(plan.switch, not loaded, updates))
    return tuple(found)


async def read_ports(
    server: AnyServer[P], pipelines: Pipelines[P], plans: Sequence[SwitchPlan]
) -> tuple[PortState, ...]:
    """Thresholds and level counters of every port of every switch whose program has them, read from the switches."""
    found: list[PortState] = []
    async with server.line() as line:
        for plan in plans:
            if not plan.marks:
                continue
            async with line.session(server.target(plan), server.timeout_s) as session:
                found.extend(await read_switch_ports(session, _of(pipelines, plan), plan))
    return tuple(found)


async def read_switch_ports(session: AnySession[P], pipeline: P, plan: SwitchPlan) -> list[PortState]:
    """Thresholds and level counters of every port of a switch that marks, over an open session; raises SwitchError."""
    cells = await session.read_counter(plan.name_of(program.LEVEL_PACKETS), level_cells(plan.ports), pipeline)
    entities = await session.read(Scope(tables=(plan.name_of(program.THRESHOLDS),), profiles=()), pipeline)
    return port_states(plan, cells, entities)


def port_states(plan: SwitchPlan, cells: Mapping[int, int], entities: Iterable[Entity]) -> list[PortState]:
    """Counter cells and threshold entries by port; a cell that the switch did not send counts 0."""
    packets = {where: cells.get(cell, 0) for cell, where in level_cells(plan.ports).items()}
    thresholds: dict[int, dict[str, int]] = {}
    set_thresholds = plan.name_of(program.SET_THRESHOLDS)
    for entity in entities:
        match entity:
            case Entry(EntryKey(_, (Exact(_, port),)), ActionCall(name, args)) if name == set_thresholds:
                units = plan.cells.get(port, 1)
                thresholds[port] = {name: depth // units for name, depth in args}
            case _:
                continue
    return [
        PortState(
            plan.switch,
            port,
            peer,
            thresholds.get(port, {}).get("k"),
            thresholds.get(port, {}).get("k_dc"),
            *(packets[port, int(level)] for level in Level),
        )
        for port, peer in plan.ports.items()
    ]
