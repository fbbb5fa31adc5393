"""Several folders side by side: settings that differ, and all metrics with their spread."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from p4cc.analysis import human
from p4cc.analysis.comparison import RULE, compare
from p4cc.errors import UserError
from p4cc.report.document import Column, Table, Text
from p4cc.report.reduce import short

if TYPE_CHECKING:
    from p4cc.analysis.comparison import Compared, Comparison, Side
    from p4cc.json_data import JsonObject
    from p4cc.report.document import Block, Cell
    from p4cc.report.runs import Runs

MAX_ROWS = 3_000
"""Metrics that a page compares."""


def blocks(runs: Runs) -> list[Block]:
    """Compares the first folder with each of the others."""
    first, *others = runs.folders
    result: list[Block] = []
    for number, other in enumerate(others, start=1):
        letter, title = runs.letter(number), f"A {first.shown} and {runs.letter(number)} {other.shown}"
        try:
            compared = compare(first.results, other.results)
        except UserError as error:
            result.append(Text(f"{title}: {error.cause}", "why"))
            continue
        result.append(Text(title))
        result += [Text(one, "warning") for one in compared.warnings]
        result += [
            Text(f"Only in {side}: {', '.join(labels)}.", "note")
            for side, labels in (("A", compared.only_a), (letter, compared.only_b))
            if labels
        ]
        result += [_settings(compared, letter), _metrics(compared, letter)]
    return result


def _settings(compared: Comparison, letter: str) -> Block:
    if not compared.settings:
        return Text("Settings: the same in both.")
    rows = [[one.name, *(_value(one.values, side) for side in ("a", "b"))] for one in compared.settings]
    labels = ("setting", "A", letter)
    return Table("Settings that differ", [Column(label, numeric=False) for label in labels], rows)


def _value(values: JsonObject, side: str) -> str:
    if side not in values:
        return "-"
    value = values[side]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _metrics(compared: Comparison, letter: str) -> Table:
    """Metrics: first those that differ beyond the spread, last the equal ones."""
    rows = [
        _row(pair.label, one)
        for pair in compared.pairs
        for one in pair.metrics
        if one.a is not None or one.b is not None
    ]
    ordered = sorted(rows, key=lambda row: (row[-1] == "same", row[-1] != "beyond"))
    left = max(0, len(ordered) - MAX_ROWS)
    more = f" {left:,} more rows are left out; p4cc compare has them." if left else ""
    columns = [Column("run", numeric=False), Column("metric", numeric=False), Column("unit", numeric=False)]
    columns += [Column("A"), Column("A range", numeric=False), Column(letter), Column(f"{letter} range", numeric=False)]
    columns += [Column(f"{letter} - A"), Column(f"{letter} / A"), Column("verdict", numeric=False)]
    rule = RULE[:1].upper() + RULE[1:]
    return Table("Metrics side by side", columns, ordered[:MAX_ROWS], f"Medians over the seeds. {rule}.{more}")


def _row(label: str, one: Compared) -> list[Cell]:
    largest = max((abs(side.high) for side in (one.a, one.b) if side is not None and side.high is not None), default=0)
    factor, unit = human.scale(one.metric, largest)
    a, b = (None if side is None or side.median is None else side.median / factor for side in (one.a, one.b))
    difference = None if a is None or b is None else short(b - a)
    ratio = None if a is None or b is None or not a else short(b / a)
    sides = [cell for side, median in ((one.a, a), (one.b, b)) for cell in (short(median), _range(side, factor))]
    return [label, one.metric, unit, *sides, difference, ratio, str(one.verdict)]


def _range(side: Side | None, factor: float) -> str:
    if side is None:
        return "not recorded"
    if side.low is None or side.high is None or side.values < 2:
        return ""
    return f"{human.number(side.low / factor)} to {human.number(side.high / factor)}"
