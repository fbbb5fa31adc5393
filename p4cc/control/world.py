"""Where a controller's run goes on: a network in virtual time, or a lab. `p4cc.control.run` knows only this of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from finsy.proto import p4r

    from p4cc.control.faults import PortChange


@dataclass(frozen=True)
class Message:
    """What a switch sent to its controller."""

    switch: str
    message: p4r.StreamMessageResponse


@dataclass(frozen=True)
class SwitchChange:
    """A switch lost all that it had, or has what p4cc installs again."""

    switch: str
    up: bool


class World(Protocol):
    """Time, and what switches say."""

    @property
    def seed(self) -> int:
        """Of the run's random streams."""
        ...

    @property
    def now_ps(self) -> int:
        """The time, in picoseconds."""
        ...

    @property
    def has_ended(self) -> bool:
        """Nothing follows."""
        ...

    async def run_to(self, at_ps: int | None, *, hears: bool) -> None:
        """Goes on to an instant (None: to the end), with `hears` to the first news where that is earlier."""
        ...

    async def news(self) -> Sequence[Message | PortChange | SwitchChange]:
        """What there is to hear now, each once, in its order."""
        ...

    async def install(self, switch: str) -> bool:
        """Installs a switch that restarted as at the start; False where news will say that it has been installed."""
        ...
