"""Switches of a lab as a controller's world: connections that come back, messages and ports as they happen.

Time is the wall clock's from time 0 of the lab. Nothing waits for a handler: what comes meanwhile is kept, up to a
bound.
"""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from finsy import P4Client, P4ClientError
from finsy.proto import U128, p4r

from controller.client import Session, Target
from controller.defaults import DEFAULT_TIMEOUT_S
from controller.errors import SwitchError
from controller.install import install_switch
from controller.record import Recorder, file_recorder
from p4cc.control.faults import PortChange
from p4cc.control.line import ELECTION_ID, SwitchLine
from p4cc.control.world import Message, SwitchChange
from p4cc.errors import UserError
from p4cc.lab.clock import LabClock, read_clock
from p4cc.lab.controller import PAUSE_S, say, wait_for_port

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from google.protobuf.message import Message as ProtobufMessage

    from controller import SwitchPlan
    from controller.pipeline import Pipeline
    from p4cc.control.faults import Faults

MAX_NEWS = 100_000
"""Messages that wait for a controller; later ones are lost, and counted."""
_LINKS = 1
"""RTMGRP_LINK: the kernel's news of interfaces."""
_POLL_S = 0.02
News = Message | PortChange | SwitchChange


class LiveWorld:
    """The events of a lab, as the world of a run."""

    def __init__(self, seed: int, clock_folder: Path, faults: Faults) -> None:
        self.seed = seed
        self.faults = faults
        self.lost = 0
        """Messages for which there was no room."""
        self._folder = clock_folder
        self._clock: LabClock | None = None
        self._news: deque[News] = deque()
        self._woken = asyncio.Event()
        self._has_ended = False
        self._failed: Exception | None = None

    @property
    def now_ns(self) -> int:
        """Since time 0; 0 before it."""
        return max(0, self._clock.now_ns()) if self._clock is not None else 0

    @property
    def now_ps(self) -> int:
        """As `now_ns`."""
        return self.now_ns * 1_000

    @property
    def has_ended(self) -> bool:
        """Whether the lab ends."""
        return self._has_ended

    def end(self) -> None:
        """Ends the run."""
        self._has_ended = True
        self._woken.set()

    def fail(self, error: Exception) -> None:
        """Ends the run with an error."""
        self._failed = self._failed or error
        self._woken.set()

    def tell(self, news: News) -> None:
        """Takes an event."""
        if isinstance(news, Message):
            if len(self._news) >= MAX_NEWS:
                self.lost += 1
                return
            self._on_our_clock(news.message)
        self._news.append(news)
        self._woken.set()

    def _on_our_clock(self, message: p4r.StreamMessageResponse) -> None:
        """A daemon's times are since 1970."""
        start_ns = self._clock.start_ns if self._clock is not None else 0
        if message.HasField("digest"):
            message.digest.timestamp -= start_ns
        elif message.HasField("idle_timeout_notification"):
            message.idle_timeout_notification.timestamp -= start_ns

    async def wait_for_clock(self) -> None:
        """Returns once time 0 is known."""
        while self._clock is None:
            self._clock = read_clock(self._folder)
            await asyncio.sleep(_POLL_S)
        self._woken.set()

    async def run_to(self, at_ps: int | None, *, hears: bool) -> None:
        """Waits for an instant, for news or for the end; nothing is due before time 0."""
        del hears
        while not (self._has_ended or self._failed or self._news):
            self._woken.clear()
            left_s: float | None = None
            if self._clock is not None and at_ps is not None:
                left_s = at_ps / 1e12 - self._clock.now_ns() / 1e9
                if left_s <= 0:
                    break
            try:
                async with asyncio.timeout(left_s):
                    await self._woken.wait()
            except TimeoutError:
                continue
        if self._failed is not None:
            raise self._failed

    async def news(self) -> list[News]:
        """Events since the last call."""
        news = list(self._news)
        self._news.clear()
        return news

    async def install(self, switch: str) -> bool:
        """The switch's own connection does."""
        del switch
        return False

    async def wait_until_installed_again(self, switch: str) -> None:
        """Returns when a switch that a fault of the scenario restarted may be configured again."""
        for restart in self.faults.restarts:
            if restart.switch == switch and restart.installed_ns is not None and self.now_ns >= restart.down_ns:
                await asyncio.sleep(max(0, restart.installed_ns - self.now_ns) / 1e9)


