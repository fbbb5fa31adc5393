"""`--set key=value`: changes a scenario's data before it is checked."""

from __future__ import annotations

from typing import Any, cast

from p4cc.errors import UserError
from p4cc.scenario.yaml import parse_value

MAX_DEPTH = 16


def apply_overrides(data: dict[str, Any], assignments: list[str]) -> dict[str, Any]:
    """Returns `data` with each `dotted.path=value` applied in order; raises UserError for a path that leads nowhere.

    A value is YAML (`25`, `[1, 2]`, `{name: gst}`). Setting a swept field to one value ends its sweep, setting it to a
    list replaces the values swept. Steps into a list are positions, or names of items that have one.
    """
    changed: dict[str, Any] = _copy(data)
    for assignment in assignments:
        path, separator, text = assignment.partition("=")
        if not separator or not path:
            raise UserError(
                f"{assignment!r} is not key=value",
                place="--set",
                remedy="for example --set topology.buffer_pkts=100",
            )
        value = _value(assignment, text)
        if not _set_swept(changed, path, value):
            set_path(changed, path, value)
    return changed


def set_path(data: dict[str, Any], path: str, value: Any) -> None:
    """Sets one dotted path in place; raises UserError when an inner step does not exist."""
    steps = path.split(".")
    if len(steps) > MAX_DEPTH:
        raise UserError(f"{path!r} has more than {MAX_DEPTH} steps", place="--set", remedy="shorten the path")
    node: Any = data
    for depth, step in enumerate(steps[:-1]):
        inner = _child(node, step)
        if inner is None and isinstance(node, dict):
            inner = cast("dict[str, Any]", node).setdefault(step, {})
        if not isinstance(inner, dict | list):
            raise UserError(
                f"{'.'.join(steps[: depth + 1])!r} holds nothing that {path!r} could be set in",
                place="--set",
                remedy="see 'p4cc schema' for the keys of a scenario",
            )
        node = cast("Any", inner)
    if isinstance(node, list):
        items = cast("list[Any]", node)
        position = _position(items, steps[-1])
        if position is None:
            raise UserError(f"{path!r} names no item of its list", place="--set", remedy="give a position or a name")
        items[position] = value
    else:
        node[steps[-1]] = value


def _set_swept(data: dict[str, Any], path: str, value: Any) -> bool:
    """Handles a path that the scenario sweeps; tells whether it did so completely."""
    sweep = data.get("sweep")
    if not isinstance(sweep, dict) or path not in sweep:
        return False
    swept = cast("dict[str, Any]", sweep)
    if isinstance(value, list):
        swept[path] = value
        return True
    del swept[path]
    return False


def _value(assignment: str, text: str) -> Any:
    try:
        return parse_value(text)
    except ValueError as error:
        raise UserError(
            f"the value of {assignment!r} is not YAML", place="--set", remedy="quote it for the shell"
        ) from error


def _child(node: Any, step: str) -> Any:
    if isinstance(node, dict):
        return cast("dict[str, Any]", node).get(step)
    items = cast("list[Any]", node)
    position = _position(items, step)
    return None if position is None else items[position]


def _position(items: list[Any], step: str) -> int | None:
    if step.isdecimal() and int(step) < len(items):
        return int(step)
    for position, item in enumerate(items):
        if isinstance(item, dict) and cast("dict[str, Any]", item).get("name") == step:
            return position
    return None


def _copy(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _copy(value) for key, value in cast("dict[str, Any]", node).items()}
    if isinstance(node, list):
        return [_copy(value) for value in cast("list[Any]", node)]
    return node
