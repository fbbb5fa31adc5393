"""A scenario that Python made: as a mapping and as YAML, read from a file, changed, checked as a file is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from p4cc.bundled import find_scenario
from p4cc.scenario.load import check_network, validate
from p4cc.scenario.overrides import apply_overrides
from p4cc.scenario.yaml import document_of, read_document, yaml_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p4cc.scenario.overrides import Origins
    from p4cc.scenario.schema import Scenario
    from p4cc.scenario.yaml import Document

MADE = "scenario of Python"
"""Stands for the file in messages."""
_ALWAYS = ("kind", "name")


def mapping_of(scenario: Scenario) -> dict[str, Any]:
    """What a file would say: fields that differ from their defaults."""
    return cast("dict[str, Any]", _plain(scenario))


def loaded(name: str | Path, overrides: Sequence[str]) -> Scenario:
    """The scenario of a file, or an experiment of p4cc's, with changes; raises UserError."""
    path = find_scenario(name)
    return _checked(read_document(path), overrides, path.parent)


def changed(scenario: Scenario, overrides: Sequence[str]) -> Scenario:
    """A scenario with changes; raises UserError."""
    folder = scenario.place.parent
    return _checked(document_of(yaml_of(mapping_of(scenario)), scenario.place), overrides, folder)


def _checked(document: Document, overrides: Sequence[str], folder: Path) -> Scenario:
    origins: Origins = {}
    found = validate(document, apply_overrides(document.plain(), list(overrides), origins), origins)
    if not found.sweep:
        # What is swept may be absent until it has a value.
        check_network(document, found, origins)
    found.keep_place(folder / MADE)
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        held: dict[str, Any] = {}
        for name, field in type(value).model_fields.items():
            inner = getattr(value, name)
            is_default = not field.is_required() and inner == field.get_default(call_default_factory=True)
            if not is_default or (name in _ALWAYS and inner is not None):
                held[field.alias or name] = _plain(inner)
        return {**held, **(value.model_extra or {})}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in cast("dict[Any, Any]", value).items()}
    return to_jsonable_python(value)
