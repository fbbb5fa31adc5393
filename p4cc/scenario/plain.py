"""A part of a scenario as plain data, as a file would have it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

if TYPE_CHECKING:
    from p4cc.json_data import JsonValue

_ALWAYS = ("kind", "name")


def plain(value: object) -> JsonValue:
    """Fields that differ from their defaults, with kinds and names."""
    if isinstance(value, BaseModel):
        held: dict[str, JsonValue] = {}
        for name, field in type(value).model_fields.items():
            inner = getattr(value, name)
            is_default = not field.is_required() and inner == field.get_default(call_default_factory=True)
            if not is_default or (name in _ALWAYS and inner is not None):
                held[field.alias or name] = plain(inner)
        return {**held, **(value.model_extra or {})}
    if isinstance(value, list | tuple):
        return [plain(one) for one in cast("list[object]", value)]
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in cast("dict[object, object]", value).items()}
    return to_jsonable_python(value)
