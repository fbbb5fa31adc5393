"""A pipe's use of the chip, read from the reports that p4c's Tofino back end writes next to the binary.

`manifest.json` lists the pipes and their files. `context.json` holds the tables with the stages that they came to,
`resources.json` the memories and units of each stage and the parsers' rows, `phv.json` the containers of the packet
header vector (PHV). All are checked as they are read: what is missing is an error with its file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, cast

from p4cc.errors import UserError

MAX_BYTES = 1 << 30
"""A report of more bytes is not read."""
REMEDY = "use a p4c whose Tofino back end is from 2025 or later"
Object = dict[str, object]
T = TypeVar("T")


@dataclass(frozen=True)
class Direction:
    """Ingress, egress or ghost of a pipe."""

    stages: int
    """The number of its last stage, counted from 1: so many the packet needs."""
    tables: int
    """Tables and conditions that have a stage."""
    parser_states: int
    parser_rows: int
    """Rows of the parser's TCAM: one for each transition, and one for each member of a value set."""


@dataclass(frozen=True)
class Containers:
    """Containers of one kind and width, of both directions."""

    kind: str
    width_bits: int
    used: int
    bits: int
    """Bits that hold a field at some time."""
    available: int


@dataclass(frozen=True)
class Memory:
    """One kind of memory or unit."""

    used: int
    available: int


@dataclass(frozen=True)
class Usage:
    """What one pipe takes."""

    pipe: str
    stages: int
    """Of the chip."""
    directions: dict[str, Direction]
    memories: dict[str, Memory]
    """By `sram`, `tcam`, `map_ram`, `meter_alu`, `statistics_alu`, `gateway`, `logical_table`."""
    phv: tuple[Containers, ...]

    @property
    def free_stages(self) -> int:
        """Stages behind the last one in use, by the longest direction."""
        return self.stages - max((one.stages for one in self.directions.values()), default=0)

    def phv_bits(self, width_bits: int) -> int:
        """Bits in containers of this width, of all kinds."""
        return sum(one.bits for one in self.phv if one.width_bits == width_bits)


# Kind, then in a stage's report: the object, its list, and what says how many there are.
_MEMORIES = (
    ("sram", "rams", "srams", ("nRows", "nColumns")),
    ("tcam", "tcams", "tcams", ("nRows", "nColumns")),
    ("map_ram", "map_rams", "maprams", ("nRows", "nUnits")),
    ("meter_alu", "meter_alus", "meters", ("nAlus",)),
    ("statistics_alu", "statistic_alus", "stats", ("nAlus",)),
    ("gateway", "gateways", "gateways", ("nRows", "nUnits")),
    ("logical_table", "logical_tables", "ids", ("size",)),
)


def read_usage(folder: Path) -> list[Usage]:
    """The pipes of a compilation that came to its end; raises UserError where a report is not as it should be."""
    manifest = _load(folder / "manifest.json")
    place = str(folder / "manifest.json")
    usages: list[Usage] = []
    for program in _list(manifest, "programs", place):
        for pipe in _list(program, "pipes", place):
            files = _object(pipe, "files", place)
            resources = _named(files, "resources", "type", "resources", place)
            phv = _named(files, "logs", "log_type", "phv", place)
            context = _text(_object(files, "context", place), "path", place)
            usages.append(_usage(_text(pipe, "pipe_name", place), folder / context, folder / resources, folder / phv))
    if not usages:
        raise UserError("the report has no pipe", place=place, remedy=REMEDY)
    return usages


def _usage(pipe: str, context: Path, resources: Path, phv: Path) -> Usage:
    place = str(resources)
    report = _object(_load(resources), "resources", place)
    mau = _object(report, "mau", place)
    stages = _number(mau, "nStages", place)
    return Usage(
        pipe,
        stages,
        _directions(_load(context), str(context), _object(report, "parser", place), place),
        _memories(_list(mau, "mau_stages", place), stages, place),
        _phv(_load(phv), str(phv), _object(report, "phv_containers", place), place),
    )


def _directions(context: Object, context_place: str, parser: Object, place: str) -> dict[str, Direction]:
    """Ingress and egress always, ghost where it has tables."""
    last: dict[str, int] = {"ingress": 0, "egress": 0}
    tables: dict[str, int] = {}
    for table in _list(context, "tables", context_place):
        stages = list(_stages_of(table))
        if stages:
            direction = _text(table, "direction", context_place)
            last[direction] = max(last.get(direction, 0), max(stages) + 1)
            if _text(table, "table_type", context_place) in ("match", "condition"):
                tables[direction] = tables.get(direction, 0) + 1
    states: dict[str, set[str]] = {}
    rows: dict[str, int] = {}
    for one in _list(parser, "parsers", place):
        direction = _text(one, "gress", place)
        transitions = _list(one, "states", place)
        rows[direction] = rows.get(direction, 0) + len(transitions)
        states.setdefault(direction, set()).update(
            _text(transition, "previous_state_name", place) for transition in transitions
        )
    return {
        name: Direction(stages, tables.get(name, 0), len(states.get(name, ())), rows.get(name, 0))
        for name, stages in last.items()
    }


