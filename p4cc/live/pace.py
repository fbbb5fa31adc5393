"""How virtual time passes while somebody watches: running, paused, a step, to the next event of a kind."""

from __future__ import annotations

import asyncio
import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from p4cc.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping

LEAST_SPEED, MOST_SPEED = 1e-9, 1e3
"""Virtual seconds in a real one."""
MAX_STEP_NS = 3_600_000_000_000
JUMPS = ("drop", "mark", "pause")
"""What virtual time can be led to."""
RUNNING, PAUSED, ENDED, FAILED = "running", "paused", "ended", "failed"
_PS_PER_S = 1_000_000_000_000


@dataclass
class Pace:
    """What was asked of virtual time; the run's loop reads it, the page's requests change it."""

    speed: float | None
    """Virtual seconds in a real one; None for as fast as it goes."""
    state: str = RUNNING
    why: str | None = None
    """Why it is paused or has ended, for people."""
    jump: str | None = None
    """News at which it pauses."""
    until_ps: int | None = None
    """Where a step ends."""
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when something was asked."""
    _anchor: tuple[float, int] | None = None
    """Real and virtual time from which the speed counts."""

    def ask(self, asked: Mapping[str, Any], now_ps: int) -> None:
        """Takes a request of the page; raises UserError."""
        if self.is_over:
            raise _refused("the run has ended", "run it again for another look")
        match asked.get("do"):
            case "pause":
                self.pause("paused from the page")
            case "run":
                self.go()
            case "step":
                self.go(until_ps=now_ps + _span_ns(asked.get("span_ns")) * 1_000)
            case "speed":
                self.speed = _speed(asked.get("speed"))
                self._anchor = None
            case "jump":
                self.go(jump=_one_of(asked.get("to")))
            case other:
                raise _refused(f"{other!r} is nothing to do", "pause, run, step, speed or jump")
        self.woken.set()

    def told(self) -> dict[str, Any]:
        """What messages say of it."""
        return {"state": self.state, "why": self.why, "speed": self.speed}

    def go(self, *, jump: str | None = None, until_ps: int | None = None) -> None:
        """Time passes from here on."""
        self.state, self.why, self.jump, self.until_ps = RUNNING, None, jump, until_ps
        self._anchor = None

    def pause(self, why: str) -> None:
        """Time stands still."""
        self.state, self.why, self.jump, self.until_ps = PAUSED, why, None, None

    def end(self, state: str, why: str | None) -> None:
        """Nothing follows."""
        self.pause(why or "")
        self.state, self.why = state, why
        self.woken.set()

    @property
    def is_moving(self) -> bool:
        """Whether time passes."""
        return self.state == RUNNING

    @property
    def is_over(self) -> bool:
        """Whether nothing follows."""
        return self.state in (ENDED, FAILED)

    def due_ps(self, now_ps: int) -> int | None:
        """How far virtual time should be by now, whole nanoseconds; None for as far as it goes.

        Jumps and steps go as fast as it goes.
        """
        if self.speed is None or self.jump is not None or self.until_ps is not None:
            return None
        real = time.monotonic()
        if self._anchor is None:
            self._anchor = (real, now_ps)
        began, began_ps = self._anchor
        ahead_ps = (real - began) * self.speed * _PS_PER_S
        # A machine that is too slow does not owe what it has missed.
        if ahead_ps - (now_ps - began_ps) > self.speed * _PS_PER_S:
            self._anchor = (real, now_ps)
            return now_ps + 1_000
        return (began_ps + int(ahead_ps)) // 1_000 * 1_000


def _refused(cause: str, remedy: str) -> UserError:
    return UserError(cause, place="control", remedy=remedy)


def _span_ns(given: Any) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= MAX_STEP_NS:
        raise _refused(f"{given!r} is no span", f"give span_ns, 1 to {MAX_STEP_NS}")
    return given


def _speed(given: Any) -> float | None:
    if given is None:
        return None
    is_number = isinstance(given, int | float) and not isinstance(given, bool) and math.isfinite(given)
    if not is_number or not LEAST_SPEED <= given <= MOST_SPEED:
        raise _refused(f"{given!r} is no speed", f"give a number from {LEAST_SPEED:g} to {MOST_SPEED:g}, or null")
    return float(given)


def _one_of(given: Any) -> str:
    if given not in JUMPS:
        raise _refused(f"{given!r} is nothing to jump to", f"give one of {', '.join(JUMPS)}")
    return str(given)
