"""A graph of operations that wait for each other, as readers of files build it (docs/algorithms/traffic.md#operations).

Hosts are ranks, numbered from 0: whoever plans the traffic says which host a rank is.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from p4cc.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p4cc import spec

MAX_OPERATIONS = 1_000_000
MAX_RANKS = 16_384
_MOST_NAMED = 9
CollectiveOperation = Literal["all_reduce", "all_gather", "reduce_scatter", "all_to_all"]


@dataclass(frozen=True)
class Group:
    """A collective of some ranks."""

    operation: CollectiveOperation
    ranks: tuple[int, ...]
    size_bytes: int
    """The whole buffer, as NCCL's tests count it."""


@dataclass
class OperationGraph:
    """Operations by number, each with its place in a file."""

    ranks: int
    operations: list[spec.OperationSpec] = field(default_factory=list["spec.OperationSpec"])
    places: list[str] = field(default_factory=list[str])
    groups: list[Group] = field(default_factory=list[Group])

    def add(self, operation: spec.OperationSpec, place: str) -> int:
        """Adds an operation; its number."""
        if len(self.operations) == MAX_OPERATIONS:
            cause = f"there are more than {MAX_OPERATIONS} operations"
            raise UserError(cause, place=place, remedy="give a smaller file")
        self.operations.append(operation)
        self.places.append(place)
        return len(self.operations) - 1

    def check(self, whole: str | None = None) -> OperationGraph:
        """Itself; raises UserError with the place of an operation that waits for itself, over others or at once.

        `whole` is the file that must have operations, where it must.
        """
        if whole is not None and not self.operations:
            raise UserError("the file has no operations", place=whole, remedy="give a whole file with work to do")
        circle = _circle(self.operations)
        if circle:
            names = [self.operations[number].get("name") or str(number) for number in [*circle, circle[0]]]
            if len(names) > _MOST_NAMED:
                names[_MOST_NAMED - 2 : -1] = ["..."]
            cause = f"the operation never starts, as each of {' -> '.join(names)} waits for the next"
            raise UserError(cause, place=self.places[circle[0]], remedy="let one of them not wait for the next")
        return self

    @property
    def total_bytes(self) -> int:
        """Payload of all sends and pieces, at most."""
        sends = sum(one["work"]["size_bytes"] for one in self.operations if one["work"]["kind"] == "send")
        return sends + sum(2 * group.size_bytes * len(group.ranks) for group in self.groups)

    @property
    def total_ns(self) -> int:
        """Time of all computing, one after the other."""
        return sum(one["work"]["duration_ns"] for one in self.operations if one["work"]["kind"] == "compute")


def _circle(operations: Sequence[spec.OperationSpec]) -> list[int]:
    """Operations each of which waits for the next, and the last for the first; none if all can start."""
    waiting: defaultdict[int, list[int]] = defaultdict(list)
    missing: list[int] = []
    for number, one in enumerate(operations):
        needs, of = one.get("needs"), _waits_for(one)
        missing.append(len(of) if needs is None else needs)
        for other in of:
            waiting[other].append(number)
    ready = deque(number for number, needs in enumerate(missing) if needs == 0)
    while ready:
        for number in waiting.get(ready.popleft(), ()):
            missing[number] -= 1
            if missing[number] == 0:
                ready.append(number)
    at = next((number for number, needs in enumerate(missing) if needs > 0), None)
    chain: dict[int, None] = {}
    while at is not None and at not in chain:
        chain[at] = None
        at = next(other for other in _waits_for(operations[at]) if missing[other] > 0)
    numbers = list(chain)
    return [] if at is None else numbers[numbers.index(at) :]


def _waits_for(one: spec.OperationSpec) -> list[int]:
    return [*one.get("after", ()), *one.get("after_arrival", ()), *one.get("after_start", ())]
