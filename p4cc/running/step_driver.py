"""A run that advances step by step: between steps it can be read, written over P4Runtime, and given packets.

Calls are not async; connections belong to a loop on a separate thread. A scenario's controller, restarts and changes
of tables run within the steps, each at its instant.

A copy repeats the run: every external action is recorded with its virtual time, and repeated in the copy.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from finsy.proto import p4r

from controller.client import Session, Target
from p4cc import _engine
from p4cc.control.line import ELECTION_ID, connect
from p4cc.control.virtual import Virtual, run_virtual
from p4cc.errors import UserError
from p4cc.running.controller_run import ControlOutcome, job_of, left_by
from p4cc.running.in_process import PATIENCE_S, server_at
from p4cc.running.installer import Installer
from p4cc.running.loops import LoopThread
from p4cc.running.networks import build_network, fork_network, run_errors, serve, users_errors
from p4cc.running.result_writer import arrow_table
from p4cc.running.server_run import read_counters
from p4cc.scenario.base import MAX_TIME_NS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from p4cc.control.line import SwitchLine
    from p4cc.control.run import Controlled
    from p4cc.planning.execution import Exec
    from p4cc.running.planned_case import PlannedCase

_PS = 1_000
BEFORE_PS = -1
"""Before all events, including those at time zero."""


class Done(Protocol):
    """An external action on a run."""

    @property
    def at_ps(self) -> int:
        """Time of the action."""
        ...

    def to(self, run: StepDriver) -> None:
        """Repeats it in another run, which is at that time."""
        ...


@dataclass(frozen=True)
class Sent:
    """A packet sent by a host."""

    at_ps: int
    host: str
    packet: bytes
    priority: int

    def to(self, run: StepDriver) -> None:
        """Sends it again."""
        run.network.inject(self.host, self.packet, self.priority)


@dataclass(frozen=True)
class Entered:
    """A packet injected at a port of a switch."""

    at_ps: int
    device_id: int
    port: int
    packet: bytes

    def to(self, run: StepDriver) -> None:
        """Injects it again."""
        run.network.inject_at_port(self.device_id, self.port, self.packet)


@dataclass(frozen=True)
class Written:
    """A write to a switch."""

    at_ps: int
    switch: str
    updates: tuple[bytes, ...]
    """P4Runtime updates, serialized."""

    def to(self, run: StepDriver) -> None:
        """Writes it again."""
        run.write_now(self.switch, [p4r.Update.FromString(update) for update in self.updates])


def begin(planned: PlannedCase, seed: int, back_end: Exec | None = None) -> StepDriver:
    """Builds the network of a case, installs it over P4Runtime, and starts its run; raises UserError."""
    base = build_network(planned.plan, planned.case.label(), back_end=back_end)
    installed = _Installed(base)
    installed.hold()
    loop = LoopThread("p4cc install")
    try:
        with users_errors():
            loop.call(Installer(server_at(installed.address, base), planned.plan, planned.pipelines).install(base))
        return StepDriver(planned, base, installed, seed)
    finally:
        loop.stop()
        installed.let_go()


class _Installed:
    """The installed network and its server, from which its runs know the pushed programs.

    It never advances, and exists until its last run is closed.
    """

    def __init__(self, network: _engine.Network) -> None:
        self.network = network
        self.address = serve(network)
        self._users = 0
        self._lock = threading.Lock()

    def hold(self) -> None:
        """Adds a user."""
        with self._lock:
            self._users += 1

    def let_go(self) -> None:
        """Removes a user."""
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self.network.stop_server()


@dataclass
class _Controlled:
    """The part of a run that proceeds without the caller during steps, and its limit in time."""

    task: asyncio.Task[Controlled]
    until_ps: int = BEFORE_PS
    reached_ps: int = BEFORE_PS
    may_go: asyncio.Event = field(default_factory=asyncio.Event)
    at_limit: asyncio.Event = field(default_factory=asyncio.Event)
    is_interrupted: bool = False


class StepDriver:
    """A run of an installed network."""

    def __init__(self, planned: PlannedCase, base: _engine.Network, installed: _Installed, seed: int) -> None:
        """Starts a run of `base`, a network at time zero: the installed one, or a run of it with new seed.

        Raises UserError if there is too much traffic or a controller's `start` fails.
        """
        self.planned = planned
        self.seed = seed
        self.label = planned.label(seed)
        self.network = fork_network(base, seed, planned.case.label())
        self._base, self._installed = base, installed
        self._done: list[Done] = []
        self._position_ps = BEFORE_PS
        self._plans = {one.switch: one for one in planned.plan.switches}
        self._lines: dict[str, SwitchLine] = {}
        self._sessions: dict[str, Session] = {}
        self._stack = AsyncExitStack()
        self._controlled: _Controlled | None = None
        self._left: Controlled | None = None
        self._address = serve(self.network, installed.network)
        installed.hold()
        self._loop = LoopThread("p4cc network")
        self.is_closed = False
        if planned.stops is not None:
            try:
                self._loop.call(self._start_controlled())
            except BaseException:
                self.close()
                raise

    @property
    def position_ps(self) -> int:
        """All events up to this time are done; `BEFORE_PS` at the beginning."""
        return self._position_ps

    @property
    def has_ended(self) -> bool:
        """Whether all flows are complete, or the scenario's end is reached."""
        return self.network.has_ended

    def run_until(self, until_ps: int) -> None:
        """Handles all events up to a time, which must not be before the last step's.

        Ctrl-C ends it early, after all events of an instant, with KeyboardInterrupt; the run can continue from there.
        Raises UserError if the run fails.
        """
        if self._controlled is not None:
            with users_errors():
                self._loop.call(self._step(self._controlled, until_ps), self._interrupt)
        else:
            try:
                self._advance(until_ps)
            finally:
                self._position_ps = self.network.now_ps

    def _advance(self, until_ps: int) -> None:
        with run_errors(self.label):
            try:
                self.network.advance(until_ps, False)
            except KeyboardInterrupt:
                # The rest of the current instant.
                self.network.advance(self.network.now_ps, False)
                raise

    def send(self, host: str, packet: bytes, priority: int) -> None:
        """Sends a packet from an interface of a host now; raises SpecError."""
        self.do(Sent(self._position_ps, host, packet, priority))

    def enter(self, switch: str, port: int, packet: bytes) -> None:
        """Injects a packet at a port of a switch now; raises SpecError."""
        self.do(Entered(self._position_ps, self._plans[switch].device_id, port, packet))

    def do(self, done: Done) -> None:
        """Performs an action now, and records it for copies."""
        done.to(self)
        self._done.append(done)

    def read(self, switch: str, entities: Sequence[p4r.Entity]) -> list[p4r.Entity]:
        """All entities of a switch that match these, over P4Runtime; raises UserError."""
        with users_errors():
            return self._loop.call(self._read(switch, entities))

    def write(self, switch: str, updates: Sequence[p4r.Update]) -> None:
        """Writes to a switch over P4Runtime; raises UserError if it refuses."""
        plain = tuple(update.SerializeToString(deterministic=True) for update in updates)
        self.do(Written(self._position_ps, switch, plain))

    def write_now(self, switch: str, updates: Sequence[p4r.Update]) -> None:
        """`write` without recording."""
        with users_errors():
            self._loop.call(self._write(switch, updates))

    def flows(self) -> pa.Table:
        """The engine's table of flows, whatever else is recorded."""
        return arrow_table(self.network.flow_result().table("flows"))

    def counters(self) -> ControlOutcome:
        """Current thresholds and level counters of all ports, and after the end the records of a controller."""
        with users_errors():
            read = read_counters(server_at(self._address), self.planned.plan, self.planned.pipelines)
            table: pa.Table = self._loop.call(read)
        return (
            ControlOutcome({}, {"counters": table})
            if self._left is None
            else left_by(self.planned.controller, self._left, table)
        )

    def fork(self) -> StepDriver:
        """An independent run in the state of this one; takes as long as this one has taken so far."""
        copy = StepDriver(self.planned, self._base, self._installed, self.seed)
        try:
            for done in self._done:
                copy._go_to(done.at_ps)
                copy.do(done)
            copy._go_to(self._position_ps)
        except BaseException:
            copy.close()
            raise
        return copy

    def anew(self, seed: int) -> StepDriver:
        """A run from time zero with another seed, whose switches start with the current entries."""
        base = fork_network(self.network, seed, self.planned.case.label())
        return StepDriver(self.planned, base, self._installed, seed)

    def close(self) -> None:
        """Ends connections and server; may be called repeatedly."""
        if self.is_closed:
            return
        self.is_closed = True
        try:
            self._loop.call(self._end())
        finally:
            self._loop.stop()
            self.network.stop_server()
            self._installed.let_go()

    def _go_to(self, at_ps: int) -> None:
        if at_ps > self._position_ps:
            self.run_until(at_ps)

    async def _read(self, switch: str, entities: Sequence[p4r.Entity]) -> list[p4r.Entity]:
        return await (await self._session(switch)).read_messages(entities)

    async def _write(self, switch: str, updates: Sequence[p4r.Update]) -> None:
        await (await self._session(switch)).write_messages(updates)

    async def _session(self, switch: str) -> Session:
        """The connection to a switch, as its primary; the controller shares it."""
        if switch not in self._sessions:
            plan = self._plans[switch]
            if switch not in self._lines:
                made = connect(self._address, plan, self.planned.pipelines[switch])
                self._lines[switch] = await self._stack.enter_async_context(made)
            target = Target(self._address, plan.device_id, switch)
            session = Session(target, self._lines[switch].client, PATIENCE_S)
            await session.become_primary(ELECTION_ID)
            self._sessions[switch] = session
        return self._sessions[switch]

    async def _start_controlled(self) -> None:
        """Starts the part that proceeds by itself, and waits until it needs time to pass."""
        planned = self.planned
        of = Virtual(self.network, self._address, self._proceed)
        main = run_virtual(job_of(planned, self.label), of, planned.plan, planned.pipelines, self._lines.update)
        self._controlled = _Controlled(asyncio.ensure_future(main))
        with users_errors():
            await self._step(self._controlled, BEFORE_PS)

    async def _step(self, state: _Controlled, until_ps: int) -> None:
        """Lets the run proceed to a time; returns when it has reached it or ended."""
        state.until_ps, state.is_interrupted = max(until_ps, state.reached_ps), False
        if not state.task.done():
            state.at_limit.clear()
            state.may_go.set()
            at_limit = asyncio.ensure_future(state.at_limit.wait())
            await asyncio.wait({at_limit, state.task}, return_when=asyncio.FIRST_COMPLETED)
            at_limit.cancel()
        self._position_ps = state.reached_ps
        if state.task.done():
            self._left = state.task.result()

    async def _proceed(self, until_ps: int, to_message: bool) -> None:
        """Advances the network for its controller, up to the end of the step."""
        state = self._controlled
        if state is None:
            raise RuntimeError("the run proceeds before it begins")
        while state.until_ps <= state.reached_ps < until_ps:
            state.may_go.clear()
            state.at_limit.set()
            await state.may_go.wait()

        def look(*_: int) -> None:
            if state.is_interrupted:
                raise KeyboardInterrupt

        bound_ps = min(until_ps, state.until_ps)
        with run_errors(self.label):
            try:
                await asyncio.to_thread(self.network.advance, bound_ps, to_message, look)
            except KeyboardInterrupt:
                await asyncio.to_thread(self.network.advance, self.network.now_ps, False)
                state.until_ps = self.network.now_ps
        state.reached_ps = self.network.now_ps

    def _interrupt(self) -> None:
        if self._controlled is not None:
            self._controlled.is_interrupted = True

    async def _end(self) -> None:
        if self._controlled is not None:
            self._controlled.is_interrupted = True
            self._controlled.task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await self._controlled.task
        await self._stack.aclose()


def to_ps(time_ns: int, place: str) -> int:
    """A time in the engine's units; raises UserError unless it is a whole number of ns, 0 or more."""
    if isinstance(time_ns, bool) or not isinstance(time_ns, int) or time_ns < 0:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UserError(f"{time_ns!r} is not a time", place=place, remedy="give whole nanoseconds, 0 or more")
    return min(time_ns, MAX_TIME_NS) * _PS
