"""Values with units anywhere in a scenario's data (`topos.units`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topos.units import UnitError, parse

if TYPE_CHECKING:
    from p4cc.json_data import JsonObject, JsonValue
    from p4cc.scenario.yaml import Location


def plain_numbers(data: JsonObject, errors: list[tuple[Location, str]]) -> dict[str, JsonValue]:
    """`data` with plain numbers for values with units; values with a wrong unit stay and are added to `errors`."""
    return {key: _walk(value, (key,), errors) for key, value in data.items()}


def _walk(node: JsonValue, location: Location, errors: list[tuple[Location, str]]) -> JsonValue:
    if isinstance(node, dict):
        return {key: _walk(value, (*location, key), errors) for key, value in node.items()}
    if isinstance(node, list):
        return [_walk(value, (*location, place), errors) for place, value in enumerate(node)]
    field = next((step for step in reversed(location) if isinstance(step, str)), "")
    if not isinstance(node, str):
        return node
    try:
        number = parse(field, node)
    except UnitError as error:
        errors.append((location, str(error)))
        return node
    return node if number is None else number
