"""Values with units in a scenario's data (`topos.units`), wherever they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from topos.units import UnitError, parse

if TYPE_CHECKING:
    from p4cc.scenario.yaml import Location


def plain_numbers(data: dict[str, Any], errors: list[tuple[Location, str]]) -> dict[str, Any]:
    """`data` with plain numbers for values with units; what has a wrong unit stays and is added to `errors`."""
    return cast("dict[str, Any]", _walk(data, (), errors))


def _walk(node: Any, location: Location, errors: list[tuple[Location, str]]) -> Any:
    if isinstance(node, dict):
        held = cast("dict[str, Any]", node)
        return {key: _walk(value, (*location, key), errors) for key, value in held.items()}
    if isinstance(node, list):
        return [_walk(value, (*location, place), errors) for place, value in enumerate(cast("list[Any]", node))]
    field = next((step for step in reversed(location) if isinstance(step, str)), "")
    if not isinstance(node, str):
        return node
    try:
        number = parse(field, node)
    except UnitError as error:
        errors.append((location, str(error)))
        return node
    return node if number is None else number
