"""A run with a controller: its world advances to the next instant with a scheduled item.

In virtual time the network waits meanwhile:

```
 network runs to T -> messages of T are sent -> due at T: requests take effect, handlers are called -> network runs on
```

T is the next scheduled instant, or the instant at which a switch has a message for the controller. All events of the
network at T come before those of the controller at T. In a lab nothing waits, and T is when p4cc reaches it.
docs/reference/controller.md has the rules.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from finsy import P4ClientError
from finsy.p4entity import decode_stream
from finsy.proto import p4r

from controller.client import refusal
from p4cc import _engine
from p4cc.control.agenda import CALL, FAULT, REQUEST, Agenda
from p4cc.control.changes import write_entry
from p4cc.control.faults import PortChange
from p4cc.control.load import told
from p4cc.control.situation import Situation
from p4cc.control.switch import DeferringClient, switch_over
from p4cc.control.thread import HandlerThread, TooLongError
from p4cc.control.world import Message
from p4cc.errors import UserError
from topos import plan_addresses

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from finsy import Switch

    from p4cc.control.controller import Controller
    from p4cc.control.faults import Faults
    from p4cc.control.line import SwitchLine
    from p4cc.control.load import ControllerClass
    from p4cc.control.switch import Change
    from p4cc.control.world import World
    from p4cc.planning.changes import TimedChange
    from p4cc.scenario.control import AnyLatency, ControlSettings
    from topos import Topology

T = TypeVar("T")
MAX_CALLS_AT_ONCE = 10_000
"""Limit of handler calls at one instant; more indicate a loop between controller and switches without latency."""
_PS = 1_000
_HANDLERS = {"packet": "on_packet_in", "digest": "on_digest", "idle_timeout_notification": "on_idle"}
"""Handlers of messages, which require the run to stop when a switch has one."""


@dataclass(frozen=True)
class Job:
    """Inputs of a run with a controller, in addition to its world."""

    topology: Topology
    chosen: ControllerClass
    settings: ControlSettings
    faults: Faults
    label: str
    """For people."""
    changes: tuple[TimedChange, ...] = ()
    """Entries to write during the run."""


@dataclass
class Counts:
    """Activity of a controller in a run."""

    calls: int = 0
    writes: int = 0
    packet_outs: int = 0


@dataclass(frozen=True)
class Controlled:
    """Results of a run with a controller, in addition to the network's."""

    counts: Counts
    rows: list[tuple[int, str | None, str, float]]
    """Rows of the table `control`: time in ns, switch, name, value."""
    without_program: frozenset[str]
    """Switches that are down or not reinstalled at the end."""
    calls_left_out: int = 0
    """Calls of `every` that a lab skipped because it was late."""


async def run_controlled(
    job: Job, world: World, lines: Mapping[str, SwitchLine], started: Callable[[], None] = lambda: None
) -> Controlled:
    """Runs to the end over open connections by switch; `started` is called after the controller's `start`.

    Raises UserError with the lines of a failed handler, SwitchError.
    """
    with HandlerThread(job.settings.handler_limit_s, job.chosen.file) as thread:
        run = _Run(job, world, lines, thread)
        try:
            await run.begin()
            started()
            await run.to_end()
        except P4ClientError as error:
            found = refusal(f"{job.label}: {run.where()}", error)
            raise UserError(found.cause, place=found.place, remedy=found.remedy) from error
        return Controlled(run.counts, run.situation.rows, frozenset(run.down), run.situation.calls_left_out)


class _Way:
    """One direction between a switch and the controller: each message has a latency, and none overtakes another."""

    def __init__(self, latency: AnyLatency, seed: int, name: str) -> None:
        spec = {"kind": "constant", "ns": latency} if isinstance(latency, int) else latency.model_dump()
        self._latency = _engine.Latency(json.dumps(spec), seed, name)
        self._last_ps = 0

    def arrival_ps(self, now_ps: int) -> int:
        """Arrival time of a message that is sent now."""
        self._last_ps = max(self._last_ps, now_ps + self._latency.draw_ps())
        return self._last_ps


