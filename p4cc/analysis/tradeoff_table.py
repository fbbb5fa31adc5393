"""The trade-off for people: one row per setting with a mark on the front, and the best setting of each metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.table import Table

from p4cc.analysis import human
from p4cc.analysis.percentiles import is_few, percent_of
from p4cc.analysis.summary_table import Shown, fitting
from p4cc.analysis.tradeoff import FLOWS, METRICS, ON_FRONT, SEEDS, UNFINISHED
from p4cc.json_data import mapping, number

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from rich.console import Console

    from p4cc.json_data import JsonObject

_PADDING = 2
_MARK = "mark"


@dataclass(frozen=True)
class Group:
    """Settings that are compared: those of one variant at one point of the scenario's sweep."""

    variant: str
    point: JsonObject
    settings: tuple[str, ...]
    """Names of swept fields."""
    rows: Sequence[JsonObject]
    """From `tradeoff.with_front`."""

    @property
    def title(self) -> str:
        """The variant and the point."""
        return ", ".join((self.variant, *(f"{name}={value}" for name, value in self.point.items())))

    def label(self, row: JsonObject) -> str:
        """The values of one setting."""
        return setting({name: row[name] for name in self.settings})


def setting(values: JsonObject) -> str:
    """A setting as text, with the last step of each path."""
    return " ".join(f"{name.rsplit('.', 1)[-1]}={value}" for name, value in values.items())


def print_group(console: Console, group: Group, objectives: tuple[str, str], metrics: Sequence[str]) -> None:
    """Prints all settings; columns that do not fit the console are named below."""
    scales = {name: human.scale(name, _largest(group, name)) for name in METRICS}
    shown = list(dict.fromkeys((*objectives, *metrics)))
    shown += [name for name in METRICS if name not in shown and any(row[name] for row in group.rows)]
    columns = [Shown("", _MARK, 0, 0), *(Shown(name.rsplit(".", 1)[-1], name, 0, 0) for name in group.settings)]
    cells = {name: [str(row[name]) for row in group.rows] for name in group.settings}
    cells[_MARK] = ["*" if row[ON_FRONT] else "" for row in group.rows]
    if any(row[UNFINISHED] for row in group.rows):
        columns.append(Shown("unfinished", UNFINISHED, 0, 0))
        cells[UNFINISHED] = [human.number(value_of(row, UNFINISHED)) for row in group.rows]
    for place, name in enumerate(shown):
        # The last metric is omitted first, ranges of objectives after all metrics that are not objectives.
        goes = 2 + place if name not in objectives else 0
        columns.append(Shown(human.heading(name, scales[name][1]), name, 0, goes))
        cells[name] = [_median(row, name, scales[name][0]) for row in group.rows]
        if any(value_of(row, f"{name}_seeds") > 1 for row in group.rows):
            ranges = f"{name}_range"
            columns.append(Shown("range", ranges, 0, goes or 1))
            cells[ranges] = [_range(row, name, scales[name][0]) for row in group.rows]
    fit = fitting(columns, cells, console.width, _PADDING)
    table = Table(title=group.title, title_justify="left", box=None, pad_edge=False, padding=(0, _PADDING, 0, 0))
    for one in fit:
        table.add_column(one.heading, justify="left" if one.name == _MARK else "right", no_wrap=True)
    for place in range(len(group.rows)):
        table.add_row(*(cells[one.name][place] for one in fit))
    console.print(table)
    names = {one.name for one in fit}
    for line in _remarks(group, objectives, names, [name for name in shown if name not in names]):
        console.print(line, markup=False)


def print_best(console: Console, best: Sequence[JsonObject]) -> None:
    """The best setting for each metric of one group."""
    for row in best:
        metric = str(row["metric"])
        if row["best"] is None:
            console.print(f"best {metric}: no setting has a value in every seed", markup=False)
            continue
        factor, unit = human.scale(metric, max(abs(value_of(row, "value")), abs(value_of(row, "worst_value"))))
        value, worst = (
            f"{human.number(value_of(row, name) / factor)} {unit}".rstrip() for name in ("value", "worst_value")
        )
        left = f"; {row['left_out']} of {row['settings']} not compared" if row["left_out"] else ""
        best_of, worst_of = (setting(mapping(row[name])) for name in ("best", "worst"))
        text = f"best {metric}: {value} with {best_of} (worst {worst} with {worst_of}{left})"
        console.print(text, markup=False)


def _remarks(group: Group, objectives: tuple[str, str], there: Collection[str], left: Sequence[str]) -> Iterator[str]:
    seeds = value_of(group.rows[0], SEEDS)
    ranges = "medians over the seeds, ranges from smallest to largest" if seeds > 1 else "one seed, so no range"
    yield f"{ranges}; * on the Pareto front of {' and '.join(objectives)}"
    if not any(row[ON_FRONT] for row in group.rows):
        yield "no setting is on the front: none has a value of both in every seed"
    fewest = int(min(value_of(row, FLOWS) for row in group.rows))
    of_flows = [name for name in METRICS if name in there and name.startswith(("slowdown_p", "fct_p"))]
    if few := [name for name in of_flows if is_few(fewest, percent_of(name) or 0.0)]:
        yield f"{' and '.join(few)}: of {fewest} flows in a run, too few for this percentile"
    if left:
        yield f"in settings.parquet also: {', '.join(left)}"


def _largest(group: Group, name: str) -> float:
    return max((abs(value_of(row, f"{name}_high")) for row in group.rows if row[name] is not None), default=0.0)


def value_of(row: JsonObject, name: str) -> float:
    """A number of a row; 0 if it has none."""
    return number(row[name]) or 0.0


def _median(row: JsonObject, name: str, factor: float) -> str:
    if row[name] is None:
        return f"none of {row[SEEDS]}"
    of = f" ({row[f'{name}_seeds']} of {row[SEEDS]})" if row[f"{name}_seeds"] != row[SEEDS] else ""
    return human.number(value_of(row, name) / factor) + of


def _range(row: JsonObject, name: str, factor: float) -> str:
    if value_of(row, f"{name}_seeds") < 2:
        return ""
    low, high = (human.number(value_of(row, f"{name}_{end}") / factor) for end in ("low", "high"))
    return f"{low}..{high}"