@dataclass
class LiveLine(SwitchLine):
    """A connection to one switch of a lab, which is opened again whenever the switch comes back."""

    world: LiveWorld = field(kw_only=True)
    recorder: Recorder = field(kw_only=True)
    installed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the switch holds for the first time what p4cc installs."""
    came_up: Callable[[bool], None] = lambda _: None
    """Called whenever it holds that, with whether it has started anew."""
    is_up: bool = False
    """Whether it does, as far as its connection shows."""
    _bids: deque[asyncio.Future[p4r.MasterArbitrationUpdate]] = field(
        default_factory=deque[asyncio.Future[p4r.MasterArbitrationUpdate]]
    )
    _sending: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def serve(self) -> None:
        """Installs the switch and hears it, again whenever it comes back; does not end by itself."""
        while True:
            await wait_for_port(self.address)
            await self.world.wait_until_installed_again(self.plan.switch)
            try:
                await self._session()
            except (SwitchError, P4ClientError, RuntimeError) as error:
                say("lost", self.plan.switch, cause=str(error))
                await asyncio.sleep(PAUSE_S)
            except UserError as error:
                self.world.fail(error)
                return

    async def _session(self) -> None:
        """From the installation to the end of the stream."""
        client = P4Client(self.address, wait_for_ready=False)
        await client.open(complete_request=self._complete)
        try:
            session = Session(Target(self.address, self.plan.device_id, self.plan.switch), client, DEFAULT_TIMEOUT_S)
            await session.become_primary(ELECTION_ID)
            report = await install_switch(session, self.pipeline, self.plan)
            self.client, self.is_up = client, True
            say("installed", self.plan.switch, pushed=report.pipeline_pushed, updates=report.updates_written)
            if self.installed.is_set():
                self.world.tell(SwitchChange(self.plan.switch, up=True))
            # A switch that ran on has kept its program; only the connection was lost.
            self.came_up(report.pipeline_pushed)
            self.installed.set()
            while True:
                self._take(await client.receive())
        finally:
            self._give_up_bids()
            if self.is_up:
                self.is_up = False
                self.world.tell(SwitchChange(self.plan.switch, up=False))
            await client.close()

    def can_report(self) -> bool:
        """Whether the switch runs. Its end may show at its port before it shows at the connection."""
        if not self.is_up:
            return False
        host, _, port = self.address.rpartition(":")
        with socket.socket() as probe:
            return probe.connect_ex((host, int(port))) == 0

    def _take(self, message: p4r.StreamMessageResponse) -> None:
        """A message of the stream goes to who waits for it."""
        if message.HasField("arbitration"):
            if self._bids:
                self._bids.popleft().set_result(message.arbitration)
        elif message.HasField("error"):
            self.errors.append(message.error)
        elif message.WhichOneof("update") in ("packet", "digest", "idle_timeout_notification"):
            self.world.tell(Message(self.plan.switch, message))

    def _give_up_bids(self) -> None:
        while self._bids:
            self._bids.popleft().cancel()

    async def send(self, message: p4r.StreamMessageRequest) -> p4r.StreamError | None:
        """Sends a stream message; returns the switch's error, if any."""
        async with self._sending:
            self.recorder(message)
            return await super().send(message)

    async def arbitrate(self) -> None:
        """Asks to be primary again, and waits for the answer; raises UserError, SwitchError where there is none."""
        bid = p4r.MasterArbitrationUpdate(device_id=self.plan.device_id, election_id=U128.encode(ELECTION_ID))
        waiter: asyncio.Future[p4r.MasterArbitrationUpdate] = asyncio.get_running_loop().create_future()
        self._bids.append(waiter)
        await self.client.send(p4r.StreamMessageRequest(arbitration=bid))
        place = f"{self.plan.switch}: packet-out"
        try:
            async with asyncio.timeout(DEFAULT_TIMEOUT_S):
                await asyncio.wait([waiter])
        except TimeoutError:
            raise SwitchError(place, "no answer", "see the log of the switch") from None
        if waiter.cancelled():
            raise SwitchError(place, "the switch has gone", "override on_switch_change to hear of it")
        self.check_primary(waiter.result())

    def _complete(self, message: ProtobufMessage) -> None:
        if isinstance(message, p4r.WriteRequest):
            message.election_id.CopyFrom(U128.encode(ELECTION_ID))
        self.recorder(message)


def live_line(world: LiveWorld, plan: SwitchPlan, pipeline: Pipeline, address: str, requests: Path) -> LiveLine:
    """A connection that `serve` opens; its requests go to a file of the folder `requests`."""
    recorder = file_recorder(requests / f"{plan.switch}-p4runtime-requests.jsonl", plan.switch)
    # Replaced as soon as the switch answers.
    client = P4Client(address, wait_for_ready=False)
    return LiveLine(plan, pipeline, address, client, world=world, recorder=recorder)


class PortWatch:
    """Tells a world which interfaces of switches go down and come up, as the kernel says.

    A switch that is down reports nothing, and nothing of that time once it is up again. One that ran on while its
    connection was broken reports how its ports differ from what was told.
    """

    def __init__(
        self, world: LiveWorld, interfaces: Mapping[tuple[str, int], str], lines: Mapping[str, LiveLine]
    ) -> None:
        """`interfaces`: by switch and port."""
        self._world = world
        self._interfaces = interfaces
        self._lines = lines
        self._told = {port: _is_up(interface) for port, interface in interfaces.items()}
        for name, line in lines.items():
            line.came_up = partial(self._came_up, name)
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        self._socket.setblocking(False)
        self._socket.bind((0, _LINKS))

    def start(self, loop: asyncio.AbstractEventLoop) -> Callable[[], None]:
        """Watches from now on; what ends it."""
        loop.add_reader(self._socket.fileno(), self._look)
        self._look()

        def stop() -> None:
            loop.remove_reader(self._socket.fileno())
            self._socket.close()

        return stop

    def _look(self) -> None:
        """The kernel says that something changed: what changed is looked up, so that no news can be missed."""
        try:
            while self._socket.recv(65_536):
                pass
        except OSError:
            # Nothing more, or more than the socket has room for.
            pass
        self._tell_changes()

    def _tell_changes(self) -> None:
        for (switch, port), interface in self._interfaces.items():
            up = _is_up(interface)
            if up != self._told[switch, port] and self._lines[switch].can_report():
                self._told[switch, port] = up
                self._world.tell(PortChange(self._world.now_ns, switch, port, up))

    def _came_up(self, switch: str, started_anew: bool) -> None:
        """A switch that has started anew begins with the present states of its ports."""
        if not started_anew:
            self._tell_changes()
            return
        self._told |= {at: _is_up(interface) for at, interface in self._interfaces.items() if at[0] == switch}


def _is_up(interface: str) -> bool:
    try:
        return Path(f"/sys/class/net/{interface}/operstate").read_text(encoding="ascii").strip() == "up"
    except OSError:
        return False
