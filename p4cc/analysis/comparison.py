"""Compares two results folders: settings that differ, and each metric with its spread over seeds. Pure.

Runs are compared if both folders have the variant at the same values of every field that either one sweeps; a field
that only one sweeps has, in the other, its value from the scenario. `RULE` says when a metric differs.
"""

from __future__ import annotations

import copy
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cached_property
from math import comb
from statistics import median
from typing import TYPE_CHECKING

from p4cc.errors import UserError
from p4cc.json_data import items, mapping, number
from p4cc.scenario import transports
from p4cc.scenario.expand import as_key, column_names
from p4cc.scenario.overrides import set_path, values_at
from p4cc.scenario.variants import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from p4cc.analysis.recorded import RecordedCase, Results
    from p4cc.json_data import JsonObject, JsonValue

RULE = (
    "a metric differs beyond the spread if every seed has a value, each side has at least two seeds, and the ranges "
    "from the smallest to the largest value over the seeds do not overlap; for n and m seeds of one distribution the "
    "probability of this is 2 n! m! / (n + m)!"
)
"""Printed by --json; also in docs/reference/results.md."""

NOT_METRICS = ("seed", "wall_s", "few_values", "algorithm")
"""Columns of summary.json that are not results of a run; `wall_s` is real time."""
_NO_SETTINGS = ("figures", "reproduces", "extends", "title", "source")
"""Parts of a scenario that affect no number."""

_LARGEST = 1e300

Point = tuple[tuple[str, str | int | float | bool], ...]
"""Swept paths with their values, sorted."""


class Verdict(StrEnum):
    """Verdict on a metric of two sides."""

    SAME = "same"
    WITHIN = "within"
    BEYOND = "beyond"
    ONE_SEED = "one seed"
    SOME_SEEDS = "some seeds"
    """Only some seeds have a value, which is not a fair sample."""
    ONLY_A = "only in A"
    ONLY_B = "only in B"


TELLS = (Verdict.BEYOND, Verdict.ONLY_A, Verdict.ONLY_B)
"""Verdicts of a difference that the seeds do not explain."""


@dataclass(frozen=True)
class Side:
    """A metric over the seeds of one folder that have a value."""

    seeds: int
    values: int
    median: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Compared:
    """A metric of both sides; None if the runs lack such a column."""

    metric: str
    a: Side | None
    b: Side | None
    verdict: Verdict


@dataclass(frozen=True)
class Pair:
    """One variant and point that both sides ran."""

    variant_a: str
    variant_b: str
    point: Point
    chance: float
    """Probability that ranges do not overlap although nothing differs."""
    metrics: list[Compared]

    @property
    def label(self) -> str:
        """For people: `DCTCP senders=40`."""
        variant = self.variant_a if self.variant_a == self.variant_b else f"{self.variant_a} with {self.variant_b}"
        return " ".join([variant, *_plain_point(self.point)])


@dataclass(frozen=True)
class Difference:
    """A setting that differs; a side that lacks it has no value in `values`."""

    name: str
    values: Mapping[str, JsonValue]
    """By side, `a` and `b`."""


@dataclass(frozen=True)
class Comparison:
    """The result of `p4cc compare`."""

    settings: list[Difference]
    pairs: list[Pair]
    only_a: list[str]
    only_b: list[str]
    warnings: list[str]

    @property
    def differs(self) -> bool:
        """Whether something differs that the seeds do not explain."""
        return any(one.verdict in TELLS for pair in self.pairs for one in pair.metrics)

    def plain(self) -> dict[str, object]:
        """The output of `--json`."""
        return {
            "rule": RULE,
            "warnings": self.warnings,
            "settings": [{"name": one.name, **one.values} for one in self.settings],
            "pairs": [
                {
                    "variant_a": pair.variant_a,
                    "variant_b": pair.variant_b,
                    "point": dict(pair.point),
                    "chance": pair.chance,
                    "metrics": [asdict(one) for one in pair.metrics],
                }
                for pair in self.pairs
            ],
            "only_in_a": self.only_a,
            "only_in_b": self.only_b,
        }


