"""Brings whole networks into the planned state, and reads their counters.

One server may serve many switches (by device id), so a network is one address and a plan per switch. Some switches are
served at once: what a call costs is mostly waiting and waking. Requests to one switch are always in the same order.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from finsy.proto import p4r

from controller import codec
from controller.client import Line, Session, Target, line_to
from controller.defaults import DEFAULT_ELECTION_ID, DEFAULT_TIMEOUT_S
from controller.ecn import LEVEL_PACKETS, THRESHOLDS, Level
from controller.entities import (
    ActionCall,
    Entity,
    Entry,
    EntryKey,
    Exact,
    Group,
    Key,
    Member,
    Scope,
    Update,
    UpdateKind,
    Verbatim,
    action_of,
)
from controller.errors import PlanError, SwitchError
from controller.pipeline import Pipeline
from controller.plan import SwitchPlan, level_cells
from controller.reconcile import Inserts, by_key, diff
from controller.session import AnyProgram, AnyServer, AnySession
from controller.within import LocalLine, Service, line_within

P = TypeVar("P", bound=AnyProgram)
T = TypeVar("T")
Pipelines: TypeAlias = P | Mapping[str, P]
"""The program of all switches, or of each by its name."""

AT_ONCE = 16
"""Switches of a P4Runtime server that are served at the same time; more gain nothing."""


@dataclass(frozen=True)
class Server:
    """Where the switches of a network are that speak P4Runtime, and how to talk to them."""

    address: str
    election_id: int = DEFAULT_ELECTION_ID
    timeout_s: float = DEFAULT_TIMEOUT_S
    within: Service | None = None
    """The service itself, if it is in this process: requests reach it without gRPC."""

    @property
    def bid(self) -> int:
        """The bid of a session to become primary."""
        return self.election_id

    @property
    def at_once(self) -> int:
        """Switches that are served at the same time."""
        return AT_ONCE

    def target(self, plan: SwitchPlan) -> Target:
        """The switch of a plan at this server."""
        return Target(self.address, plan.device_id, plan.switch)

    def line(self) -> AbstractAsyncContextManager[Line | LocalLine]:
        """A channel to it."""
        return line_to(self.address) if self.within is None else line_within(self.address, self.within)


@dataclass(frozen=True)
class InstallReport:
    """The changes of one switch: whether the pipeline was pushed, and the number of updates."""

    switch: str
    pipeline_pushed: bool
    updates_written: int


@dataclass(frozen=True)
class SwitchDiff:
    """The changes that an installation would make to one switch; without the pipeline its tables count as empty."""

    switch: str
    pipeline_differs: bool
    updates: tuple[Update, ...]
    present: Mapping[Key, Entity]
    """The switch's entities in the plan's scope."""

    def lines(self) -> list[str]:
        """A line for each write; a change names the present action, too."""
        return [
            f"{update}, now {action_of(self.present[update.entity.key])}"
            if update.kind is UpdateKind.MODIFY and update.entity.key in self.present
            else str(update)
            for update in self.updates
        ]


@dataclass(frozen=True)
class PortState:
    """The state of a port: thresholds (None: never marks), and packets sent by queue level at enqueue.

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
    server: AnyServer[P], pipelines: Pipelines[P], plans: Sequence[SwitchPlan], *, are_new: bool = False
) -> tuple[InstallReport, ...]:
    """Install every plan, writing only what differs, and verify by reading back; raises SwitchError or PlanError.

    Switches that `are_new` run no program yet, so they are not asked for it.
    """
    inserts = Inserts()
    async with server.line() as line:

        async def install(plan: SwitchPlan) -> InstallReport:
            async with line.session(server.target(plan), server.timeout_s) as session:
                await session.become_primary(server.bid)
                return await install_switch(session, _of(pipelines, plan), plan, is_new=are_new, inserts=inserts)

        return tuple(await _each(plans, install, server.at_once))


