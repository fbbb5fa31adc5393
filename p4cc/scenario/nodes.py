"""YAML text to nodes that know their places: the only place that names the library which reads YAML.

Parts of YAML that scenarios do not use are errors at their places: aliases, tags, deep nesting, too large numbers.
Plain scalars are numbers, truth values and null as YAML 1.2 says (its core schema), with `_` between digits.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from yaml.events import Event

    from p4cc.json_data import JsonValue

MAX_DEPTH = 32
MAX_DIGITS = 64
"""Of a number, its sign and the like included."""

Scalar = str | int | float | bool | None
Mark = tuple[int, int]
"""Line and column, counted from 0."""
NOWHERE: Mark = (-1, -1)

_STR = "tag:yaml.org,2002:str"
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"true", "True", "TRUE"})
_FALSE = frozenset({"false", "False", "FALSE"})
_INT = re.compile(r"([-+]?)(?:(0b)([01_]+)|(0o)([0-7_]+)|(0x)([0-9a-fA-F_]+)|([0-9][0-9_]*))")
_FLOAT = re.compile(
    r"[-+]?(?:[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?|[0-9][0-9_]*[eE][-+]?[0-9]+|\.[0-9][0-9_]*(?:[eE][-+]?[0-9]+)?)"
)
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_BASES = {"0b": 2, "0o": 8, "0x": 16}


class YamlError(ValueError):
    """Invalid YAML, or YAML that scenarios do not allow; `line` and `column` count from 0, -1 if unknown."""

    def __init__(self, cause: str, remedy: str, line: int = -1, column: int = -1) -> None:
        super().__init__(cause)
        self.cause, self.remedy, self.line, self.column = cause, remedy, line, column


@dataclass(slots=True)
class Node:
    """A value, and the place of its key or of itself, counted from 0."""

    value: dict[str, Node] | list[Node] | Scalar
    line: int
    column: int

    def plain(self) -> JsonValue:
        """Dicts, lists and scalars without places."""
        if isinstance(self.value, dict):
            return {key: child.plain() for key, child in self.value.items()}
        if isinstance(self.value, list):
            return [child.plain() for child in self.value]
        return self.value


def parse(text: str) -> Node:
    """The one document of a text; raises YamlError."""
    # In C where PyYAML was built with libyaml: a hundred times as fast.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _composed(yaml.parse(text, Loader=loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = (mark.line, mark.column) if mark else NOWHERE
        raise YamlError(f"not YAML: {error.problem or error}", "correct the YAML at this line", *at) from error
    except yaml.YAMLError as error:
        raise YamlError(f"not YAML: {str(error).partition(chr(10))[0]}", "correct the YAML") from error


class _Open:
    """A mapping or a list whose end has not come."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.key: tuple[str, Mark] | None = None
        """Of a mapping: the key whose value comes next, and its mark."""


def _composed(events: Iterator[Event]) -> Node:
    root: Node | None = None
    stack: list[_Open] = []
    for event in events:
        mark = _mark(event)
        if isinstance(event, yaml.DocumentStartEvent) and root is not None:
            raise _error("a second YAML document begins here", "write one scenario per file", mark)
        if isinstance(event, yaml.AliasEvent):
            raise _error("YAML aliases (*name) are not allowed", "write the value out", mark)
        if isinstance(event, yaml.CollectionEndEvent):
            stack.pop()
            continue
        if not isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent):
            continue
        if event.tag not in (None, "!", _STR):
            raise _error(f"YAML tags ({event.tag[:60]}) are not allowed", "remove the tag", mark)
        above = stack[-1] if stack else None
        if above is not None and isinstance(above.node.value, dict) and above.key is None:
            above.key = _key(event, above.node.value), mark
            continue
        node = _node(event, mark if above is None or above.key is None else above.key[1])
        if above is None:
            root = node
        elif isinstance(above.node.value, dict) and above.key is not None:
            above.node.value[above.key[0]] = node
            above.key = None
        elif isinstance(above.node.value, list):
            above.node.value.append(node)
        if isinstance(event, yaml.CollectionStartEvent):
            if len(stack) >= MAX_DEPTH:
                raise _error(
                    f"the YAML is nested more than {MAX_DEPTH} levels deep",
                    "flatten it; a scenario needs five levels",
                    mark,
                )
            stack.append(_Open(node))
    return root or Node(None, 0, 0)


def _mark(event: Event) -> Mark:
    mark = event.start_mark
    return NOWHERE if mark is None else (mark.line, mark.column)


def _node(event: yaml.ScalarEvent | yaml.CollectionStartEvent, place: Mark) -> Node:
    if isinstance(event, yaml.CollectionStartEvent):
        return Node({} if isinstance(event, yaml.MappingStartEvent) else [], *place)
    is_text = event.tag == _STR or not event.implicit[0]
    return Node(event.value if is_text else _resolved(event.value, _mark(event)), *place)


def _key(event: Event, held: dict[str, Node]) -> str:
    if not isinstance(event, yaml.ScalarEvent):
        raise _error("a key must be a string, but this is a list or a mapping", "write KEY: VALUE", _mark(event))
    key = str(event.value)
    if key in held:
        first = held[key]
        cause = f"duplicate key {key[:60]!r}, first given in line {first.line + 1}"
        raise _error(cause, "remove one of them", _mark(event))
    return key


def _resolved(text: str, mark: Mark) -> Scalar:
    """Value of a plain scalar."""
    if text in _NULL:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if (found := _INT.fullmatch(text)) is not None:
        return _integer(found, mark)
    if _FLOAT.fullmatch(text) is not None:
        value = float(text.replace("_", "")) if len(text) <= MAX_DIGITS else math.inf
        if not math.isfinite(value):
            raise _number_error(text, mark)
        return value
    if _NOT_FINITE.fullmatch(text) is not None:
        raise _error(f"{text} is not a valid number", "give a finite number", mark)
    return text


def _integer(found: re.Match[str], mark: Mark) -> int | str:
    sign, digits = found[1], next(part for part in (found[3], found[5], found[7], found[8]) if part is not None)
    base = _BASES.get(found[2] or found[4] or found[6] or "", 10)
    bare = digits.replace("_", "")
    if len(bare) > MAX_DIGITS:
        raise _number_error(found[0], mark)
    # Underscores alone are a word.
    return int(sign + bare, base) if bare else found[0]


def _number_error(text: str, mark: Mark) -> YamlError:
    shown = text if len(text) <= MAX_DIGITS else f"{text[:16]}… with {len(text)} characters"
    return _error(f"the number {shown} is too large for any field", "give a smaller number", mark)


def _error(cause: str, remedy: str, mark: Mark) -> YamlError:
    return YamlError(cause, remedy, *mark)