def compare(a: Results, b: Results, matched: Mapping[str, str] | None = None, only: Sequence[str] = ()) -> Comparison:
    """Compares two folders; `matched` maps variants of A to variants of B, `only` restricts the metrics.

    Raises UserError if nothing can be compared, or for an unknown name.
    """
    sides = (_Folder(a), _Folder(b))
    names = dict(matched or {})
    for side, given, flag in ((sides[0], names, "A"), (sides[1], names.values(), "B")):
        for name in given:
            if name not in side.variants:
                known = ", ".join(side.variants)
                raise UserError(
                    f"no variant {name!r} in {flag}", place="--match", remedy=f"variants of {flag}: {known}"
                )
    paths = sorted({*sides[0].swept, *sides[1].swept})
    of_a, of_b = (side.by_point(paths) for side in sides)
    pairs: list[Pair] = []
    for (variant, point), runs in of_a.items():
        other = names.get(variant, variant)
        if (result := of_b.get((other, point))) is not None:
            metrics = list(_metrics(runs, result, {*sides[0].keys, *sides[1].keys}))
            pairs.append(Pair(variant, other, point, chance(len(runs), len(result)), metrics))
    met_a = {(pair.variant_a, pair.point) for pair in pairs}
    met_b = {(pair.variant_b, pair.point) for pair in pairs}
    alone = [[_label(*key) for key in of if key not in met] for of, met in ((of_a, met_a), (of_b, met_b))]
    if not pairs:
        raise UserError(
            f"nothing that both ran\n  A: {_some(alone[0])}\n  B: {_some(alone[1])}",
            place=f"{a.folder} and {b.folder}",
            remedy="run the same variants and points, or name what to compare with --match VARIANT_OF_A=VARIANT_OF_B",
        )
    settings = [*_differences(*sides), *_installed(*sides, pairs, paths)]
    chosen = [_filtered(pair, only) for pair in pairs]
    return Comparison(settings, chosen, alone[0], alone[1], [*_warnings(a, b), *_transports(*sides, pairs)])


def chance(n: int, m: int) -> float:
    """Probability that the ranges of `n` and `m` values of one distribution do not overlap."""
    return min(1.0, 2 / comb(n + m, n))


class _Folder:
    """One side: the settings as applied, and its runs by point."""

    def __init__(self, results: Results) -> None:
        self.results = results
        run = results.run
        self.swept = list(run.scenario.sweep)
        self.variants = list(dict.fromkeys(case.variant for case in run.cases))
        star = {"senders"} if run.scenario.topology.get("kind") == "star" else set[str]()
        self.columns = column_names(self.swept)
        self.keys = {"variant", *star, *self.columns}
        """Columns that identify a run."""
        self.scenario: dict[str, JsonValue] = run.scenario.model_dump()
        first = {case.variant: case for case in reversed(run.cases)}
        self.scenario["variants"] = [
            {**variant, **({} if case is None else {kind: case.algorithms.get(kind) for kind in KINDS})}
            for variant in map(mapping, items(self.scenario["variants"]))
            for case in [first.get(str(variant["name"]))]
        ]

    def by_point(self, paths: Sequence[str]) -> dict[tuple[str, Point], dict[int, JsonObject]]:
        """Runs by variant and point, then by seed."""
        runs: dict[tuple[str, Point], dict[int, JsonObject]] = {}
        for row in self.results.rows:
            runs.setdefault((row.variant, self.point(row.columns, paths)), {})[row.seed] = row.columns
        return runs

    def point(self, row: JsonObject, paths: Sequence[str]) -> Point:
        """The values of the swept fields of a run or case."""
        names = self._names
        values = ((path, row.get(names[path]) if path in names else self._fixed(path)) for path in paths)
        return tuple((path, as_key(value)) for path, value in values)

    @cached_property
    def _names(self) -> dict[str, str]:
        return {path: name for name, path in self.columns.items()}

    def _fixed(self, path: str) -> JsonValue:
        """A field's value if this side does not sweep it and the path has the same value everywhere."""
        values = values_at(self.scenario, path)
        return values[0] if values and all(one == values[0] for one in values) else None

    def settings(self) -> dict[str, JsonValue]:
        """By dotted name: this p4cc, the input files' hashes, the applied scenario without swept fields."""
        run = self.results.run
        settings: dict[str, JsonValue] = {f"p4cc.{name}": value for name, value in run.p4cc.items()}
        settings |= {f"inputs.{file.name}.sha256": file.sha256 for file in run.inputs}
        scenario = copy.deepcopy(self.scenario)
        for path in self.swept:
            set_path(scenario, path, _SWEPT, str(self.results.folder))
        variants = map(mapping, items(scenario["variants"]))
        scenario["variants"] = [variant for variant in variants if variant["name"] in self.variants]
        settings.update(_flat("", {name: value for name, value in scenario.items() if name not in _NO_SETTINGS}))
        return settings