async def _each(plans: Sequence[SwitchPlan], serve: Callable[[SwitchPlan], Awaitable[T]], at_once: int) -> list[T]:
    """Serves the switches, some at once, and gives the results in order; raises the error of the first that fails."""
    places = asyncio.Semaphore(at_once)

    async def in_turn(plan: SwitchPlan) -> T:
        async with places:
            return await serve(plan)

    tasks = [asyncio.create_task(in_turn(plan)) for plan in plans]
    try:
        return [await task for task in tasks]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _of(pipelines: Pipelines[P], plan: SwitchPlan) -> P:
    return pipelines[plan.switch] if isinstance(pipelines, Mapping) else pipelines


async def install_switch(
    session: AnySession[P],
    pipeline: P,
    plan: SwitchPlan,
    *,
    is_new: bool = False,
    inserts: Inserts | None = None,
) -> InstallReport:
    """Bring one switch, of which the session is primary, into the planned state; one that `is_new` runs no program.

    `inserts` are shared with other switches of the same network.
    """
    if plan.fixed:
        _check_fixed(session, plan)
    pushed = await session.ensure_pipeline(pipeline, is_new=is_new)
    # A freshly pushed program holds only its constant entries, usually none.
    present = () if pushed and not pipeline.fills(plan.scope) else await session.read(plan.scope, pipeline)
    batches = diff(plan.entities, present) if present else (inserts or Inserts()).batches(plan.entities)
    written = await session.write(batches, pipeline)
    if written:
        left = diff(plan.entities, await session.read(plan.scope, pipeline))
        if left:
            count = sum(len(batch) for batch in left)
            cause = f"{count} updates are still pending after the installation; the first is {left[0][0]}"
            raise SwitchError(f"{session.target}: verify", cause, "check that no other controller writes to the switch")
    if plan.fixed and isinstance(session, Session) and isinstance(pipeline, Pipeline):
        written += await _write_fixed(session, pipeline, plan.fixed)
    return InstallReport(plan.switch, pushed, written)


def _check_fixed(session: object, plan: SwitchPlan) -> None:
    """Raise PlanError, before anything is written, where the session has no words for a user's own entries."""
    if not isinstance(session, Session):
        cause = "entries from files and clone sessions need P4Runtime"
        raise PlanError(f"switch {plan.switch}", cause, "install them over P4Runtime, or remove them")


async def install_fixed(session: Session, pipeline: Pipeline, fixed: Sequence[Entity]) -> InstallReport:
    """Push the program unless it runs, then write what is missing or differs; the switch's other entities stay.

    A user's own controller may have added entries meanwhile. Raises SwitchError or PlanError.
    """
    pushed = await session.ensure_pipeline(pipeline)
    return InstallReport(session.target.name, pushed, await _write_fixed(session, pipeline, fixed))


async def _write_fixed(session: Session, pipeline: Pipeline, fixed: Sequence[Entity]) -> int:
    """Write the user's files and rows; returns the number of updates."""
    entries = [one for one in fixed if isinstance(one, Entry)]
    written = 0
    # Entries may name members and groups of action profiles, so these come first.
    for entity in sorted(fixed, key=_order):
        if not isinstance(entity, Entry):
            written += await _write_one(session, pipeline, entity)
    wanted: dict[tuple[str, bool], p4r.Entity] = {}
    for entry in entries:
        key = EntryKey(entry.key.table, (), is_default=entry.key.is_default)
        wanted.setdefault((key.table, key.is_default), codec.to_key(key, pipeline.schema))
    # A switch may list a default action with a table's entries and by itself.
    present = {one.key: one for one in await session.read_entities(wanted.values(), pipeline)} if wanted else {}
    return written + await session.write(diff(entries, present.values(), keeps_others=True), pipeline)


def _order(entity: Entity) -> int:
    """Members before the groups that name them."""
    return (Member, Group).index(type(entity)) if isinstance(entity, Member | Group) else 2


# Registers, counters and meters are always there.
_COME_AND_GO = {"table_entry", "action_profile_member", "action_profile_group", "packet_replication_engine_entry"}