class _Run:
    """State of one run."""

    def __init__(self, job: Job, world: World, lines: Mapping[str, SwitchLine], thread: HandlerThread) -> None:
        self.job = job
        self._world = world
        self._lines = lines
        self.counts = Counts()
        self.down: set[str] = set()
        """Switches without a program."""
        self._is_away = False
        self._thread = thread
        self._agenda = Agenda()
        self._calls_now = 0
        self._has_begun = False
        self._handler = "__init__"
        self._switch: str | None = None
        self._answers: dict[str, int] = {}
        """By switch: when the requests of the current handler take effect."""
        seed, settings = world.seed, job.settings
        self._to_switch = {name: _Way(settings.latency_ns, seed, f"control.{name}.requests") for name in lines}
        self._to_controller = {
            name: _Way(settings.notify_latency_ns, seed, f"control.{name}.notifications") for name in lines
        }
        loop = asyncio.get_running_loop()
        switches = {
            name: switch_over(line, DeferringClient(line, self, loop, job.chosen.file)) for name, line in lines.items()
        }
        addresses = plan_addresses(job.topology)
        self.situation = Situation(switches, job.topology, addresses, seed, self._agenda, self._call)
        self._controller: Controller | None = None

    def where(self, switch: str | None = None) -> str:
        """The handler, the switch and the instant, for messages."""
        kind = self.job.chosen.kind.__name__
        name = self._handler if self._handler.startswith(kind) else f"{kind}.{self._handler}"
        switch = switch or self._switch
        of_switch = f", switch {switch}" if switch is not None else ""
        return f"{name}{of_switch}, at {self.situation.now_ps / 1e6:.9g} us"

    async def begin(self) -> None:
        """Schedules the faults of the run, creates the controller and calls its `start`."""
        faults = self.job.faults
        for change in faults.ports:
            self._fail(change.at_ns, lambda change=change: self._port_changed(change))
        for restart in faults.restarts:
            self._fail(restart.down_ns, lambda name=restart.switch: self._switch_fell(name))
            self._fail(restart.installed_ns, lambda name=restart.switch: self._install(name))
        for absence in faults.absences:
            self._fail(absence.leaves_ns, self._leave)
            self._fail(absence.returns_ns, self._start)
        for change in self.job.changes:
            self._fail(change.at_ns, lambda change=change: self._change(change))
        await self._start()
        self._has_begun = True

    def _fail(self, at_ns: int | None, do: Callable[[], Awaitable[None]]) -> None:
        if at_ns is not None:
            self._agenda.add(at_ns * _PS, FAULT, do)

    async def _change(self, change: TimedChange) -> None:
        """Writes an entry of the scenario; raises UserError."""
        line = self._lines[change.switch]
        await write_entry(line, change.entry, f"{change.place} ({self.job.label})")

    async def _start(self) -> None:
        """Creates a controller and calls its `start`: at the beginning, and after an absence."""

        async def make() -> Controller:
            return self.job.chosen.make()

        self._is_away = False
        self._handler, self._switch = "__init__", None
        controller: Controller = await self._guarded(make())
        controller.attach(self.situation)
        self._controller = controller
        await self._call("start", controller.start)

    async def _leave(self) -> None:
        """The controller leaves."""
        self._is_away = True
        self._agenda.cancel_calls()

    async def _switch_fell(self, name: str) -> None:
        """A switch has lost its state."""
        self.down.add(name)
        self._tell(name, "on_switch_change", lambda one, to: one.on_switch_change(to, up=False))

    async def _install(self, name: str) -> None:
        """p4cc's controller installs a switch as at the start; raises SwitchError."""
        if await self._world.install(name):
            self._switch_is_back(name)

    def _switch_is_back(self, name: str) -> None:
        """A switch has its program and entries again."""
        self.down.discard(name)
        self._tell(name, "on_switch_change", lambda one, to: one.on_switch_change(to, up=True))

    async def to_end(self) -> None:
        """Advances the simulation or lab and runs due callbacks until it ends."""
        world, chosen = self._world, self.job.chosen
        hears = any(chosen.overrides(handler) for handler in _HANDLERS.values())
        while True:
            await world.run_to(self._agenda.next_ps(), hears=hears)
            self._now(world.now_ps)
            if world.has_ended:
                return
            await self._hear()
            until_ps = self.situation.now_ps
            while (due_now := self._agenda.take(until_ps)) is not None:
                # In a lab, earlier items took real time.
                self._now(world.now_ps)
                await due_now.do()

    def _now(self, now_ps: int) -> None:
        if now_ps != self.situation.now_ps:
            self._calls_now = 0
        self.situation.now_ps = now_ps

    async def _hear(self) -> None:
        """Receives the switches' messages of this instant, and schedules their delivery to the controller."""
        for news in await self._world.news():
            if isinstance(news, Message):
                self._note(news.switch, news.message)
            elif isinstance(news, PortChange):
                await self._port_changed(news)
            elif news.up:
                self._switch_is_back(news.switch)
            else:
                await self._switch_fell(news.switch)

    def _note(self, switch: str, message: p4r.StreamMessageResponse) -> None:
        name = _HANDLERS[str(message.WhichOneof("update"))]
        if self.job.chosen.overrides(name):
            decoded = decode_stream(message, self.situation.switches[switch].p4info)
            self._tell(switch, name, lambda one, to: getattr(one, name)(to, decoded))

    async def _port_changed(self, change: PortChange) -> None:
        self._tell(change.switch, "on_port_change", lambda one, to: one.on_port_change(to, change.port, up=change.up))

    def _tell(self, switch: str, name: str, call: Callable[[Controller, Switch], Awaitable[None]]) -> None:
        """Schedules a message to the controller, which receives it if present at its arrival."""
        if self._is_away or not self.job.chosen.overrides(name):
            return
        controller, to = self._made(), self.situation.switches[switch]
        at_ps = self._to_controller[switch].arrival_ps(self.situation.now_ps)
        self._agenda.add(at_ps, CALL, lambda: self._call(name, lambda: call(controller, to), switch))

    async def _call(self, name: str, handler: Callable[[], Awaitable[None]], switch: str | None = None) -> None:
        """Calls a handler and waits for it to finish."""
        self.counts.calls += 1
        self._calls_now += 1
        self._handler, self._switch, self._answers = name, switch, {}
        if self._calls_now > MAX_CALLS_AT_ONCE:
            raise UserError(
                f"{MAX_CALLS_AT_ONCE} calls of handlers at the same time: controller and switches answer each other "
                "endlessly",
                place=f"{self.job.label}: {self.where()}",
                remedy="set control.latency_ns or control.notify_latency_ns above 0",
            )

        async def run() -> None:
            await handler()

        await self._guarded(run())

    async def _guarded(self, work: Awaitable[T]) -> T:
        """Runs the user's code on its thread; raises UserError for its exceptions."""
        chosen = self.job.chosen

        async def run() -> T:
            try:
                return await work
            except SystemExit as error:
                raise RuntimeError(f"SystemExit: {error}; use control.absences to stop a controller") from error

        try:
            return await self._thread.call(run())
        except TooLongError as error:
            limit_s = self.job.settings.handler_limit_s
            at = f", now at {chosen.file}:{error.line}" if error.line else ""
            raise UserError(
                f"the handler took longer than {limit_s:g} s{at}",
                place=f"{chosen.text}: {self.where()} ({self.job.label})",
                remedy="look for an infinite loop, or increase control.handler_limit_s",
            ) from error
        except UserError:
            raise
        except Exception as error:
            raise UserError(
                f"the controller failed\n{told(error, chosen.file)}",
                place=f"{chosen.text}: {self.where()} ({self.job.label})",
                remedy="correct the controller",
            ) from error

    async def change(self, line: SwitchLine, message: Change, place: str) -> None:
        """Takes a request of the current handler: it takes effect immediately, or after its latency."""
        switch = line.plan.switch
        if isinstance(message, p4r.WriteRequest):
            self.counts.writes += 1
        else:
            self.counts.packet_outs += message.HasField("packet")
        now_ps = self.situation.now_ps
        at_ps = now_ps
        if self._has_begun:
            # One latency for all requests of a handler call to a switch, because they are one reaction.
            if switch not in self._answers:
                self._answers[switch] = self._to_switch[switch].arrival_ps(now_ps)
            at_ps = self._answers[switch]
        if at_ps == now_ps:
            await _apply(line, message, f"{place}: {self.where(switch)}")
            return
        asked = f"{place}: {self.where(switch)}"
        self._agenda.add(at_ps, REQUEST, lambda: self._take_effect(line, message, asked))

    async def _take_effect(self, line: SwitchLine, message: Change, asked: str) -> None:
        """A request takes effect after its latency."""
        switch = line.plan.switch
        at_us = self.situation.now_ps / 1e6
        try:
            await _apply(line, message, asked)
        except P4ClientError as error:
            if self._is_away:
                return
            controller = self._made()
            if self.job.chosen.overrides("on_refused"):
                refused = error
                to = self.situation.switches[switch]
                await self._call("on_refused", lambda: controller.on_refused(to, refused), switch)
                return
            found = refusal(asked, error)
            raise UserError(
                f"the switch refused the request when it took effect, at {at_us:.9g} us: {found.cause}",
                place=f"{found.place} ({self.job.label})",
                remedy=f"{found.remedy}; or override on_refused to continue",
            ) from error

    def _made(self) -> Controller:
        if self._controller is None:
            raise RuntimeError("the controller is created before the run starts")
        return self._controller


async def _apply(line: SwitchLine, message: Change, place: str) -> None:
    """Sends a request and waits for its completion; raises P4ClientError, or UserError for a refused stream message."""
    if isinstance(message, p4r.WriteRequest):
        await line.client.request(message)
        return
    error = await line.send(message)
    if error is not None:
        raise UserError(error.message, place=place, remedy="see the program's packet_out header, and switch.cpu_port")
