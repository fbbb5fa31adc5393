"""Errors of a scenario in words: place, cause, and a valid alternative."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, get_args

from pydantic import BaseModel

from p4cc.errors import UserError
from p4cc.scenario import parts
from p4cc.scenario.base import dotted
from p4cc.scenario.schema import ScenarioModel

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic_core import ErrorDetails

    from p4cc.json_data import JsonObject, JsonValue
    from p4cc.scenario.overrides import Origins
    from p4cc.scenario.yaml import Document, Location


class Places:
    """Where a location of the data was written."""

    def __init__(self, document: Document, origins: Origins) -> None:
        self._document = document
        self._origins = origins

    @property
    def file(self) -> Path:
        """The scenario's file."""
        return self._document.path

    def of(self, location: Location) -> str:
        """The assignment that set the value or its parent, else file, line and column.

        If an assignment set a part of the wrong value, both are named.
        """
        for length in range(len(location), 0, -1):
            if location[:length] in self._origins:
                return self._origins[location[:length]]
        place = self._document.place(location)
        inside = dict.fromkeys(origin for where, origin in self._origins.items() if where[: len(location)] == location)
        return f"{place} with {', '.join(inside)}" if inside else place

    def of_key(self, location: Location) -> str:
        """As `of`, and the assignment that chose the kind of the key's parent: keys follow from the kind."""
        place, kind = self.of(location), self._origins.get((*location[:-1], "kind"))
        return place if kind is None or kind in place else f"{place} with {kind}"


def finding(places: Places, data: JsonObject, detail: ErrorDetails) -> str:
    """One error of pydantic's, with the field's description of valid values."""
    location = in_data(data, detail["loc"])
    part = parts.at(location, _kinds(data, location))
    see = f"see 'p4cc schema {part.path}'" if part is not None and part.path else "run 'p4cc schema'"
    cause = detail["msg"].removeprefix("Value error, ")
    remedy = ""
    match detail["type"]:
        case "extra_forbidden":
            cause, remedy = _unknown_key(data, location)
        case "union_tag_invalid":
            cause, remedy = _unknown_kind(part, str(detail.get("ctx", {}).get("tag", "")))
        case "union_tag_not_found":
            kinds = [] if part is None else parts.kinds_at(part)
            cause, remedy = "kind is missing", f"kinds: {', '.join(kinds)}"
        case "missing":
            about = "" if part is None else _about(part)
            cause, remedy = "is missing" + (f": {about}" if about else ""), _what_fits(location, part)
        case "value_error":
            pass
        case _ if not isinstance(detail["input"], dict | list):
            about = "" if part is None else _about(part)
            cause += f" (it is {detail['input']!r})" + (f": {about}" if about else "")
            remedy = _what_fits(location, part)
        case _:
            remedy = _what_fits(location, part)
    remedy = f"{remedy}; {see}" if remedy and detail["type"] != "extra_forbidden" else remedy or see
    where = places.of_key(location) if detail["type"] == "extra_forbidden" else places.of(location)
    return str(UserError(f"{dotted(location)}: {cause}", place=where, remedy=remedy))


def _unknown_key(data: JsonObject, location: Location) -> tuple[str, str]:
    known = _known_keys(data, location[:-1])
    close = difflib.get_close_matches(str(location[-1]), known, n=1)
    remedy = f"did you mean {close[0]!r}?" if close else f"known keys here: {', '.join(known)}"
    return f"unknown key {location[-1]!r}", remedy


def _unknown_kind(part: parts.Part | None, given: str) -> tuple[str, str]:
    known = [] if part is None else parts.kinds_at(part)
    close = difflib.get_close_matches(given, known, n=1)
    return f"unknown kind {given!r}", f"did you mean {close[0]!r}?" if close else f"kinds: {', '.join(known)}"


def _about(part: parts.Part) -> str:
    """The field's purpose: the first sentence of its description, as the end of a sentence."""
    return parts.about(part).rstrip(".")


def _what_fits(location: Location, part: parts.Part | None) -> str:
    """The allowed values."""
    name = next((step for step in reversed(location) if isinstance(step, str)), "")
    if part is None or not name:
        return ""
    kinds = parts.kinds_at(part)
    return f"kinds: {', '.join(kinds)}" if len(kinds) > 1 else f"give {parts.type_text(name, part.field)}"


def _kinds(data: JsonObject, location: Location) -> list[str | None]:
    """The kind that the data chose at each step."""
    found: list[str | None] = []
    node: JsonValue = data
    for step in location:
        node = _inner(node, step)
        kind = node.get("kind") if isinstance(node, dict) else None
        found.append(kind if isinstance(kind, str) else None)
    return found


def in_data(data: JsonObject, location: Location) -> Location:
    """A location without the names of union branches, which pydantic puts in and the data does not have."""
    found: list[int | str] = []
    node: JsonValue = data
    tagged = False
    for step in location:
        if not tagged and _is_branch(node, step, found):
            tagged = step not in ("one", "several")
            continue
        if found and not isinstance(node, dict | list):
            # Below a plain value there are only branches: the types that it could have had.
            break
        tagged = False
        found.append(step)
        node = _inner(node, step)
    return tuple(found)


def _is_branch(node: JsonValue, step: int | str, above: list[int | str]) -> bool:
    if above == ["traffic"] and step in ("one", "several"):
        return True
    # The kind of the transport has a default, so the data need not hold it.
    if above == ["transport"] and step in ("window", "rdma"):
        return True
    return isinstance(node, dict) and node.get("kind") == step


def _inner(node: JsonValue, step: int | str) -> JsonValue:
    if isinstance(node, dict):
        return node.get(str(step))
    if isinstance(node, list) and isinstance(step, int) and step < len(node):
        return node[step]
    return None


def _known_keys(data: JsonObject, location: Location) -> list[str]:
    """Keys that the model at `location` has."""
    models: list[type[BaseModel]] = [ScenarioModel]
    node: JsonValue = data
    for step in location:
        node = _inner(node, step)
        if not isinstance(step, int):
            models = [inner for model in models if step in model.model_fields for inner in _models_in(model, step)]
        models = [model for model in models if _is_of_kind(model, node)]
    return sorted({name for model in models for name in model.model_fields})


def _is_of_kind(model: type[BaseModel], node: JsonValue) -> bool:
    """Whether a union's member is the one that the data chose."""
    kinds = get_args(model.model_fields["kind"].annotation) if "kind" in model.model_fields else ()
    given = node.get("kind") if isinstance(node, dict) else None
    return not kinds or given is None or given in kinds


def _models_in(model: type[BaseModel], field: str) -> list[type[BaseModel]]:
    found: list[type[BaseModel]] = []
    pending: list[object] = [model.model_fields[field].annotation]
    while pending:
        kind = pending.pop()
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            found.append(kind)
        pending.extend(get_args(kind))
    return found
