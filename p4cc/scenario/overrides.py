"""`--set key=value`: changes a scenario's data before it is checked."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from p4cc.errors import UserError
from p4cc.scenario.variants import named_variants
from p4cc.scenario.yaml import Location, parse_value

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
    from pathlib import Path

    from p4cc.json_data import JsonObject, JsonValue

MAX_DEPTH = 16
_SWEEP = "sweep."
_STEP = re.compile(r"[^.\[\]]+")


Container: TypeAlias = "dict[str, JsonValue] | list[JsonValue]"
Origins = dict[Location, str]
"""Origins of values that are not from the file: location to place, such as `--set seeds=[1]`."""


@contextmanager
def named_by(origins: Mapping[Location, str], scenario: Path) -> Generator[None]:
    """Reports an error at a field of this scenario at the assignment that set the field's value."""
    try:
        yield
    except UserError as error:
        file, at, field = error.place.partition(" at ")
        if at and file == str(scenario) and (place := _origin(origins, field)) is not None:
            error.place = place
        raise


def _origin(origins: Mapping[Location, str], field: str) -> str | None:
    """The assignment that set a field such as `traffic[0].sources`, or a part that it is in."""
    steps = [int(step) if step.isdecimal() else step for step in _STEP.findall(field)]
    parts = [tuple(steps[:end]) for end in range(len(steps), 0, -1)]
    return next((origins[part] for part in (*parts, (_SWEEP.rstrip("."), field)) if part in origins), None)


def apply_overrides(data: JsonObject, assignments: list[str], origins: Origins | None = None) -> dict[str, JsonValue]:
    """Returns `data` with each `dotted.path=value` applied in order; raises UserError for a path that leads nowhere.

    A value is YAML (`25`, `[1, 2]`, `{name: gst}`). Setting a swept field to one value ends its sweep, setting it to a
    list replaces the values swept. Steps into a list are positions, names of items that have one, or `*` for all items.
    `sweep.PATH=5,10` sweeps a field, whether the scenario does or not, and `sweep.PATH=null` ends that.
    `variant=NAME` replaces the variants by named ones. `origins` records which values came from which assignment.
    """
    changed = {key: _copy(value) for key, value in data.items()}
    for assignment in assignments:
        path, separator, text = assignment.partition("=")
        if not separator or not path:
            raise UserError(
                f"{assignment!r} is not key=value",
                place="--set",
                remedy="write it as, for example, --set topology.senders=25",
            )
        place = f"--set {assignment}"
        value = _value(assignment, text)
        if path == "variant":
            changed["variants"] = named_variants(changed, value)
            locations: list[Location] = [("variants",)]
        elif path.startswith(_SWEEP):
            swept = path.removeprefix(_SWEEP)
            _set_sweep(changed, swept, _listed(text, value), place)
            locations = [("sweep", swept)]
        elif _set_swept(changed, path, value):
            locations = [("sweep", path)]
        else:
            locations = set_path(changed, path, value, place)
        if origins is not None:
            origins.update(dict.fromkeys(locations, place))
    return changed


def assignments(changes: JsonObject | None, overrides: JsonObject) -> tuple[str, ...]:
    """`KEY=VALUE` of values by dotted path, and of keywords in which two underscores replace the dot.

    Raises UserError for a value that no file could have.
    """
    paths = {**(changes or {}), **{name.replace("__", "."): value for name, value in overrides.items()}}
    return tuple(f"{path}={plain_text(path, value)}" for path, value in paths.items())


def plain_text(place: str, value: JsonValue) -> str:
    """A value as JSON, which is YAML too; raises UserError for values without such a form."""
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        remedy = "give numbers, strings, lists or dictionaries of them"
        raise UserError(str(error), place=place, remedy=remedy) from error


