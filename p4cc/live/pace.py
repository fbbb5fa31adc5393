"""How virtual time passes while somebody watches: running, paused, a step, to the next event of a kind."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from p4cc.errors import UserError
from p4cc.live.messages import Status
from p4cc.live.requests import JumpRequest, PaceRequest, SpeedRequest, StepRequest

if TYPE_CHECKING:
    from p4cc.live.requests import ControlRequest, JumpTarget

RUNNING, PAUSED, ENDED, FAILED = "running", "paused", "ended", "failed"
_PS_PER_S = 1_000_000_000_000


@dataclass
class Pace:
    """How virtual time is to pass: the page's requests change it, the run's loop reads it."""

    speed: float | None
    """Virtual seconds per real second; None for full speed."""
    state: str = RUNNING
    why: str | None = None
    """Why it is paused or has ended, for people."""
    jump: JumpTarget | None = None
    """News at which it pauses."""
    until_ps: int | None = None
    """Where a step ends."""
    wakeup: asyncio.Event = field(default_factory=asyncio.Event)
    """Set by every request."""
    _anchor: tuple[float, int] | None = None
    """Real and virtual time from which the speed counts."""

    def take(self, request: ControlRequest, now_ps: int) -> None:
        """Obeys the page; raises UserError."""
        if self.is_over:
            raise UserError("the run has ended", place="control", remedy="run it again to watch it again")
        match request:
            case PaceRequest(do="pause"):
                self.pause("paused from the page")
            case PaceRequest():
                self.go()
            case StepRequest(span_ns=span_ns):
                self.go(until_ps=now_ps + span_ns * 1_000)
            case SpeedRequest(speed=speed):
                self.speed = speed
                self._anchor = None
            case JumpRequest(to=target):
                self.go(jump=target)
        self.wakeup.set()

    def status(self) -> Status:
        """As messages have it."""
        return Status(state=self.state, why=self.why, speed=self.speed)

    def go(self, *, jump: JumpTarget | None = None, until_ps: int | None = None) -> None:
        """Lets time pass."""
        self.state, self.why, self.jump, self.until_ps = RUNNING, None, jump, until_ps
        self._anchor = None

    def pause(self, why: str) -> None:
        """Stops time."""
        self.state, self.why, self.jump, self.until_ps = PAUSED, why, None, None

    def end(self, state: str, why: str | None) -> None:
        """Ends the run."""
        self.pause(why or "")
        self.state, self.why = state, why
        self.wakeup.set()

    @property
    def is_moving(self) -> bool:
        """Whether time passes."""
        return self.state == RUNNING

    @property
    def is_over(self) -> bool:
        """Whether the run has ended or failed."""
        return self.state in (ENDED, FAILED)

    def due_ps(self, now_ps: int) -> int | None:
        """How far virtual time should be by now, in whole nanoseconds; None for no limit.

        Jumps and steps run at full speed.
        """
        if self.speed is None or self.jump is not None or self.until_ps is not None:
            return None
        real = time.monotonic()
        if self._anchor is None:
            self._anchor = (real, now_ps)
        began, began_ps = self._anchor
        ahead_ps = (real - began) * self.speed * _PS_PER_S
        # A machine that is too slow does not catch up later.
        if ahead_ps - (now_ps - began_ps) > self.speed * _PS_PER_S:
            self._anchor = (real, now_ps)
            return now_ps + 1_000
        return (began_ps + int(ahead_ps)) // 1_000 * 1_000
