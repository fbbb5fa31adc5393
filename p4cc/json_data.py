"""JSON data."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

JsonValue: TypeAlias = "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"
JsonObject: TypeAlias = "Mapping[str, JsonValue]"


def mapping(value: JsonValue) -> JsonObject:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: JsonValue) -> Sequence[JsonValue]:
    """The items of a list; none of another value."""
    return value if isinstance(value, list) else []


def number(value: JsonValue) -> float | None:
    """The value if it is a number."""
    return value if isinstance(value, int | float) else None