class _Swept(str):
    """Replaces a value that the sweep sets; known by its identity."""

    __slots__ = ()


_SWEPT = _Swept()


def _flat(name: str, node: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    """Leaves with their dotted names; list items by name if all have one."""
    prefix = f"{name}." if name else ""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from _flat(f"{prefix}{key}", value)
        return
    if any(isinstance(item, dict) for item in items(node)):
        names = [own for item in items(node) if isinstance(own := mapping(item).get("name"), str)]
        named = len(set(names)) == len(items(node))
        for position, item in enumerate(items(node)):
            yield from _flat(f"{prefix}{names[position] if named else position}", item)
    elif node is not _SWEPT:
        yield name, node


def _differences(side_a: _Folder, side_b: _Folder) -> Iterator[Difference]:
    """Names whose values differ, in A's order, then those only in B; a variant of one side is one line."""
    a, b = side_a.settings(), side_b.settings()
    alone = {
        name: side
        for side, of, other in (("a", side_a, side_b), ("b", side_b, side_a))
        for name in of.variants
        if name not in other.variants
    }
    for name, side in alone.items():
        yield Difference(f"variants.{name}", {side: name})
    for name in dict.fromkeys((*a, *b)):
        if any(name.startswith(f"variants.{variant}.") for variant in alone):
            continue
        values = {side: of[name] for side, of in (("a", a), ("b", b)) if name in of}
        if len(values) < 2 or values["a"] != values["b"]:
            yield Difference(name, values)


def _installed(a: _Folder, b: _Folder, pairs: Sequence[Pair], paths: Sequence[str]) -> Iterator[Difference]:
    """K and K_dc as installed, if they differ for the common runs."""

    def of(side: _Folder) -> dict[tuple[str, Point], RecordedCase]:
        return {(case.variant, side.point(case.model_extra or {}, paths)): case for case in side.results.run.cases}

    of_a, of_b = of(a), of(b)
    for pair in pairs:
        first, second = of_a.get((pair.variant_a, pair.point)), of_b.get((pair.variant_b, pair.point))
        if first is not None and second is not None and first.installed != second.installed:
            values = {side: [one.model_dump() for one in of.installed] for side, of in (("a", first), ("b", second))}
            yield Difference(f"installed.{pair.label}", values)


def _metrics(a: Mapping[int, JsonObject], b: Mapping[int, JsonObject], keys: set[str]) -> Iterator[Compared]:
    rows = [{seed: dict(_numbers(run, keys)) for seed, run in runs.items()} for runs in (a, b)]
    # A text counts as 1 in runs that have it and as 0 in the others.
    words = [name for of in rows for row in of.values() for name in row if "=" in name]
    of_a, of_b = (_by_metric(of, words) for of in rows)
    for metric in dict.fromkeys((*of_a, *of_b)):
        first, second = of_a.get(metric), of_b.get(metric)
        left, right = (None if one is None else _side(one) for one in (first, second))
        if not ((left and left.values) or (right and right.values)):
            continue
        yield Compared(metric, left, right, _verdict(first or {}, second or {}))


def _by_metric(
    rows: Mapping[int, Mapping[str, float | None]], words: Sequence[str]
) -> dict[str, dict[int, float | None]]:
    """Every number of the runs, by name and seed; None if a run lacks it."""
    names = dict.fromkeys([*(name for row in rows.values() for name in row), *words])
    absent = {name: 0.0 if name in words else None for name in names}
    return {name: {seed: row.get(name, absent[name]) for seed, row in rows.items()} for name in names}


def _numbers(run: JsonObject, keys: set[str]) -> Iterator[tuple[str, float | None]]:
    for name, value in run.items():
        if name in keys or name in NOT_METRICS:
            continue
        if isinstance(value, list):
            for position, item in enumerate(value, start=1):
                for inner, leaf in mapping(item).items():
                    yield f"{name}.{position}.{inner}", _comparable(leaf)
        elif isinstance(value, str):
            yield f"{name}={value}", 1.0
        elif value is None or isinstance(value, int | float):
            yield name, _comparable(value)


def _comparable(value: JsonValue) -> float | None:
    """A number that can be compared; None for anything else, for instance in an edited file."""
    return found if (found := number(value)) is not None and abs(found) < _LARGEST else None


def _side(values: Mapping[int, float | None]) -> Side:
    present = [value for value in values.values() if value is not None]
    if not present:
        return Side(len(values), 0, None, None, None)
    return Side(len(values), len(present), float(median(present)), float(min(present)), float(max(present)))


def _verdict(a: Mapping[int, float | None], b: Mapping[int, float | None]) -> Verdict:
    values = [[value for value in side.values() if value is not None] for side in (a, b)]
    if not values[0]:
        return Verdict.ONLY_B
    if not values[1]:
        return Verdict.ONLY_A
    whole = len(values[0]) == len(a) and len(values[1]) == len(b)
    if a == b or (whole and len({*values[0], *values[1]}) == 1):
        return Verdict.SAME
    if not whole:
        return Verdict.SOME_SEEDS
    if min(map(len, values)) < 2:
        return Verdict.ONE_SEED
    apart = max(values[0]) < min(values[1]) or max(values[1]) < min(values[0])
    return Verdict.BEYOND if apart else Verdict.WITHIN


def _filtered(pair: Pair, only: Sequence[str]) -> Pair:
    if not only:
        return pair
    known = [one.metric for one in pair.metrics]
    for name in only:
        if name not in known:
            raise UserError(f"no metric {name!r}", place="--metric", remedy=f"metrics: {', '.join(known)}")
    chosen = [one for one in pair.metrics if one.metric in only]
    return Pair(pair.variant_a, pair.variant_b, pair.point, pair.chance, chosen)


def _warnings(a: Results, b: Results) -> Iterator[str]:
    names = [one.run.scenario.name for one in (a, b)]
    if names[0] != names[1]:
        yield f"the scenarios differ: {names[0]} and {names[1]}; equal names may have different meanings"
    if a.folder.resolve() == b.folder.resolve():
        yield "A and B are the same folder"


def _transports(a: _Folder, b: _Folder, pairs: Sequence[Pair]) -> Iterator[str]:
    """Warns about compared algorithms with different transports, unless a side sets them on purpose.

    If both sides run the same algorithm, the differing settings show it.
    """
    if any(side.scenario.get(transports.ON_PURPOSE) for side in (a, b)):
        return
    for first, second in dict.fromkeys((pair.variant_a, pair.variant_b) for pair in pairs):
        sides = {f"{first} of A": (a, first), f"{second} of B": (b, second)}
        of = {label: (side.scenario, _variant(side.scenario, name)) for label, (side, name) in sides.items()}
        if (text := transports.warning(of)) is not None:
            yield text


def _variant(scenario: JsonObject, name: str) -> JsonObject:
    """Settings of a variant; empty for an edited folder."""
    found = [one for one in map(mapping, items(scenario.get("variants"))) if one.get("name") == name]
    return found[0] if found else {}


def _label(variant: str, point: Point) -> str:
    return " ".join([variant, *_plain_point(point)])


def _plain_point(point: Point) -> list[str]:
    names = {path: name for name, path in column_names([path for path, _ in point]).items()}
    return [f"{names[path]}={value}" for path, value in point]


def _some(labels: Sequence[str], count: int = 8) -> str:
    return ", ".join(labels[:count]) + (f", ... ({len(labels)} in all)" if len(labels) > count else "")
