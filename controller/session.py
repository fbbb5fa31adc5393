"""The interface of an installation to a switch, over P4Runtime (`client`) or BF Runtime (`bfrt`).

`P_contra` is how a protocol knows a program: P4Runtime pushes one with its P4Info, BF Runtime names one that runs.
"""

from collections.abc import Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeVar

from controller.client import Target
from controller.entities import Entity, Scope, Update
from controller.plan import SwitchPlan


class AnyProgram(Protocol):
    """A program, as a session takes it."""

    def fills(self, scope: Scope) -> bool:
        """Whether it may have constant entries in these tables."""
        ...


P_contra = TypeVar("P_contra", bound=AnyProgram, contravariant=True)


class AnySession(Protocol[P_contra]):
    """An open way to one switch; each call ends in a value or one SwitchError, or PlanError."""

    target: Target

    async def become_primary(self, bid: int, /) -> None:
        """Become the one that may write: with an election id of P4Runtime, as a client of BF Runtime."""
        ...

    async def ensure_pipeline(self, pipeline: P_contra, /, *, is_new: bool = False) -> bool:
        """Have the switch run the program; True if it was pushed, so that all its state is new.

        A switch that `is_new` runs none yet, and need not be asked.
        """
        ...

    async def has_pipeline(self, pipeline: P_contra, /) -> bool:
        """Whether the switch runs this very program."""
        ...

    async def read(self, scope: Scope, pipeline: P_contra, /) -> tuple[Entity, ...]:
        """Everything that the switch holds of this scope."""
        ...

    async def write(self, batches: Sequence[Sequence[Update]], pipeline: P_contra, /) -> int:
        """Write the batches in order; the number of updates."""
        ...

    async def read_counter(self, name: str, cells: Iterable[int], pipeline: P_contra, /) -> dict[int, int]:
        """Packets counted in these cells of an indirect counter."""
        ...

    async def read_register(self, name: str, cells: Iterable[int], pipeline: P_contra, /) -> dict[int, int]:
        """Values of these cells of a register of bit strings."""
        ...


class AnyLine(Protocol[P_contra]):
    """A channel to a server, which sessions share."""

    def session(self, target: Target, timeout_s: float, /) -> AbstractAsyncContextManager[AnySession[P_contra]]:
        """A session with a switch of the server's."""
        ...


class AnyServer(Protocol[P_contra]):
    """Where switches are and how to talk to them."""

    @property
    def timeout_s(self) -> float:
        """Limit for each call."""
        ...

    @property
    def bid(self) -> int:
        """The bid of a session to become primary."""
        ...

    @property
    def at_once(self) -> int:
        """Switches that are served at the same time."""
        ...

    def target(self, plan: SwitchPlan, /) -> Target:
        """The switch of a plan."""
        ...

    def line(self) -> AbstractAsyncContextManager[AnyLine[P_contra]]:
        """A channel to the server."""
        ...
