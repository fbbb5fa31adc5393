"""Moves a watched network on in stretches: as its pace says, and no further than what the controller needs.

What the page asks is done between two stretches, while the network stands still. A change takes effect at the next
whole nanosecond, behind all events of that instant, and before anything else is due: so a scenario can repeat it.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from p4cc.errors import UserError
from p4cc.live.pace import ENDED
from p4cc.running.network_thread import NetworkThread

if TYPE_CHECKING:
    from p4cc import _engine
    from p4cc.live.pace import Pace
    from p4cc.running.progress import Runs

STRETCH_S = 0.095
"""Real time that one stretch should take: each gathers the network's events, which takes milliseconds."""
_LOOK_S = 0.02
"""Between two stretches of a run that is ahead of its pace."""
_LEAST_STRETCH_PS, _MOST_STRETCH_PS = 1_000, 1_000_000_000_000
_IDLE_S = 1.0
"""Between two messages while time stands still."""
_PS_PER_NS = 1_000
FOLLOW_PS = 10_000_000_000
"""How long a switch may wait for packets that it follows."""

News = Literal["drop", "mark", "pause", "followed"]
_AFTER_JUMP = {
    "drop": "a switch dropped a packet",
    "mark": "a marked packet reached its receiver",
    "pause": "a switch sent a pause frame",
}


@dataclass
class Asked:
    """Something that the page asks for and that needs the network to stand still."""

    do: Callable[[int, bool], Awaitable[Any]]
    """Is told how far it may move the network, and whether to the first message only."""
    done: asyncio.Future[Any]
    at_next_ns: bool
    """Whether it is due at the next whole nanosecond."""


@dataclass(frozen=True)
class Stretches(NetworkThread):
    """A network that moves on in stretches."""

    async def to_news(
        self, until_ps: int, to_message: bool, news: News, followed: tuple[int, int] | None = None
    ) -> bool:
        """Runs to an instant, or to the news if that comes first; whether it came."""
        found: list[bool] = []

        def call(look: Callable[[int, int, int, int, int], None]) -> None:
            found.append(self.network.advance_to_news(until_ps, to_message, news, look, followed))

        await self._on_thread(call)
        return found[0]


