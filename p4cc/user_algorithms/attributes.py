"""What the methods of a user's class set and read, by their byte code: misspelt names are found before a run."""

from __future__ import annotations

import dis
import inspect
import types
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from p4cc import _engine

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONG = 8
"""Letters from which on two slips are one name."""


@dataclass(frozen=True)
class Assignment:
    """An attribute that a method sets."""

    name: str
    method: str
    file: str
    line: int


@dataclass(frozen=True)
class Attributes:
    """Those of a class."""

    assignments: tuple[Assignment, ...]
    read: frozenset[str]
    declared: frozenset[str]
    """By the class or the base, annotated or with a value."""

    @property
    def names(self) -> frozenset[str]:
        """All that an object may have."""
        return self.declared | {one.name for one in self.assignments}

    def misspelt(self, base: type) -> tuple[Assignment, str] | None:
        """An assignment that nothing reads and whose name is a slip away from what the engine takes of a `base`."""
        taken = _taken_by_the_engine(base)
        for one in self.assignments:
            if one.name in self.read or one.name in self.declared:
                continue
            for name in taken:
                if _slips(one.name, name) <= (1 if len(name) < _LONG else 2):
                    return one, name
        return None


def attributes_of(found: type, base: type) -> Attributes:
    """What the class and those that it derives from, up to `base`, do with attributes of any object."""
    assignments: list[Assignment] = []
    read: set[str] = set()
    for one in found.__mro__[: found.__mro__.index(base)]:
        for name, code in _codes(one):
            line = code.co_firstlineno
            for step in dis.get_instructions(code):
                if step.positions is not None and step.positions.lineno is not None:
                    line = step.positions.lineno
                if step.opname == "STORE_ATTR":
                    assignments.append(Assignment(str(step.argval), f"{one.__name__}.{name}", code.co_filename, line))
                elif step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                    read.add(str(step.argval))
    annotated = {name for one in found.__mro__ for name in inspect.get_annotations(one)}
    return Attributes(tuple(assignments), frozenset(read), frozenset(annotated | set(dir(found))))


_HOLDERS: tuple[tuple[type, str], ...] = (
    (staticmethod, "__func__"),
    (classmethod, "__func__"),
    (property, "fget"),
    (cached_property, "func"),
)
"""What holds a function of a class, and where."""


def _codes(of: type) -> Iterator[tuple[str, types.CodeType]]:
    """The code of all methods, with that of functions inside them."""
    for name, value in vars(of).items():
        held: object = value
        for kind, inner in _HOLDERS:
            if isinstance(value, kind):
                held = getattr(value, inner)
        if isinstance(held, types.FunctionType):
            waiting = [held.__code__]
            while waiting:
                code = waiting.pop()
                yield name, code
                waiting.extend(one for one in code.co_consts if isinstance(one, types.CodeType))


def _taken_by_the_engine(base: type) -> list[str]:
    engine = next(one for one in (_engine.WindowBase, _engine.RateBase) if issubclass(base, one))
    return sorted(name for name, value in vars(engine).items() if isinstance(value, types.GetSetDescriptorType))


def _slips(one: str, other: str) -> int:
    """Letters too many, too few, wrong or exchanged with the next: the distance of optimal string alignment."""
    rows = [list(range(len(other) + 1))]
    for i, letter in enumerate(one, 1):
        row = [i]
        for j, against in enumerate(other, 1):
            steps = [rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + (letter != against)]
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == against:
                steps.append(rows[i - 2][j - 2] + 1)
            row.append(min(steps))
        rows.append(row)
    return rows[-1][-1]