def _stages_of(node: object) -> Iterator[int]:
    """Stages of a table and its parts, at any depth; without the ingress buffer (phase 0)."""
    if isinstance(node, list):
        for one in cast("list[object]", node):
            yield from _stages_of(one)
    elif isinstance(node, dict):
        fields = cast("Object", node)
        memory = fields.get("memory_resource_allocation")
        in_buffer = isinstance(memory, dict) and cast("Object", memory).get("memory_type") == "ingress_buffer"
        stage = fields.get("stage_number")
        if isinstance(stage, int) and not in_buffer:
            yield stage
        for value in fields.values():
            yield from _stages_of(value)


def _memories(stages: list[Object], of_chip: int, place: str) -> dict[str, Memory]:
    """Sums over the stages; the report leaves out stages behind the last one in use."""
    sums: dict[str, Memory] = {}
    for kind, group, items, sizes in _MEMORIES:
        used = 0
        in_stage = 0
        for stage in stages:
            report = _object(stage, group, place)
            used += len(_list(report, items, place))
            in_stage = 1
            for size in sizes:
                in_stage *= _number(report, size, place)
        sums[kind] = Memory(used, in_stage * of_chip)
    return sums


def _phv(report: Object, place: str, containers: Object, containers_place: str) -> tuple[Containers, ...]:
    """By kind and width; containers that no field has are not in the report."""
    used: dict[tuple[str, int], list[int]] = {}
    for one in _list(report, "containers", place):
        width = _number(one, "bit_width", place)
        taken = 0
        for part in _list(one, "slices", place):
            bits = _object(part, "slice_info", place)
            low, high = _number(bits, "lsb", place), _number(bits, "msb", place)
            if not 0 <= low <= high < width:
                raise UserError(f"bits {low} to {high} of a container of {width}", place=place, remedy=REMEDY)
            taken |= ((1 << (high - low + 1)) - 1) << low
        if taken:
            used.setdefault((_text(one, "container_type", place), width), []).append(taken.bit_count())
    result: list[Containers] = []
    for kind in ("normal", "tagalong", "mocha", "dark"):
        for group in _list(containers, kind, containers_place) if kind in containers else ():
            width = _number(group, "width", containers_place)
            bits = used.get((kind, width), [])
            result.append(Containers(kind, width, len(bits), sum(bits), _number(group, "units", containers_place)))
    return tuple(result)


def _load(path: Path) -> Object:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise UserError(
                f"the report has more than {MAX_BYTES} bytes", place=str(path), remedy="give a smaller program"
            )
        value: object = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"cannot read: {error.strerror}", place=str(path), remedy=REMEDY) from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"is not valid JSON: {error}", place=str(path), remedy=REMEDY) from error
    if not isinstance(value, dict):
        raise UserError("is not a JSON object", place=str(path), remedy=REMEDY)
    return cast("Object", value)


def _named(files: Object, group: str, key: str, wanted: str, place: str) -> str:
    """The path of the JSON report that a list of files has under a type."""
    for one in _list(files, group, place):
        path = _text(one, "path", place)
        if one.get(key) == wanted and path.endswith(f"{wanted}.json"):
            return path
    raise UserError(f"{group} does not list the report {wanted}", place=place, remedy=REMEDY)


def _get(node: object, key: str, place: str) -> object:
    if not isinstance(node, dict) or key not in node:
        raise UserError(f"{key} is missing", place=place, remedy=REMEDY)
    return cast("Object", node)[key]


def _object(node: object, key: str, place: str) -> Object:
    return cast("Object", _of(dict, _get(node, key, place), key, place))


def _list(node: object, key: str, place: str) -> list[Object]:
    return cast("list[Object]", _of(list, _get(node, key, place), key, place))


def _text(node: object, key: str, place: str) -> str:
    return _of(str, _get(node, key, place), key, place)


def _number(node: object, key: str, place: str) -> int:
    value = _of(int, _get(node, key, place), key, place)
    if value < 0:
        raise UserError(f"{key} is negative", place=place, remedy=REMEDY)
    return value


def _of(kind: type[T], value: object, key: str, place: str) -> T:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise UserError(f"{key} is {type(value).__name__}, not {kind.__name__}", place=place, remedy=REMEDY)
    return value
