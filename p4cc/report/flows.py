"""Flows: completion times, slowdown by size, and a table of the slowest."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from p4cc.analysis.percentiles import is_few, of_few_text, percentile
from p4cc.analysis.slowdown import FLOOR, LABEL, SUMMARY_BINS, size_bins
from p4cc.analysis.tables import table as described
from p4cc.figures.cdf import distribution
from p4cc.figures.chart import Axis, Line, Panel, Part
from p4cc.figures.counts import named_interval, numbered
from p4cc.report.document import Column, Table, Text
from p4cc.report.interactive import block
from p4cc.report.reduce import short, spread_of
from p4cc.report.runs import Key
from p4cc.report.summary import leading, point_column

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p4cc.report.document import Block, Cell, Figure
    from p4cc.report.runs import Runs

MAX_FLOWS = 1_500
"""Limit of rows in the table of flows."""
_CDF_VALUES = 60_000
"""Limit of values in a page's distributions of one column."""
_PERCENTILES = (50, 99)
_NO_FLOWS = "No flow has a size, so none could finish: there are no completion times."
_NOTHING = "No flow had finished when its run ended: there are no completion times and no slowdowns."


def blocks(runs: Runs) -> list[Block]:
    """Distributions, slowdowns by size and the table; or the reason why there is nothing to show."""
    flows = dict(runs.frames("flows"))
    if not flows:
        return [Text("There were no flows in these runs.", "why")]
    sized = {key: one.filter(pl.col("size_bytes").is_not_null()) for key, one in flows.items()}
    result: list[Block] = []
    if not any(one.height for one in sized.values()):
        result.append(Text(_NO_FLOWS, "why"))
    elif not any(one["fct_ns"].count() for one in sized.values()):
        result.append(Text(_NOTHING, "why"))
    else:
        result += [_distributions(runs, sized), _by_size(runs, sized)]
    return [*result, _table(runs, flows)]


