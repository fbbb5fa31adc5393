"""Marks, drops and pauses: numbers, ports and causes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import polars as pl

from p4cc.figures.chart import Axis, Bars, Panel
from p4cc.figures.counts import named_interval
from p4cc.json_data import number
from p4cc.report.document import Column, Table, Text
from p4cc.report.interactive import block
from p4cc.report.reduce import short, spread_of
from p4cc.report.summary import leading, point_column

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p4cc.report.document import Block, Cell, Figure
    from p4cc.report.runs import Key, Runs

MAX_ROWS = 1_500
"""Limit of rows in each table."""
_DROPPED = "dropped_"
_COUNTS = (
    ("marks_level1", "marked at K"),
    ("marks_level2", "marked at K_dc"),
    ("drops", "dropped"),
    ("link_losses", "lost on links"),
    ("pauses", "pause frames"),
    ("timeouts", "timeouts"),
)
"""Columns of runs and the labels of their bars."""
_Row: TypeAlias = "tuple[Key, list[Cell]]"
_NOTHING = "Nothing was marked, dropped or paused, and nothing timed out."
_NO_CAUSES = (
    "The program's control, table and action that dropped packets were not recorded. Set record.drops, for example "
    "--set record.drops={}."
)


def blocks(runs: Runs) -> list[Block]:
    """Counts, causes of drops, who paused whom, and the ports."""
    result: list[Block] = []
    counts = {name: words for name, words in _COUNTS if any(row.get(name) for row in runs.numbers.values())}
    if counts:
        values = {
            key: {words: number(row.get(name)) or 0 for name, words in counts.items()}
            for key, row in runs.numbers.items()
        }
        caption = "Totals of a whole run. Packets marked at K_dc exceeded the second of two thresholds."
        result.append(_bars(runs, "How many", caption, values, list(counts.values()), apart=True))
    else:
        result.append(Text(_NOTHING, "why"))
    return [*result, *_drops(runs), *_pauses(runs), *_ports(runs)]


def _bars(
    runs: Runs,
    title: str,
    caption: str,
    values: Mapping[Key, Mapping[str, float]],
    words: list[str],
    *,
    apart: bool = False,
) -> Figure:
    """Counts of each run as bars: median and range over the selected seeds, or the scenario's interval over all.

    With `apart` each count has a separate panel, because counts may differ by a factor of a thousand.
    """
    grouped: dict[tuple[int, int], dict[int, Mapping[str, float]]] = {}
    for key, of in values.items():
        grouped.setdefault((key.series, key.point), {})[key.seed] = of
    width = 0.8 / len(runs.series)
    panels: list[Panel] = []
    for part in [[word] for word in words] if apart else [words]:
        bars: list[Bars] = []
        for (series, point), of in grouped.items():
            samples = [[(seed, one.get(word, 0)) for seed, one in of.items()] for word in part]
            spreads = [[one or 0 for one in spread_of(seeds, runs.interval)] for seeds in samples]
            middle, low, high = ([one[place] for one in spreads] for place in range(3))
            shift, label = (series - (len(runs.series) - 1) / 2) * width, runs.series[series].label
            at = [place + shift for place in range(len(part))]
            names = [f"{label}, {word}" for word in part]
            bar = Bars(at, middle, label, names, label, width=width * 0.95, range=(low, high))
            bars.append(replace(bar, point=point, samples=runs.selectable(samples)))
        panels.append(Panel(Axis(ticks=list(enumerate(part))), Axis("count", low=0), bars))
    return block(title, caption, panels, [*named_interval("bars' ends", runs.interval)])


def _drops(runs: Runs) -> list[Block]:
    if not any(row.get("drops") for row in runs.numbers.values()):
        return []
    causes: dict[Key, Counter[str]] = {}
    for key, rows in runs.frames("port_queues"):
        names = [name for name in rows.columns if name.startswith(_DROPPED)]
        sums = rows.select(pl.col(names).sum()).row(0)
        causes[key] = Counter(
            {name.removeprefix(_DROPPED): int(one or 0) for name, one in zip(names, sums, strict=True)}
        )
    words = list(dict.fromkeys(word for of in causes.values() for word, count in of.items() if count))
    result: list[Block] = []
    if words:
        caption = "Packets dropped at queues of switches, by cause, over all ports."
        result.append(_bars(runs, "Causes of drops", caption, {key: dict(of) for key, of in causes.items()}, words))
    recorded = list(runs.frames("drops"))
    return [*result, _programs(runs, recorded) if recorded else Text(_NO_CAUSES, "why")]


def _programs(runs: Runs, recorded: list[tuple[Key, pl.DataFrame]]) -> Table:
    """Drops by programs and queues, summed over time."""
    by = ("switch", "port", "cause", "control", "table", "action", "parser_error")
    rows: list[_Row] = []
    for key, of in recorded:
        sums = of.group_by(*by, maintain_order=True).agg(pl.col("packets").sum(), pl.col("bytes").sum())
        rows += [(key, list(row)) for row in sums.sort("packets", descending=True, maintain_order=True).rows()]
    columns = [*(Column(name, name == "port") for name in by), Column("packets"), Column("bytes")]
    return _table(runs, "Drops by program, table and action", columns, rows, "Over the whole run.")


def _pauses(runs: Runs) -> list[Block]:
    frames: list[_Row] = []
    for key, of in runs.frames("pause_frames"):
        pauses = of.filter(pl.col("pause") == 1)
        sums = pauses.group_by("node", "port", "peer", "priority", "towards", maintain_order=True).agg(pl.len())
        frames += [(key, list(row)) for row in sums.sort("len", descending=True, maintain_order=True).rows()]
    ports: list[_Row] = []
    for key, of in runs.frames("pauses"):
        rows = of.filter((pl.col("paused_ns") > 0) | (pl.col("pauses_sent") > 0))
        rows = rows.sort("paused_ns", descending=True, maintain_order=True)
        chosen = rows.select("node", "port", "priority", "pauses_sent", "pauses_received", "paused_ns", "paused_share")
        ports += [(key, [*row[:5], short(row[5] / 1e3), short(100 * row[6])]) for row in chosen.rows()]
    result: list[Block] = []
    if ports:
        columns = [Column("node", numeric=False), *map(Column, ("port", "priority", "pauses sent", "pauses received"))]
        columns += [Column("paused (us)"), Column("paused (% of the run)")]
        about = "Ports that were paused or paused a neighbour, those with the longest pauses first."
        result.append(_table(runs, "Pauses by port", columns, ports, about))
    if frames:
        columns = [Column("switch", numeric=False), Column("port"), Column("stops", numeric=False), Column("priority")]
        columns += [Column("for packets towards", numeric=False), Column("pause frames")]
        about = "Which neighbour a switch paused, and the next hop of the packet that triggered the pause."
        result.append(_table(runs, "Who paused whom", columns, frames, about))
    elif ports:
        result.append(Text("Single pause frames were not recorded. Set record.pauses: true.", "why"))
    return result


def _ports(runs: Runs) -> list[Block]:
    counters = dict(runs.frames("counters", detailed=True))
    stats = dict(runs.frames("queue_stats", detailed=True))
    rows: list[_Row] = []
    for key, of in runs.frames("ports", detailed=True):
        frame = of.select("switch", "port", "peer", "tx_pkts", "dropped_pkts", "peak_depth_pkts")
        more = (
            (counters.get(key), ("k_pkts", "k_dc_pkts", "level1_pkts", "level2_pkts")),
            (stats.get(key), ("mean_pkts", "p99_pkts")),
        )
        for table, names in more:
            if table is None:
                frame = frame.with_columns(pl.lit(None).alias(name) for name in names)
            else:
                frame = frame.join(table.select("switch", "port", *names), on=["switch", "port"], how="left")
        busy = frame.filter(pl.col("tx_pkts") + pl.col("dropped_pkts") > 0)
        ordered = busy.sort("dropped_pkts", "peak_depth_pkts", descending=True, maintain_order=True)
        rows += [(key, [short(one) if isinstance(one, float) else one for one in row]) for row in ordered.rows()]
    if not rows:
        return [Text("No port of a switch sent anything.", "why")]
    labels = ("sent (pkts)", "dropped (pkts)", "peak depth (pkts)", "K (pkts)", "K_dc (pkts)", "marked at K")
    columns = [Column("switch", numeric=False), Column("port"), Column("leads to", numeric=False)]
    columns += [Column(label) for label in (*labels, "marked at K_dc", "mean depth (pkts)", "p99 depth (pkts)")]
    about = "Ports of switches that sent or dropped something: those with most drops, then the deepest queue, first."
    return [_table(runs, "Ports", columns, rows, f"{about} {runs.left_out}".rstrip())]


def _table(runs: Runs, title: str, columns: list[Column], rows: list[_Row], caption: str) -> Table:
    """A table with the run in front of each row, and an equal share of rows for every run."""
    share = max(5, MAX_ROWS // max(len({key for key, _ in rows}), 1))
    seen: Counter[Key] = Counter()
    shown: list[_Row] = []
    for key, row in rows:
        seen[key] += 1
        if seen[key] <= share:
            shown.append((key, row))
    left = len(rows) - len(shown)
    more = f" {left:,} of {len(rows):,} rows are omitted: the first {share} of each run are shown." if left else ""
    return Table(
        title,
        [Column("variant", numeric=False), *point_column(runs), Column("seed"), *columns],
        [[*leading(runs, key), *row] for key, row in shown],
        caption + more,
        series=[key.series for key, _ in shown],
        points=[key.point for key, _ in shown],
        seeds=[key.seed for key, _ in shown],
        at_point=True,
    )
