"""Advances a watched network in short steps, at its pace and no further than the controller allows.

The page's requests run between two steps, while the network is stopped. A change takes effect at the next whole
nanosecond, after all events of that instant and before anything else, so that a scenario can repeat it.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

from p4cc.errors import UserError
from p4cc.live.pace import ENDED
from p4cc.running.network_thread import NetworkThread

if TYPE_CHECKING:
    from p4cc.live.pace import Pace
    from p4cc.live.requests import JumpTarget
    from p4cc.running.progress import Runs

STEP_S = 0.095
"""Real time that one step should take: each gathers the network's events, which takes milliseconds."""
_LOOK_S = 0.02
"""Between two steps of a run that is ahead of its pace."""
_LEAST_STEP_PS, _MOST_STEP_PS = 1_000, 1_000_000_000_000
_IDLE_S = 1.0
"""Between two messages while time is stopped."""
_PS_PER_NS = 1_000
FOLLOW_PS = 10_000_000_000
"""How long a switch waits for packets to trace."""

News = Literal["drop", "mark", "pause", "followed"]
_AFTER_JUMP: dict[JumpTarget, str] = {
    "drop": "a switch dropped a packet",
    "mark": "a marked packet reached its receiver",
    "pause": "a switch sent a pause frame",
}


T = TypeVar("T")


@dataclass
class PendingCall:
    """A call that waits until the network is stopped."""

    run: Callable[[int, bool], Awaitable[None]]
    """Gets the instant up to which it may advance the network, and whether to stop at the first message."""
    fail: Callable[[UserError], None]
    at_next_ns: bool
    """Whether to wait for the next whole nanosecond."""


@dataclass(frozen=True)
class Steps(NetworkThread):
    """A network that advances in steps."""

    async def to_news(
        self, until_ps: int, to_message: bool, news: News, followed: tuple[int, int] | None = None
    ) -> bool:
        """Runs to an instant, or to the news if that comes first; returns whether it came."""
        came: list[bool] = []

        def call(look: Callable[[int, int, int, int, int], None]) -> None:
            came.append(self.network.advance_to_news(until_ps, to_message, news, look, followed))

        await self._on_thread(call)
        return came[0]


class Mover:
    """Virtual time of a watched run."""

    def __init__(self, steps: Steps, pace: Pace, observe: Callable[[], None]) -> None:
        """`observe` is called after each step, and now and then while time is stopped."""
        self.pace = pace
        self._network = steps.network
        self._steps = steps
        self._observe = observe
        self._calls: deque[PendingCall] = deque()
        self._step_ps = 1_000_000
        self.has_left: Callable[[], Awaitable[None]] | None = None
        """Awaited after the end of the run, before its switches go."""

    @property
    def label(self) -> str:
        """The run, for people."""
        return self._steps.label

    @property
    def runs(self) -> Runs:
        """Shows how far the run is."""
        return self._steps.runs

    async def call(self, call: Callable[[int, bool], Awaitable[T]], *, at_next_ns: bool = False) -> T:
        """Calls while the network is stopped and returns the result; raises UserError."""
        if self._network.has_ended:
            raise UserError("the run has ended", place="live page", remedy="run it again, and change it before its end")
        result: asyncio.Future[T] = asyncio.get_running_loop().create_future()

        async def run(until_ps: int, to_message: bool) -> None:
            value = await call(until_ps, to_message)
            if not result.done():
                result.set_result(value)

        def fail(error: UserError) -> None:
            if not result.done():
                result.set_exception(error)

        self._calls.append(PendingCall(run, fail, at_next_ns))
        self.pace.wakeup.set()
        return await result

    async def to_message(self, until_ps: int, to_message: bool) -> None:
        """Runs to an instant, with `to_message` to the first one at which a switch has a message; raises UserError."""
        network = self._network
        while network.now_ps < until_ps and not network.has_ended:
            if self._calls:
                if await self._serve(until_ps, to_message):
                    return
            elif not self.pace.is_moving:
                self._observe()
                await self._sleep(_IDLE_S)
            elif await self._move(until_ps, to_message):
                return
        if network.has_ended:
            await self._end()

    async def _move(self, until_ps: int, to_message: bool) -> bool:
        """Makes one step; returns whether a switch may have a message."""
        network, pace, before = self._network, self.pace, self._network.now_ps
        target = min(until_ps, before + self._step_ps)
        if pace.until_ps is not None:
            target = min(target, max(pace.until_ps, before))
        if (due := pace.due_ps(before)) is not None:
            target = min(target, due)
        if target <= before and pace.until_ps is None:
            self._observe()
            await self._sleep(_LOOK_S)
            return False
        began, jump = time.monotonic(), pace.jump
        has_news = False
        if jump is not None:
            has_news = await self._steps.to_news(target, to_message, jump)
        else:
            await self._steps.to_message(target, to_message)
        self._adapt(time.monotonic() - began)
        self._observe()
        now = network.now_ps
        if jump is not None and has_news and pace.jump == jump:
            pace.pause(_AFTER_JUMP[jump])
        elif pace.until_ps is not None and now >= pace.until_ps:
            pace.pause("a step was made")
        return to_message and not has_news and (now < target or now == before)

    def _adapt(self, took_s: float) -> None:
        """Fits the next step's length to the time that it may take."""
        factor = min(2.0, max(0.25, STEP_S / max(took_s, 1e-6)))
        self._step_ps = min(_MOST_STEP_PS, max(_LEAST_STEP_PS, int(self._step_ps * factor)))

    async def _serve(self, until_ps: int, to_message: bool) -> bool:
        """Runs the first call; returns whether a switch may have a message first."""
        pending, network = self._calls[0], self._network
        if pending.at_next_ns:
            at_ps = (network.now_ps // _PS_PER_NS + 1) * _PS_PER_NS
            target = min(until_ps, at_ps)
            await self._steps.to_message(target, to_message)
            if network.has_ended or target != at_ps or network.now_ps != at_ps:
                return to_message and network.now_ps < target
        self._calls.popleft()
        try:
            await pending.run(until_ps, to_message)
        except UserError as error:
            pending.fail(error)
        self._observe()
        return to_message

    async def follow(self, device_id: int, packets: int) -> list[str]:
        """Traces the next packets through a switch: a line of JSON per step. Advances time until they have left.

        Returns fewer packets where none come for `FOLLOW_PS` or something else is due first. Raises UserError.
        """

        async def trace(until_ps: int, to_message: bool) -> list[str]:
            network = self._network
            if not network.follow_next(device_id, packets):
                cause = "this run follows packets from their hosts"
                raise UserError(cause, place="trace", remedy="run it without record.trace")
            until_ps = min(until_ps, network.now_ps + FOLLOW_PS)
            await self._steps.to_news(until_ps, to_message, "followed", (device_id, packets))
            self.pace.pause("the switch was through with the packets")
            return network.take_followed(device_id, packets)

        return await self.call(trace)

    async def _sleep(self, span_s: float) -> None:
        self.pace.wakeup.clear()
        try:
            async with asyncio.timeout(span_s):
                await self.pace.wakeup.wait()
        except TimeoutError:
            return

    async def _end(self) -> None:
        """Refuses pending calls, and keeps the page for whoever still looks."""
        self.pace.end(ENDED, "all flows are complete, or the scenario's end is reached")
        while self._calls:
            self._calls.popleft().fail(UserError("the run has ended", place="live page", remedy="run it again"))
        self._observe()
        if self.has_left is not None:
            await self.has_left()