def _distributions(runs: Runs, flows: Mapping[Key, pl.DataFrame]) -> Figure:
    points = max(20, min(400, _CDF_VALUES // len(flows)))
    labels = [one.label for one in runs.series]
    return block(
        "Distributions",
        "Share of flows that completed within a time, and within a multiple of the time they would take alone in the "
        "network. The selected seeds are combined; a line ends below 1 if flows did not finish.",
        [
            cdf_panel(labels, flows, "fct_ns", 1e-6, points, Axis("completion time", "ms", log=True)),
            cdf_panel(labels, flows, "slowdown", 1.0, points, Axis(LABEL, log=True)),
        ],
    )


def cdf_panel(
    labels: list[str], frames: Mapping[Key, pl.DataFrame], column: str, scale: float, points: int, x: Axis
) -> Panel:
    """The distribution of a column: one line over all seeds per series and point."""
    lines: list[Line] = []
    for (series, point), of in _by_seed(frames).items():
        every = pl.concat([rows[column] for rows in of.values()])
        parts = [Part(seed, rows.height, *distribution(rows[column], scale, points)) for seed, rows in of.items()]
        label = numbered(labels[series], [len(every)])
        line = Line(*distribution(every, scale, points), label, variant=labels[series], shape="steps", parts=parts)
        lines.append(replace(line, point=point))
    return Panel(x, Axis("share", low=0, high=1.02), lines)


def _by_seed(frames: Mapping[Key, pl.DataFrame]) -> dict[tuple[int, int], dict[int, pl.DataFrame]]:
    """Rows of each seed, by series and point."""
    grouped: dict[tuple[int, int], dict[int, pl.DataFrame]] = {}
    for key, rows in frames.items():
        grouped.setdefault((key.series, key.point), {})[key.seed] = rows
    return grouped


def _by_size(runs: Runs, flows: Mapping[Key, pl.DataFrame]) -> Figure:
    """Bins of all seeds of a series and point together; each seed has its percentile in each bin."""
    lines: dict[int, list[Line]] = {percent: [] for percent in _PERCENTILES}
    few: set[int] = set()
    for (series, point), of in _by_seed(flows).items():
        pooled = size_bins(pl.concat(of.values()), SUMMARY_BINS)
        edges = list(dict.fromkeys(int(one["size_bytes"][-1]) for one in pooled))
        cells = {seed: _binned(rows, edges) for seed, rows in of.items()}
        counts = {slowdowns.len() for bins in cells.values() for slowdowns in bins}
        few |= {percent for percent in _PERCENTILES for count in counts if is_few(count, percent)}
        for percent in _PERCENTILES:
            samples = [
                [(seed, short(percentile(one[place].to_numpy(), percent))) for seed, one in cells.items()]
                for place in range(len(edges))
            ]
            label = runs.series[series].label
            spreads = [spread_of(of_bin, runs.interval) for of_bin in samples]
            middle, *band = zip(*spreads, strict=True) if spreads else ((), (), ())
            line = Line(edges, middle, label, variant=label, marker="own", band=(band[0], band[1]))
            line = replace(line, samples=runs.selectable(samples))
            lines[percent].append(replace(line, point=point))
    notes = ["All flows have one size."] if all(len(one.x) < 2 for one in lines[_PERCENTILES[0]]) else []
    if few:
        notes.append(f"Some bins of a run have {of_few_text(few)}: there the percentile is the largest slowdown.")
    notes += named_interval("band", runs.interval)
    x = Axis("flow size (B), upper end of the bin", log=True)
    return block(
        "Slowdown by size of flow",
        f"Percentiles of slowdowns over flow size, in up to {SUMMARY_BINS} bins of equally many complete flows; "
        f"{'median over the selected' if runs.interval == 'range' else 'mean over all'} seeds. Slowdowns below "
        f"{FLOOR:g} count as {FLOOR:g}.",
        [Panel(x, Axis(f"{LABEL}, p{percent}", log=True), one, f"p{percent}") for percent, one in lines.items()],
        notes,
    )


def _binned(flows: pl.DataFrame, edges: list[int]) -> list[pl.Series]:
    """Slowdowns of complete flows by bin of size; `edges` are the bins' upper ends."""
    done = flows.filter(pl.col("slowdown").is_not_null()).select(
        size=pl.col("size_bytes").cast(pl.Int64), slowdown=pl.col("slowdown").clip(lower_bound=FLOOR)
    )
    result: list[pl.Series] = []
    low = -1
    for high in edges:
        result.append(done.filter((pl.col("size") > low) & (pl.col("size") <= high))["slowdown"])
        low = high
    return result


_SHOWN: tuple[tuple[str, float, str], ...] = (
    ("flow_id", 1, "flow"),
    ("src", 1, "from"),
    ("dst", 1, "to"),
    ("class", 1, "class"),
    ("size_bytes", 1, "size (B)"),
    ("start_ns", 1e-3, "start (us)"),
    ("fct_ns", 1e-3, "completion (us)"),
    ("slowdown", 1, "slowdown"),
    ("timeouts", 1, "timeouts"),
    ("retransmitted_pkts", 1, "sent again (pkts)"),
    ("marks_level1", 1, "marks K"),
    ("marks_level2", 1, "marks K_dc"),
)
_TEXTS = ("src", "dst", "class")


def _table(runs: Runs, flows: Mapping[Key, pl.DataFrame]) -> Table:
    """First unfinished flows, then by slowdown: a limited number over all runs."""
    parts = [
        rows.select(
            *(pl.col(name) for name, _, _ in _SHOWN),
            pl.lit(key.series).alias("_series"),
            pl.lit(key.point).alias("_point"),
            pl.lit(key.seed).alias("_seed"),
        )
        for key, rows in flows.items()
    ]
    every = pl.concat(parts, how="vertical_relaxed")
    worst = every.sort("slowdown", descending=True, nulls_last=False, maintain_order=True).head(MAX_FLOWS)
    rows: list[list[Cell]] = []
    for row in worst.iter_rows(named=True):
        values = [_cell(row[name], factor) for name, factor, _ in _SHOWN]
        rows.append([*leading(runs, Key(row["_series"], row["_point"], row["_seed"])), *values])
    left = every.height - worst.height
    caption = (
        f"{worst.height:,} of {every.height:,} flows: unfinished ones first, then by slowdown; flows.parquet has the "
        f"other {left:,}."
        if left
        else f"All {every.height:,} flows. Those without a completion time did not finish, or have no end."
    )
    columns = [Column("variant", numeric=False), *point_column(runs), Column("seed")]
    columns += [Column(label, name not in _TEXTS, _about(name)) for name, _, label in _SHOWN]
    return Table(
        "Flows",
        columns,
        rows,
        caption,
        series=worst["_series"].to_list(),
        points=worst["_point"].to_list(),
        seeds=worst["_seed"].to_list(),
    )


def _cell(value: Cell, factor: float) -> Cell:
    return short(value if factor == 1 else value * factor) if isinstance(value, int | float) else value


def _about(name: str) -> str:
    column = described("flows").column(name)
    return "" if column is None else column.text