class Mover:
    """Virtual time of a watched run."""

    def __init__(
        self, network: _engine.Network, progress: tuple[str, Runs], pace: Pace, seen: Callable[[], None]
    ) -> None:
        """`seen` is called after each stretch, and now and then while time stands still."""
        self.pace = pace
        self._network = network
        self._stretches = Stretches(network, *progress)
        self._seen = seen
        self._asked: deque[Asked] = deque()
        self._stretch_ps = 1_000_000
        self.has_left: Callable[[], Awaitable[None]] | None = None
        """Waited for when the run has ended, before its switches go."""

    @property
    def label(self) -> str:
        """The run, for people."""
        return self._stretches.label

    @property
    def runs(self) -> Runs:
        """Is told how far the run is."""
        return self._stretches.runs

    async def ask(self, do: Callable[[int, bool], Awaitable[Any]], *, at_next_ns: bool = False) -> Any:
        """Does something while the network stands still; what it gives. Raises UserError."""
        if self._network.has_ended:
            raise UserError("the run has ended", place="live page", remedy="run it again, and change it before its end")
        asked = Asked(do, asyncio.get_running_loop().create_future(), at_next_ns)
        self._asked.append(asked)
        self.pace.woken.set()
        return await asked.done

    async def to_message(self, until_ps: int, to_message: bool) -> None:
        """Runs to an instant, with `to_message` to the first one at which a switch has a message; raises UserError."""
        network = self._network
        while network.now_ps < until_ps and not network.has_ended:
            if self._asked:
                if await self._serve(until_ps, to_message):
                    return
            elif not self.pace.is_moving:
                self._seen()
                await self._sleep(_IDLE_S)
            elif await self._move(until_ps, to_message):
                return
        if network.has_ended:
            await self._end()

    async def _move(self, until_ps: int, to_message: bool) -> bool:
        """One stretch; whether a switch may have a message."""
        network, pace, before = self._network, self.pace, self._network.now_ps
        target = min(until_ps, before + self._stretch_ps)
        if pace.until_ps is not None:
            target = min(target, max(pace.until_ps, before))
        if (due := pace.due_ps(before)) is not None:
            target = min(target, due)
        if target <= before and pace.until_ps is None:
            self._seen()
            await self._sleep(_LOOK_S)
            return False
        began, jump = time.monotonic(), pace.jump
        found = False
        if jump is not None:
            found = await self._stretches.to_news(target, to_message, cast("News", jump))
        else:
            await self._stretches.to_message(target, to_message)
        self._adapt(time.monotonic() - began)
        self._seen()
        now = network.now_ps
        if found and pace.jump == jump:
            pace.pause(_AFTER_JUMP[str(jump)])
        elif pace.until_ps is not None and now >= pace.until_ps:
            pace.pause("a step was made")
        return to_message and not found and (now < target or now == before)

    def _adapt(self, took_s: float) -> None:
        """Makes the next stretch as long as it may take."""
        factor = min(2.0, max(0.25, STRETCH_S / max(took_s, 1e-6)))
        self._stretch_ps = min(_MOST_STRETCH_PS, max(_LEAST_STRETCH_PS, int(self._stretch_ps * factor)))

    async def _serve(self, until_ps: int, to_message: bool) -> bool:
        """Does the first thing that was asked for; whether a switch may have a message first."""
        asked, network = self._asked[0], self._network
        if asked.at_next_ns:
            at_ps = (network.now_ps // _PS_PER_NS + 1) * _PS_PER_NS
            # What else is due first comes first.
            target = min(until_ps, at_ps)
            await self._stretches.to_message(target, to_message)
            if network.has_ended or target != at_ps or network.now_ps != at_ps:
                return to_message and network.now_ps < target
        self._asked.popleft()
        try:
            found = await asked.do(until_ps, to_message)
        except UserError as error:
            _give(asked, error)
        else:
            _give(asked, found)
        self._seen()
        return to_message

    async def follow(self, device_id: int, packets: int) -> list[str]:
        """What a switch does with the next packets, a line of JSON for each step; time moves on until it is through.

        Fewer packets where none come for `FOLLOW_PS`, or something else is due first. Raises UserError.
        """

        async def do(until_ps: int, to_message: bool) -> list[str]:
            network = self._network
            if not network.follow_next(device_id, packets):
                cause = "this run follows packets from their hosts"
                raise UserError(cause, place="trace", remedy="run it without record.trace")
            until_ps = min(until_ps, network.now_ps + FOLLOW_PS)
            await self._stretches.to_news(until_ps, to_message, "followed", (device_id, packets))
            self.pace.pause("the switch was through with the packets")
            return network.take_followed(device_id, packets)

        return cast("list[str]", await self.ask(do))

    async def _sleep(self, span_s: float) -> None:
        self.pace.woken.clear()
        try:
            async with asyncio.timeout(span_s):
                await self.pace.woken.wait()
        except TimeoutError:
            return

    async def _end(self) -> None:
        """The run has ended: what was asked for too late is refused, and who looks may go on looking."""
        self.pace.end(ENDED, "all flows are complete, or the scenario's end is there")
        while self._asked:
            error = UserError("the run has ended", place="live page", remedy="run it again")
            _give(self._asked.popleft(), error)
        self._seen()
        if self.has_left is not None:
            await self.has_left()


def _give(asked: Asked, found: Any) -> None:
    """Hands over what was found, or an error, unless nobody waits any more."""
    if asked.done.done():
        return
    if isinstance(found, UserError):
        asked.done.set_exception(found)
    else:
        asked.done.set_result(found)
