"""One run that goes on as far as it is told: between two steps it is read, changed over P4Runtime, given packets.

Calls are not async; connections live on a loop of a thread of their own. Where a scenario has a controller, restarts
or changes of tables, these go on within the steps, each at its instant.

A copy is the same run again: all that was done to it is noted with its virtual time, and done to the copy too.
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
"""Before all events, those at time zero too."""


class Done(Protocol):
    """Something that was done to a run."""

    @property
    def at_ps(self) -> int:
        """When."""
        ...

    def to(self, run: StepDriver) -> None:
        """Does it to another run, which is at that time."""
        ...


@dataclass(frozen=True)
class Sent:
    """A packet that a host sent."""

    at_ps: int
    host: str
    packet: bytes
    priority: int

    def to(self, run: StepDriver) -> None:
        """Sends it again."""
        run.network.inject(self.host, self.packet, self.priority)


@dataclass(frozen=True)
class Entered:
    """A packet that came in at a port of a switch."""

    at_ps: int
    device_id: int
    port: int
    packet: bytes

    def to(self, run: StepDriver) -> None:
        """Lets it come in again."""
        run.network.inject_at_port(self.device_id, self.port, self.packet)


@dataclass(frozen=True)
class Written:
    """What was written to a switch."""

    at_ps: int
    switch: str
    updates: tuple[bytes, ...]
    """P4Runtime updates, serialized."""

    def to(self, run: StepDriver) -> None:
        """Writes it again."""
        run.write_now(self.switch, [p4r.Update.FromString(update) for update in self.updates])


def begin(planned: PlannedCase, seed: int, back_end: Exec | None = None) -> StepDriver:
    """Builds the network of a case, installs it over P4Runtime and begins its run; raises UserError."""
    base = build_network(planned.plan, planned.case.label(), back_end=back_end)
    installed = _Installed(base)
    installed.hold()
    loop = LoopThread("p4cc install")
    try:
        with users_errors():
            loop.call(Installer(server_at(installed.address), planned.plan, planned.pipelines).install(base))
        return StepDriver(planned, base, installed, seed)
    finally:
        loop.stop()
        installed.let_go()


class _Installed:
    """The network as it was installed, and its server: runs of it know from there what was pushed.

    It stays as it is, and stays until the last run of it is closed.
    """

    def __init__(self, network: _engine.Network) -> None:
        self.network = network
        self.address = serve(network)
        self._users = 0
        self._lock = threading.Lock()

    def hold(self) -> None:
        """One more needs it."""
        with self._lock:
            self._users += 1

    def let_go(self) -> None:
        """One needs it no more."""
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self.network.stop_server()


@dataclass
class _Controlled:
    """The part of a run that goes on by itself within the steps, and where it may go."""

    task: asyncio.Task[Controlled]
    until_ps: int = BEFORE_PS
    reached_ps: int = BEFORE_PS
    may_go: asyncio.Event = field(default_factory=asyncio.Event)
    stands: asyncio.Event = field(default_factory=asyncio.Event)
    is_interrupted: bool = False


class StepDriver:
    """A run of a network that was installed."""

    def __init__(self, planned: PlannedCase, base: _engine.Network, installed: _Installed, seed: int) -> None:
        """A run of `base`, a network at time zero: the one that was installed, or a run of that begun anew.

        Raises UserError: traffic that is too much, a controller's `start` that fails.
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
        """All events up to this time are over; `BEFORE_PS` at the beginning."""
        return self._position_ps

    @property
    def has_ended(self) -> bool:
        """All flows are complete, or the scenario's end is there."""
        return self.network.has_ended

    def run_until(self, until_ps: int) -> None:
        """Handles all events up to a time, that of the last step or later.

        Ctrl-C ends it early, behind all events of an instant, and the run can go on from there: KeyboardInterrupt.
        Raises UserError where the run fails.
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
                # The rest of the instant at which it stands.
                self.network.advance(self.network.now_ps, False)
                raise

    def send(self, host: str, packet: bytes, priority: int) -> None:
        """Hands a packet to the interface of a host now; raises SpecError."""
        self.do(Sent(self._position_ps, host, packet, priority))

    def enter(self, switch: str, port: int, packet: bytes) -> None:
        """Lets a packet come in at a port of a switch now; raises SpecError."""
        self.do(Entered(self._position_ps, self._plans[switch].device_id, port, packet))

    def do(self, done: Done) -> None:
        """Does something now, and notes it for copies."""
        done.to(self)
        self._done.append(done)

    def read(self, switch: str, entities: Sequence[p4r.Entity]) -> list[p4r.Entity]:
        """All that a switch holds of what these describe, over P4Runtime; raises UserError."""
        with users_errors():
            return self._loop.call(self._read(switch, entities))

    def write(self, switch: str, updates: Sequence[p4r.Update]) -> None:
        """Writes to a switch over P4Runtime; raises UserError where it refuses."""
        plain = tuple(update.SerializeToString(deterministic=True) for update in updates)
        self.do(Written(self._position_ps, switch, plain))

    def write_now(self, switch: str, updates: Sequence[p4r.Update]) -> None:
        """As `write`, and notes nothing."""
        with users_errors():
            self._loop.call(self._write(switch, updates))

    def flows(self) -> pa.Table:
        """The engine's table of flows, whatever else is recorded."""
        return arrow_table(self.network.flow_result().table("flows"))

    def counters(self) -> ControlOutcome:
        """Thresholds and level counters of all ports now, and what a controller left once the run is over."""
        with users_errors():
            read = read_counters(server_at(self._address), self.planned.plan, self.planned.pipelines)
            table: pa.Table = self._loop.call(read)
        return (
            ControlOutcome({}, {"counters": table})
            if self._left is None
            else left_by(self.planned.controller, self._left, table)
        )

    def fork(self) -> StepDriver:
        """A run that stands where this one does and goes on by itself; takes as long as this one took so far."""
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
        """A run from time zero with another seed, whose switches begin with what they hold here now."""
        base = fork_network(self.network, seed, self.planned.case.label())
        return StepDriver(self.planned, base, self._installed, seed)

    def close(self) -> None:
        """Ends connections and server; does nothing where it was called before."""
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
        """The connection to a switch, of which it is primary: one for all, the controller's too."""
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
        """Begins what goes on by itself, and waits until it first waits for time to pass."""
        planned = self.planned
        of = Virtual(self.network, self._address, self._go_on)
        main = run_virtual(job_of(planned, self.label), of, planned.plan, planned.pipelines, self._lines.update)
        self._controlled = _Controlled(asyncio.ensure_future(main))
        with users_errors():
            await self._step(self._controlled, BEFORE_PS)

    async def _step(self, state: _Controlled, until_ps: int) -> None:
        """Lets the run go on to a time; comes back when it stands there, or has ended."""
        state.until_ps, state.is_interrupted = max(until_ps, state.reached_ps), False
        if not state.task.done():
            state.stands.clear()
            state.may_go.set()
            stands = asyncio.ensure_future(state.stands.wait())
            await asyncio.wait({stands, state.task}, return_when=asyncio.FIRST_COMPLETED)
            stands.cancel()
        self._position_ps = state.reached_ps
        if state.task.done():
            self._left = state.task.result()

    async def _go_on(self, until_ps: int, to_message: bool) -> None:
        """Moves the network on for its controller, no further than the step goes."""
        state = self._controlled
        if state is None:
            raise RuntimeError("the run goes on before it begins")
        while state.until_ps <= state.reached_ps < until_ps:
            state.may_go.clear()
            state.stands.set()
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
    """A time as the engine counts it; raises UserError for one that is no whole number of ns from 0 on."""
    if isinstance(time_ns, bool) or not isinstance(time_ns, int) or time_ns < 0:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UserError(f"{time_ns!r} is no time", place=place, remedy="give whole nanoseconds, 0 or more")
    return min(time_ns, MAX_TIME_NS) * _PS
