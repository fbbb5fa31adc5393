"""Parts of what a page asks, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from p4cc.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PLACE = "live page"


def text_of(asked: Mapping[str, Any], key: str) -> str:
    """A name; raises UserError."""
    value = asked.get(key)
    if not isinstance(value, str) or not 0 < len(value) <= 256:
        raise UserError(f"{key} is no name", place=PLACE, remedy=f"give {key} as text")
    return value


def number_of(asked: Mapping[str, Any], key: str) -> int | None:
    """A whole number, None where none is given; raises UserError."""
    value = asked.get(key)
    if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
        raise UserError(f"{key} is no whole number", place=PLACE, remedy=f"give {key} as a number")
    return value


def list_of(asked: Mapping[str, Any], key: str) -> Sequence[Any]:
    """A list, empty where nothing is given; raises UserError."""
    value = asked.get(key, [])
    if not isinstance(value, list):
        raise UserError(f"{key} is no list", place=PLACE, remedy="give numbers")
    return value  # pyright: ignore[reportUnknownVariableType]


def mapping_of(asked: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Values by name, none where nothing is given; raises UserError."""
    value = asked.get(key, {})
    if not isinstance(value, dict):
        raise UserError(f"{key} is no object", place=PLACE, remedy="give values by name")
    return value  # pyright: ignore[reportUnknownVariableType]
