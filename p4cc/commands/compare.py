"""`p4cc compare`: two results folders compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from controller.plan_report import plain_table
from p4cc.analysis import human
from p4cc.analysis.human import WIDE
from p4cc.digits import digits
from p4cc.errors import UserError
from p4cc.exit_codes import DIFFERS
from p4cc.json_data import items, mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from p4cc.analysis.comparison import Compared, Comparison, Difference, Pair, Side


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("compare")(compare)


def compare(
    a: Annotated[Path, typer.Argument(metavar="A", help="Results folder A, written by p4cc run.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="Results folder B.")],
    match: Annotated[
        list[str] | None,
        typer.Option("--match", metavar="X=Y", help="Compare A's variant X with B's variant Y; repeatable."),
    ] = None,
    metrics: Annotated[list[str] | None, typer.Option("--metric", help="Compare only this metric; repeatable.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Also list metrics that are equal.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Compare two results folders: the settings that differ, and each metric with its spread over the seeds.

    A variant is compared at the sweep points that both folders have. A metric differs *beyond* the spread if every
    seed has a value, each side has at least two seeds, and the two ranges from the smallest to the largest value
    over the seeds do not overlap. With n and m seeds, this happens by chance with probability 2 n! m! / (n + m)!:
    0.8 % with 5 and 5 seeds, 10 % with 3 and 3.

    Exit code 0: no metric differs beyond the spread; 1: a metric does, or one side lacks a value; 2: the folders
    cannot be compared.

    Examples:

    * `p4cc compare results/incast results/incast-1a2b3c4d`
    * `p4cc compare results/dctcp results/gst --match DCTCP=GST-DCTCP --metric fct_p99_ns --json`
    """
    # Tables take a second to import; other commands need not wait for them.
    from p4cc.analysis.comparison import compare as compare_ran
    from p4cc.analysis.recorded import read_results

    matched = dict(_matched(one) for one in match or ())
    found = compare_ran(read_results(a), read_results(b), matched, metrics or ())
    if as_json:
        typer.echo(json.dumps({"a": str(a), "b": str(b), **found.plain()}, indent=1, allow_nan=False))
    else:
        _print(found, a, b, everything=everything)
    if found.differs:
        raise typer.Exit(DIFFERS)


def _matched(text: str) -> tuple[str, str]:
    of_a, separator, of_b = text.partition("=")
    if not (separator and of_a and of_b):
        raise UserError(
            f"{text!r} is not of the form X=Y",
            place="--match",
            remedy="write it as, for example, --match DCTCP=GST-DCTCP",
        )
    return of_a, of_b


def _print(found: Comparison, a: Path, b: Path, *, everything: bool) -> None:
    errors = Console(stderr=True, soft_wrap=True, highlight=False)
    for warning in found.warnings:
        errors.print(f"warning: {warning}", style="yellow", markup=False)
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(width=WIDE, highlight=False)
    console.print(f"A {a}\nB {b}\n", markup=False, soft_wrap=True)
    console.print(_settings(found.settings) if found.settings else "settings: equal")
    for pair in found.pairs:
        console.print()
        console.print(_table(pair, console.width, everything=everything))
        for line in _remarks(pair, everything=everything):
            console.print(line, markup=False)
    console.print()
    for side, labels in (("A", found.only_a), ("B", found.only_b)):
        if labels:
            console.print(f"only in {side}: {', '.join(labels)}", markup=False)
    for chance in dict.fromkeys(pair.chance for pair in found.pairs):
        console.print(
            f"beyond: the ranges over the seeds do not overlap; by chance alone, {digits(100 * chance, 2)} % would not"
            if chance < 1
            else "with one seed each, there is no spread to compare with",
            markup=False,
        )


def _settings(settings: Sequence[Difference]) -> Table:
    table = plain_table("settings that differ")
    for heading in ("setting", "A", "B"):
        table.add_column(heading, overflow="fold")
    for one in settings:
        table.add_row(one.name, *(_value(one, side) for side in ("a", "b")))
    return table


def _value(one: Difference, side: str) -> str:
    if side not in one.values:
        return "-"
    value = one.values[side]
    if one.name.startswith("installed."):
        rows = map(mapping, items(value))
        return ", ".join(f"K {row['k_pkts']}, K_dc {row['k_dc_pkts']} on {row['ports']} ports" for row in rows)
    return value if isinstance(value, str) else json.dumps(value)


_Column = tuple[str, list[str]]


def _table(pair: Pair, width: int, *, everything: bool) -> Table:
    """A row per metric; where there is no room the change goes first, then the ranges."""
    shown = [one for one in pair.metrics if everything or one.verdict != "same"]
    scales = [_scale(one) for one in shown]
    sides = [[getattr(one, side) for one in shown] for side in ("a", "b")]
    medians, ranges = ([_cells(of, scales, cell) for of in sides] for cell in (_median, _range))
    columns: list[_Column] = [
        ("metric", [one.metric for one in shown]),
        ("", [unit for _, unit in scales]),
        ("A", medians[0]),
        ("range", ranges[0]),
        ("B", medians[1]),
        ("range", ranges[1]),
        ("B to A", [_change(one) for one in shown]),
        ("verdict", [str(one.verdict) for one in shown]),
    ]
    ways = ([at for at in range(len(columns)) if at not in leave] for leave in ((), (6,), (3, 5), (3, 5, 6)))
    places = next((way for way in ways if sum(_width(columns[at]) for at in way) <= width), [0, 1, 2, 4, 7])
    table = plain_table(pair.label)
    for at in places:
        left = at in (0, 1, 7)
        table.add_column(columns[at][0], justify="left" if left else "right", no_wrap=at > 0, overflow="fold")
    for row in range(len(shown)):
        table.add_row(*(columns[at][1][row] for at in places))
    return table


def _cells(
    sides: Sequence[Side | None], scales: Sequence[tuple[float, str]], cell: Callable[[Side | None, float], str]
) -> list[str]:
    return [cell(side, scale) for side, (scale, _) in zip(sides, scales, strict=True)]


def _width(column: _Column) -> int:
    return max(map(len, (column[0], *column[1]))) + 2


def _remarks(pair: Pair, *, everything: bool) -> Iterator[str]:
    same = [one.metric for one in pair.metrics if one.verdict == "same"]
    if same and not everything:
        yield f"equal: {', '.join(same)}"


def _scale(one: Compared) -> tuple[float, str]:
    """The divisor of a metric's numbers, and the unit."""
    largest = max((abs(side.high) for side in (one.a, one.b) if side is not None and side.high is not None), default=0)
    return human.scale(one.metric, largest)


def _median(side: Side | None, scale: float) -> str:
    if side is None:
        return "not recorded"
    if side.median is None:
        return f"none of {side.seeds}"
    of = "" if side.values == side.seeds else f" ({side.values} of {side.seeds})"
    return human.number(side.median / scale) + of


def _range(side: Side | None, scale: float) -> str:
    if side is None or side.low is None or side.high is None or side.values < 2:
        return ""
    return f"{human.number(side.low / scale)}..{human.number(side.high / scale)}"


def _change(one: Compared) -> str:
    a, b = (None if side is None else side.median for side in (one.a, one.b))
    if a is None or b is None or not a:
        return ""
    change = 100 * (b / a - 1)
    return f"{'' if change < 0 else '+'}{digits(change)} %"