def set_path(data: dict[str, JsonValue], path: str, value: JsonValue, place: str) -> list[Location]:
    """Sets one dotted path in place and returns what it set; raises UserError, at `place`, when it leads nowhere."""
    steps = path.split(".")
    if len(steps) > MAX_DEPTH:
        raise UserError(f"{path!r} has more than {MAX_DEPTH} steps", place=place, remedy="shorten the path")
    nodes: list[tuple[Location, Container]] = [((), data)]
    for depth, step in enumerate(steps[:-1]):
        inner = [child for location, node in nodes for child in _children(location, node, step)]
        nodes = [(location, node) for location, node in inner if isinstance(node, dict | list)]
        if not nodes:
            raise UserError(
                f"{'.'.join(steps[: depth + 1])!r} is not a mapping or list, so {path!r} cannot be set",
                place=place,
                remedy="see 'p4cc schema' for the keys of a scenario",
            )
    locations = [found for location, node in nodes for found in _set_last(location, node, steps[-1], value)]
    if not locations:
        raise UserError(
            f"{path!r} does not match any item of its list", place=place, remedy="give an index, a name or *"
        )
    return locations


def values_at(data: JsonValue, path: str) -> list[JsonValue]:
    """All values that a dotted path leads to; none where it leads nowhere."""
    nodes = [data]
    for step in path.split("."):
        inner: list[JsonValue] = []
        for node in nodes:
            if isinstance(node, dict) and step in node:
                inner.append(node[step])
            elif isinstance(node, list):
                inner += [node[position] for position in _positions(node, step)]
        nodes = inner
    return nodes


def _children(location: Location, node: Container, step: str) -> list[tuple[Location, JsonValue]]:
    """The value behind one step; missing keys are added to mappings."""
    if isinstance(node, dict):
        inner = node.get(step)
        if inner is None:
            inner = node[step] = {}
        return [((*location, step), inner)]
    return [((*location, position), node[position]) for position in _positions(node, step)]


def _set_last(location: Location, node: Container, step: str, value: JsonValue) -> list[Location]:
    if isinstance(node, dict):
        node[step] = _copy(value)
        return [(*location, step)]
    positions = _positions(node, step)
    for position in positions:
        node[position] = _copy(value)
    return [(*location, position) for position in positions]


def _set_swept(data: JsonObject, path: str, value: JsonValue) -> bool:
    """Handles a path that the scenario sweeps; tells whether it did so completely."""
    sweep = data.get("sweep")
    if not isinstance(sweep, dict) or path not in sweep:
        return False
    if isinstance(value, list):
        sweep[path] = value
        return True
    del sweep[path]
    return False


def _listed(text: str, value: JsonValue) -> list[JsonValue]:
    """The values of a sweep: a YAML list, or values with commas between them."""
    if "," in text and not isinstance(value, dict | list):
        value = parse_value(f"[{text}]")
    return value if isinstance(value, list) else [value]


def _set_sweep(data: dict[str, JsonValue], path: str, values: list[JsonValue], place: str) -> None:
    """Lets a field take several values; null ends its sweep."""
    sweep = data.get("sweep") or {}
    if not isinstance(sweep, dict):
        raise UserError("the scenario's sweep is not a mapping", place=place, remedy="see 'p4cc schema sweep'")
    if values == [None]:
        sweep.pop(path, None)
    else:
        # A swept field must exist to be set: a wrong path is reported as one of the command line.
        set_path(apply_overrides(data, []), path, None, place)
        sweep[path] = values
    data["sweep"] = sweep


def _value(assignment: str, text: str) -> JsonValue:
    try:
        return parse_value(text)
    except ValueError as error:
        raise UserError(
            f"the value of {assignment!r} is not valid YAML",
            place="--set",
            remedy="quote it for YAML and for the shell",
        ) from error


def _positions(items: Sequence[JsonValue], step: str) -> list[int]:
    """Items of a list that a step means: one by its place or its name, or all."""
    if step == "*":
        return list(range(len(items)))
    if step.isdecimal() and int(step) < len(items):
        return [int(step)]
    for position, item in enumerate(items):
        if isinstance(item, dict) and step in (item.get("name"), item.get("kind")):
            return [position]
    return []


def _copy(node: JsonValue) -> JsonValue:
    if isinstance(node, dict):
        return {key: _copy(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_copy(value) for value in node]
    return node
