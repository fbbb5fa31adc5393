"""Attributes that the methods of a user's class set and read, from byte code, to find misspellings before a run."""

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
"""Minimum length of names for which two slips are tolerated."""


@dataclass(frozen=True)
class Assignment:
    """An attribute that a method sets."""

    name: str
    method: str
    file: str
    line: int


@dataclass(frozen=True)
class Attributes:
    """Attributes of a class."""

    assignments: tuple[Assignment, ...]
    read: frozenset[str]
    declared: frozenset[str]
    """Attributes that the class or the base declares, annotated or with a value."""

    @property
    def names(self) -> frozenset[str]:
        """All attributes that an object may have."""
        return self.declared | {one.name for one in self.assignments}

    def misspelt(self, base: type) -> tuple[Assignment, str] | None:
        """An assigned name that nothing reads and that is one slip away from an engine attribute of a `base`."""
        taken = _taken_by_the_engine(base)
        for one in self.assignments:
            if one.name in self.read or one.name in self.declared:
                continue
            for name in taken:
                if _slips(one.name, name) <= (1 if len(name) < _LONG else 2):
                    return one, name
        return None


def attributes_of(found: type, base: type) -> Attributes:
    """Uses of attributes of any object in the class and its bases, up to `base`."""
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
"""Functions of a class with their owners."""


def _codes(of: type) -> Iterator[tuple[str, types.CodeType]]:
    """The code of all methods, including nested functions."""
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
    engine = next(one for one in (_engine.WindowBase, _engine.RateBase, _engine.ReceiverBase) if issubclass(base, one))
    return sorted(name for name, value in vars(engine).items() if isinstance(value, types.GetSetDescriptorType))


def _slips(one: str, other: str) -> int:
    """Number of missing, extra, wrong or transposed letters: the optimal string alignment distance."""
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
