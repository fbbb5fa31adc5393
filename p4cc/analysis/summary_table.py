"""The table of results for people: one row per variant and point, medians over the seeds.

Columns without values are omitted. If the terminal is too narrow, the least important columns are omitted entirely,
and the caption names them; digits are never cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.table import Table

from p4cc.analysis import intervals
from p4cc.analysis.percentiles import of_few_text, percent_of
from p4cc.digits import digits
from p4cc.json_data import number

if TYPE_CHECKING:
    import polars as pl

    from p4cc.analysis.intervals import Interval
    from p4cc.json_data import JsonObject, JsonValue

NARROW = 80
"""Columns of every terminal."""
_PADDING = 3
"""Width of a border with its spaces."""


@dataclass(frozen=True)
class Shown:
    """A column; those with the largest `goes` are omitted first, those with 0 never."""

    heading: str
    name: str
    digits: int
    goes: int
    of: str = ""
    """For a percentile, its column of the runs."""
    always: bool = False
    """Shown even without values."""


_COLUMNS = (
    Shown("goodput Gb/s", "goodput_gbps", 2, 0, always=True),
    Shown("finish ms", "finish_ms", 2, 1),
    Shown("FCT p50 ms", "fct_p50_ms", 3, 5, "fct_p50_ns"),
    Shown("FCT p99 ms", "fct_p99_ms", 3, 2, "fct_p99_ns"),
    Shown("slowdown p99", "slowdown_p99", 2, 3, "slowdown_p99"),
    Shown("timed out", "seeds_with_timeout", 0, 2),
    Shown("timeouts", "timeouts", 0, 7),
    Shown("drops", "drops", 0, 4),
    Shown("pauses", "pauses", 0, 4),
    Shown("marks K", "marks_k", 0, 6),
    Shown("marks K_dc", "marks_k_dc", 0, 6),
    Shown("peak queue", "peak_queue_pkts", 0, 5),
)


_INTERVALS = {
    "goodput_gbps": (1e-9, "goodput_bps"),
    "finish_ms": (1e-6, "finish_ns"),
    "fct_p50_ms": (1e-6, "fct_p50_ns"),
    "fct_p99_ms": (1e-6, "fct_p99_ns"),
    "slowdown_p99": (1.0, "slowdown_p99"),
}
"""Columns that have confidence intervals, with factor and column of the runs."""


def aggregate(
    runs: Sequence[JsonObject], keys: Sequence[str], interval: Interval = "range"
) -> list[dict[str, JsonValue]]:
    """Medians and counts over seeds; `keys` (variant and swept values) identify a row, in order of appearance.

    `finish_ms` is the median over the seeds in which every flow finished, `finished` their number; completion times and
    slowdowns cover finished flows. For percentiles, `NAME_seeds` counts the seeds that have one and `NAME_few` those in
    which it has few values. `goodput_gbps` covers flows with a size, or all flows in runs that have none.
    With a confidence `interval`, times, goodput and slowdown are means, and `NAME_low` and `NAME_high` its ends.
    """
    # A slow import, which `table` does not need.
    import polars as pl

    frame = pl.DataFrame(list(runs), infer_schema_length=None)

    def median(name: str, scale: float = 1.0) -> pl.Expr:
        if name not in frame.columns:
            return pl.lit(None, pl.Float64)
        return pl.col(name).cast(pl.Float64).median() * scale

    percentiles = [column for column in _COLUMNS if column.of and column.of in frame.columns]
    # Runs without finite flows have the goodput of all flows: 0 would mislead.
    of_all = pl.when(pl.col("flows_finite") == 0).then("total_goodput_bps").otherwise("goodput_bps")
    of_few = pl.col("few_values") if "few_values" in frame.columns else pl.lit([], pl.List(pl.String))
    grouped = frame.group_by(*keys, maintain_order=True).agg(
        *(pl.col(column.of).count().alias(f"{column.name}_seeds") for column in percentiles),
        *(of_few.list.contains(column.of).sum().alias(f"{column.name}_few") for column in percentiles),
        seeds=pl.len(),
        goodput_gbps=of_all.cast(pl.Float64).median() * 1e-9,
        finish_ms=median("finish_ns", 1e-6),
        finished=pl.col("finish_ns").count(),
        fct_p50_ms=median("fct_p50_ns", 1e-6),
        fct_p99_ms=median("fct_p99_ns", 1e-6),
        slowdown_p99=median("slowdown_p99"),
        seeds_with_timeout=(pl.col("timeouts") > 0).sum(),
        timeouts=median("timeouts"),
        drops=median("drops"),
        pauses=median("pauses"),
        marks_k=median("marks_level1"),
        marks_k_dc=median("marks_level2"),
        peak_queue_pkts=median("peak_queue_pkts"),
    )
    rows = grouped.to_dicts()
    if interval != "range":
        for row in rows:
            _set_interval(row, [run for run in runs if all(run[key] == row[key] for key in keys)], interval)
    return rows


def _set_interval(row: dict[str, JsonValue], runs: Sequence[JsonObject], interval: Interval) -> None:
    """Means and ends of intervals instead of the medians of a row."""
    row["interval"] = interval
    for name, (scale, column) in _INTERVALS.items():
        of = "total_goodput_bps" if column == "goodput_bps" and not _have_sizes(runs) else column
        values = [value * scale for run in runs if (value := number(run.get(of))) is not None]
        if (found := intervals.of_values(values, interval)) is not None:
            row |= {name: found.middle, f"{name}_low": found.low, f"{name}_high": found.high}


def _have_sizes(runs: Sequence[JsonObject]) -> bool:
    """Whether runs have flows with a size."""
    return any(run.get("flows_finite") != 0 for run in runs)


def table(title: str, rows: Sequence[JsonObject], keys: Sequence[str], width: int = NARROW) -> Table:
    """A rich table of `aggregate`'s rows within `width` characters; seeds with a timeout are highlighted."""
    columns = [column for column in _COLUMNS if column.always or any(row[column.name] for row in rows)]
    cells = {column.name: [_cell(column, row) for row in rows] for column in columns}
    leading = {key: [str(row[key]) for row in rows] for key in keys}
    fixed = sum(_width(key, texts) for key, texts in leading.items())
    fit = fitting(columns, cells, width - 1 - fixed)
    left = [column.heading for column in columns if column not in fit]
    caption = _of_seeds(rows) + (f"; in summary.json also: {', '.join(left)}" if left else "")
    if few := [
        percent for one in fit if (percent := percent_of(one.of)) and any(row.get(f"{one.name}_few") for row in rows)
    ]:
        caption += f"\n* of {of_few_text(few)} in a run"
    out = Table(title=title, title_justify="left", caption=caption, caption_justify="left")
    for key in keys:
        out.add_column(key, justify="left" if key == "variant" else "right", no_wrap=True)
    for one in fit:
        out.add_column(one.heading, justify="right", no_wrap=True)
    for place, row in enumerate(rows):
        texts = [cells[one.name][place] for one in fit]
        styled = [
            f"[red]{text}[/red]" if one.name == "seeds_with_timeout" and row[one.name] else text
            for one, text in zip(fit, texts, strict=True)
        ]
        out.add_row(*(leading[key][place] for key in keys), *styled)
    return out


