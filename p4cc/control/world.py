"""The world of a controller's run: a network in virtual time, or a lab, behind one interface for `p4cc.control.run`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from finsy.proto import p4r

    from p4cc.control.faults import PortChange


@dataclass(frozen=True)
class Message:
    """A message from a switch to its controller."""

    switch: str
    message: p4r.StreamMessageResponse


@dataclass(frozen=True)
class SwitchChange:
    """A switch lost its state, or has been reinstalled by p4cc."""

    switch: str
    up: bool


class World(Protocol):
    """Time, and news from switches."""

    @property
    def seed(self) -> int:
        """Seed of the run's random streams."""
        ...

    @property
    def now_ps(self) -> int:
        """Current time in picoseconds."""
        ...

    @property
    def has_ended(self) -> bool:
        """Whether the run is over."""
        ...

    async def run_to(self, at_ps: int | None, *, hears: bool) -> None:
        """Advances to an instant (None: to the end), with `hears` to the first news if that is earlier."""
        ...

    async def news(self) -> Sequence[Message | PortChange | SwitchChange]:
        """The available news, each once, in order."""
        ...

    async def install(self, switch: str) -> bool:
        """Installs a restarted switch as at the start; False if news will report the installation."""
        ...
