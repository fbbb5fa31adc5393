"""Results of checks, and how a property is tested.

Each property is tested with many random sequences; a violation is reported with the sequence's number and the step,
and the same command repeats the same sequences.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from p4cc import _engine
from p4cc.user_algorithms.failed import failed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SEQUENCES = 100


@dataclass(frozen=True)
class Finding:
    """Result for one property; `broken` describes the violation, empty if there is none."""

    name: str
    text: str
    broken: str = ""

    @property
    def holds(self) -> bool:
        """Whether the property holds."""
        return not self.broken


class BrokenError(Exception):
    """A property does not hold; the text says where."""


def tried(name: str, text: str, sequences: Callable[[random.Random], None], of: str = "random ACKs") -> Finding:
    """Tests a property with many random sequences; `of` names them in messages."""
    for number in range(SEQUENCES):
        try:
            sequences(random.Random(f"{name}/{number}"))  # noqa: S311 - no secret
        except BrokenError as error:
            return Finding(name, text, f"sequence {number}, {error}")
        except _engine.AlgorithmError as error:
            return Finding(name, text, f"sequence {number}: {failed(error, of).cause}")
    return Finding(name, text)


def same(run: Callable[[], Sequence[object]]) -> None:
    """Runs twice, with different global randomness and wall-clock time."""
    before = random.getstate()
    try:
        random.seed(1)
        first = run()
        random.seed(2)
        second = run()
    finally:
        random.setstate(before)
    for number, (one, other) in enumerate(zip_longest(first, second)):
        if one != other:
            advice = "use self.random and the virtual time (now_ns) instead of the random module and the wall clock"
            raise BrokenError(f"step {number}: {one} in the first run, {other} in the second; {advice}")
