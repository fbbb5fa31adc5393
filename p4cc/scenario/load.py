"""Plain data to a checked scenario, with file, line and column for everything that is wrong."""

from __future__ import annotations

import difflib
import json
from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel, ValidationError

from p4cc.errors import UserError
from p4cc.scenario.schema import Scenario

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from p4cc.scenario.yaml import Document, Location


def validate(document: Document, data: dict[str, Any]) -> Scenario:
    """Checks `data` against the schema; places come from `document`. Raises UserError with every finding."""
    try:
        return Scenario.model_validate_json(json.dumps(data))
    except ValidationError as error:
        findings = [_finding(document, detail) for detail in error.errors()]
        raise UserError("\n".join(findings)) from error


def _finding(document: Document, detail: ErrorDetails) -> str:
    location = tuple(step for step in detail["loc"] if not _is_tag(step))
    path = "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)
    cause = detail["msg"].removeprefix("Value error, ")
    remedy = ""
    if detail["type"] == "extra_forbidden":
        cause = f"unknown key {location[-1]!r}"
        known = _known_keys(location[:-1])
        close = difflib.get_close_matches(str(location[-1]), known, n=1)
        remedy = f"did you mean {close[0]!r}?" if close else f"known keys here: {', '.join(known)}"
    elif "input" in detail and not isinstance(detail["input"], dict | list):
        cause += f" (it is {detail['input']!r})"
    return str(UserError(f"{path}: {cause}", place=document.place(location), remedy=remedy or "see 'p4cc schema'"))


def _is_tag(step: int | str) -> bool:
    """Union branches appear in pydantic's locations but not in the file."""
    return step in ("over_sweep", "over_time")


def _known_keys(location: Location) -> list[str]:
    """Keys that the model at `location` has."""
    models: list[type[BaseModel]] = [Scenario]
    for step in location:
        if isinstance(step, int):
            continue
        models = [inner for model in models if step in model.model_fields for inner in _models_in(model, step)]
    return sorted({name for model in models for name in model.model_fields})


def _models_in(model: type[BaseModel], field: str) -> list[type[BaseModel]]:
    found: list[type[BaseModel]] = []
    pending: list[Any] = [model.model_fields[field].annotation]
    while pending:
        kind = pending.pop()
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            found.append(kind)
        pending.extend(get_args(kind))
    return found