async def _write_one(session: Session, pipeline: Pipeline, entity: Entity) -> int:
    """Writes entities other than table entries; returns the number of updates."""
    kinds = UpdateKind.INSERT, UpdateKind.MODIFY
    if isinstance(entity, Verbatim):
        message = codec.to_entity(entity, pipeline.schema)
        if message.WhichOneof("entity") not in _COME_AND_GO or message.table_entry.is_default_action:
            return await session.write([[Update(UpdateKind.MODIFY, entity)]], pipeline)
    else:
        try:
            message = codec.to_entity(entity, pipeline.schema, whole=False)
            present = await session.read_entities([message], pipeline)
        except SwitchError:
            # Not every switch can read these.
            present = []
        if entity in present:
            return 0
        kinds = kinds[::-1] if present else kinds
    try:
        return await session.write([[Update(kinds[0], entity)]], pipeline)
    except SwitchError as error:
        if error.code not in ("ALREADY_EXISTS", "NOT_FOUND"):
            raise
        return await session.write([[Update(kinds[1], entity)]], pipeline)


async def diff_network(
    server: AnyServer[P], pipelines: Pipelines[P], plans: Sequence[SwitchPlan]
) -> tuple[SwitchDiff, ...]:
    """The writes of `install_network`; needs no arbitration and changes nothing."""
    result: list[SwitchDiff] = []
    async with server.line() as line:
        for plan in plans:
            pipeline = _of(pipelines, plan)
            async with line.session(server.target(plan), server.timeout_s) as session:
                loaded = await session.has_pipeline(pipeline)
                actual: tuple[Entity, ...] = await session.read(plan.scope, pipeline) if loaded else ()
                updates = tuple(update for batch in diff(plan.entities, actual) for update in batch)
                result.append(SwitchDiff(plan.switch, not loaded, updates, by_key(actual)))
    return tuple(result)


async def read_ports(
    server: AnyServer[P], pipelines: Pipelines[P], plans: Sequence[SwitchPlan]
) -> tuple[PortState, ...]:
    """Thresholds and level counters of every port of every switch whose program has them, read from the switches."""
    async with server.line() as line:

        async def read(plan: SwitchPlan) -> list[PortState]:
            async with line.session(server.target(plan), server.timeout_s) as session:
                return await read_switch_ports(session, _of(pipelines, plan), plan)

        states = await _each([plan for plan in plans if plan.marks], read, server.at_once)
    return tuple(state for of_switch in states for state in of_switch)


async def read_switch_ports(session: AnySession[P], pipeline: P, plan: SwitchPlan) -> list[PortState]:
    """Thresholds and level counters of every port of a switch that marks, over an open session; raises SwitchError."""
    counter = plan.roles.counters.get(LEVEL_PACKETS)
    cells = {} if counter is None else await session.read_counter(counter, level_cells(plan.ports), pipeline)
    entities = await session.read(Scope((plan.roles.table(THRESHOLDS).name,), ()), pipeline)
    return port_states(plan, cells, entities)


def port_states(plan: SwitchPlan, cells: Mapping[int, int], entities: Iterable[Entity]) -> list[PortState]:
    """Counter cells and threshold entries by port; a cell that the switch did not send counts 0."""
    thresholds: dict[int, dict[str, int]] = {}
    action = plan.roles.table(THRESHOLDS).actions["set_thresholds"]
    params = [(role, param.name) for role, param in action.params.items()]
    for entity in entities:
        match entity:
            case Entry(EntryKey(_, (Exact(_, port),)), ActionCall(name, args)) if name == action.name:
                units, depths = plan.cells.get(port, 1), dict(args)
                thresholds[port] = {role: depths[param] // units for role, param in params}
            case _:
                continue
    found: list[PortState] = []
    # Cells are in the order of ports and levels.
    packets = iter([cells.get(cell, 0) for cell in level_cells(plan.ports)])
    for port, peer in plan.ports.items():
        of_port = thresholds.get(port, {})
        levels = tuple(next(packets) for _ in Level)
        found.append(PortState(plan.switch, port, peer, of_port.get("k"), of_port.get("k_dc"), *levels))
    return found
