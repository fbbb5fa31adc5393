"""A digest of all that a number hangs on: source's number, reading, measure, grid, base and defaults.

A field with the default that it had when the file of verdicts first saw it is left out, so that a new option changes
nothing, and a changed default changes every number whose scenario does not state the old value.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, cast

from pydantic import BaseModel
from pydantic_core import PydanticUndefined, to_jsonable_python

from p4cc.algorithms import entry_named
from p4cc.scenario.claims import Claim, CombineMeasure, Expectation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p4cc.json_data import JsonValue
    from p4cc.scenario.claims import Measure, Number
    from p4cc.scenario.schema import ScenarioModel

Defaults = dict[str, "JsonValue"]
"""`Model.field` or `algorithm.parameter` to its default."""

_TEXTS = frozenset({"title", "source", "figures", "reproduces", "own_transports"})
"""The fields of a scenario that are for readers only."""
_LENGTH = 12


def digest_of(number: Number, settings: JsonValue, measures: Mapping[str, tuple[Measure, JsonValue]]) -> str:
    """The digest of a number; `measures` are those that a combination may name, with their scenarios' settings."""
    asked: dict[str, JsonValue] = {"how": _how(number.measure, settings, measures)}
    if isinstance(number, Claim):
        asked |= {"paper": number.paper, "reading": number.reading, "grid_step": number.grid_step}
        asked |= {"bars": None if number.error_bars is None else [number.error_bars.low, number.error_bars.high]}
        asked |= {"comparable": not number.not_comparable}
        # Newer than the first digests, so only where they are given.
        newer = ("whole", "last_digit", "same_as", "derived")
        asked |= {name: value for name in newer if (value := getattr(number, name))}
    elif isinstance(number, Expectation):
        asked |= {"band": [number.band.min, number.band.max]}
        asked |= {"counted_by": number.counted_by} if number.counted_by else {}
    text = json.dumps(asked, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_LENGTH]


def _how(measure: Measure, settings: JsonValue, measures: Mapping[str, tuple[Measure, JsonValue]]) -> JsonValue:
    # A citation of sizes or bins asks nothing else; those of `where` were part of the digest before.
    made: JsonValue = measure.model_dump(mode="json", exclude_defaults=True, exclude={"source"})
    if not isinstance(measure, CombineMeasure):
        return [made, settings]
    parts = [measures[name] for name in (measure.of, measure.to) if name in measures]
    return [measure.kind, *(_how(part, held, measures) for part, held in parts)]


def settings_of(scenario: ScenarioModel, defaults: Defaults) -> JsonValue:
    """The scenario without default values; new defaults are added to the known ones."""
    names = [name for name in type(scenario).model_fields if name not in {*_TEXTS, "name"}]
    return {
        name: _plain(getattr(scenario, name), defaults) for name in names if not _is_usual(scenario, name, defaults)
    }


def _is_usual(model: BaseModel, name: str, defaults: Defaults) -> bool:
    """Whether a field has the default that it had when it was first seen."""
    given = type(model).model_fields[name].get_default(call_default_factory=True, validated_data={})
    if given is PydanticUndefined:
        return False
    usual = defaults.setdefault(f"{_name_of(type(model))}.{name}", to_jsonable_python(given))
    return to_jsonable_python(getattr(model, name)) == usual


def _name_of(model: type[BaseModel]) -> str:
    """As the JSON Schema has it."""
    return str(model.model_config.get("title") or model.__name__)


def _plain(value: object, defaults: Defaults) -> JsonValue:
    if isinstance(value, BaseModel):
        names = [
            name for name in type(value).model_fields if name not in _TEXTS and not _is_usual(value, name, defaults)
        ]
        made = {name: _plain(getattr(value, name), defaults) for name in names}
        made |= {name: _plain(one, defaults) for name, one in (value.model_extra or {}).items()}
        return made | _changed_parameters(made, defaults)
    if isinstance(value, dict):
        parts = cast("dict[object, object]", value)
        return {str(name): _plain(one, defaults) for name, one in parts.items()}
    if isinstance(value, list | tuple):
        return [_plain(one, defaults) for one in cast("list[object]", value)]
    return to_jsonable_python(value)


def _changed_parameters(made: Mapping[str, JsonValue], defaults: Defaults) -> dict[str, JsonValue]:
    """Parameters of the named algorithm that are not set and whose defaults have changed."""
    name = made.get("name")
    entry = entry_named(name) if isinstance(name, str) else None
    if entry is None:
        return {}
    return {
        one.name: one.default
        for one in entry.parameters
        if one.name not in made and defaults.setdefault(f"{entry.name}.{one.name}", one.default) != one.default
    }
