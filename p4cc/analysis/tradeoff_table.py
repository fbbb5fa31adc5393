"""The trade-off as people read it: a row for each setting, the front marked, the best setting of each metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.table import Table

from p4cc.analysis import human
from p4cc.analysis.percentiles import is_few, percent_of
from p4cc.analysis.summary_table import Shown, fitting
from p4cc.analysis.tradeoff import FLOWS, METRICS, ON_FRONT, SEEDS, UNFINISHED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from rich.console import Console

_PADDING = 2
_MARK = "mark"


@dataclass(frozen=True)
class Group:
    """Settings that are compared with each other: those of one variant at one point of the scenario's sweep."""

    variant: str
    point: dict[str, Any]
    settings: tuple[str, ...]
    """Names of what is swept."""
    rows: list[dict[str, Any]]
    """As `tradeoff.with_front` gives them."""

    @property
    def title(self) -> str:
        """The variant and the point."""
        return ", ".join((self.variant, *(f"{name}={value}" for name, value in self.point.items())))

    def label(self, row: dict[str, Any]) -> str:
        """The values of one setting."""
        return setting({name: row[name] for name in self.settings})


def setting(values: dict[str, Any]) -> str:
    """A setting as text; of a path the last step."""
    return " ".join(f"{name.rsplit('.', 1)[-1]}={value}" for name, value in values.items())


def print_group(console: Console, group: Group, objectives: tuple[str, str], metrics: Sequence[str]) -> None:
    """Every setting within the console's width: where there is no room whole columns go, and the caption names them."""
    scales = {name: human.scale(name, _largest(group, name)) for name in METRICS}
    shown = list(dict.fromkeys((*objectives, *metrics)))
    shown += [name for name in METRICS if name not in shown and any(row[name] for row in group.rows)]
    told = [Shown("", _MARK, 0, 0), *(Shown(name.rsplit(".", 1)[-1], name, 0, 0) for name in group.settings)]
    cells = {name: [str(row[name]) for row in group.rows] for name in group.settings}
    cells[_MARK] = ["*" if row[ON_FRONT] else "" for row in group.rows]
    if any(row[UNFINISHED] for row in group.rows):
        told.append(Shown("unfinished", UNFINISHED, 0, 0))
        cells[UNFINISHED] = [human.number(row[UNFINISHED]) for row in group.rows]
    for place, name in enumerate(shown):
        # The last goes first; what spreads over seeds goes after the metrics that are no objective.
        goes = 2 + place if name not in objectives else 0
        told.append(Shown(human.heading(name, scales[name][1]), name, 0, goes))
        cells[name] = [_median(row, name, scales[name][0]) for row in group.rows]
        if any(row[f"{name}_seeds"] > 1 for row in group.rows):
            ranges = f"{name}_range"
            told.append(Shown("range", ranges, 0, goes or 1))
            cells[ranges] = [_range(row, name, scales[name][0]) for row in group.rows]
    kept = fitting(told, cells, console.width, _PADDING)
    table = Table(title=group.title, title_justify="left", box=None, pad_edge=False, padding=(0, _PADDING, 0, 0))
    for one in kept:
        table.add_column(one.heading, justify="left" if one.name == _MARK else "right", no_wrap=True)
    for number in range(len(group.rows)):
        table.add_row(*(cells[one.name][number] for one in kept))
    console.print(table)
    names = {one.name for one in kept}
    for line in _remarks(group, objectives, names, [name for name in shown if name not in names]):
        console.print(line, markup=False)


def print_best(console: Console, best: Sequence[dict[str, Any]]) -> None:
    """The best setting for each metric of one group."""
    for row in best:
        metric = row["metric"]
        if row["best"] is None:
            console.print(f"best {metric}: no setting has a value in every seed", markup=False)
            continue
        factor, unit = human.scale(metric, max(abs(row["value"]), abs(row["worst_value"])))
        value, worst = (f"{human.number(row[name] / factor)} {unit}".rstrip() for name in ("value", "worst_value"))
        left = f"; {row['left_out']} of {row['settings']} not compared" if row["left_out"] else ""
        text = f"best {metric}: {value} with {setting(row['best'])} (worst {worst} with {setting(row['worst'])}{left})"
        console.print(text, markup=False)


def _remarks(group: Group, objectives: tuple[str, str], there: Collection[str], left: Sequence[str]) -> Iterator[str]:
    seeds = group.rows[0][SEEDS]
    ranges = "medians over the seeds, ranges from smallest to largest" if seeds > 1 else "one seed, so no range"
    yield f"{ranges}; * on the Pareto front of {' and '.join(objectives)}"
    if not any(row[ON_FRONT] for row in group.rows):
        yield "no setting is on the front: none has a value of both in every seed"
    fewest = min(row[FLOWS] for row in group.rows)
    of_flows = [name for name in METRICS if name in there and name.startswith(("slowdown_p", "fct_p"))]
    if few := [name for name in of_flows if is_few(fewest, percent_of(name) or 0.0)]:
        yield f"{' and '.join(few)}: of {fewest} flows in a run, too few to say what lies beyond"
    if left:
        yield f"in settings.parquet also: {', '.join(left)}"


def _largest(group: Group, name: str) -> float:
    return max((abs(row[f"{name}_high"]) for row in group.rows if row[name] is not None), default=0.0)


def _median(row: dict[str, Any], name: str, factor: float) -> str:
    if row[name] is None:
        return f"none of {row[SEEDS]}"
    of = f" ({row[f'{name}_seeds']} of {row[SEEDS]})" if row[f"{name}_seeds"] < row[SEEDS] else ""
    return human.number(row[name] / factor) + of


def _range(row: dict[str, Any], name: str, factor: float) -> str:
    if row[f"{name}_seeds"] < 2:
        return ""
    return f"{human.number(row[f'{name}_low'] / factor)}..{human.number(row[f'{name}_high'] / factor)}"