def _of_seeds(rows: Sequence[JsonObject]) -> str:
    """The statistic of the numbers over the seeds."""
    kind = next((row["interval"] for row in rows if "interval" in row), None)
    if kind not in ("t", "bootstrap"):
        return "medians over the seeds"
    return f"goodput, times and slowdowns: means with the {intervals.text(kind)}; the rest: medians"


def fitting(columns: Sequence[Shown], cells: dict[str, list[str]], room: int, padding: int = _PADDING) -> list[Shown]:
    """The columns that fit, in order; each needs `padding` characters in addition to its text."""
    fit = list(columns)
    for column in sorted((column for column in columns if column.goes), key=lambda column: -column.goes):
        if sum(_width(one.heading, cells[one.name], padding) for one in fit) <= room:
            break
        fit.remove(column)
    return fit


def _width(heading: str, texts: Sequence[str], padding: int = _PADDING) -> int:
    return max(len(heading), *(len(text) for text in texts)) + padding


def _cell(column: Shown, row: JsonObject) -> str:
    value = number(row[column.name])
    if column.name == "seeds_with_timeout":
        return f"{value}/{row['seeds']}"
    if column.name == "finish_ms" and row["finished"] != row["seeds"]:
        of = f"{row['finished']} of {row['seeds']} finished"
        return f"{value:.2f}, {of}" if row["finished"] else of
    if value is None:
        return "-"
    text = _text(column, value) + ("*" if row.get(f"{column.name}_few") else "")
    low, high = (number(row.get(f"{column.name}_{end}")) for end in ("low", "high"))
    if low is not None and high is not None:
        text += f" [{_text(column, low)}, {_text(column, high)}]"
    seeds = row.get(f"{column.name}_seeds", row["seeds"])
    return text if seeds == row["seeds"] else f"{text}, {seeds} of {row['seeds']} seeds"


def _text(column: Shown, value: float) -> str:
    """A number with the column's digits; three that count where these would leave one."""
    few = column.digits and 0 < abs(value) < 10 ** (1 - column.digits)
    return digits(value) if few else f"{value:.{column.digits}f}"
