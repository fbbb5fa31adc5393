"""Numbers of runs: the summary with its spread over the seeds, and the table of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4cc.analysis.human import heading, scale
from p4cc.json_data import items, number
from p4cc.report.document import Column, Metric, Run, Summary, Table
from p4cc.report.reduce import short

if TYPE_CHECKING:
    from p4cc.json_data import JsonValue
    from p4cc.report.document import Block, Cell
    from p4cc.report.runs import Key, Runs

MAX_RUNS = 2_000
"""Limit of rows in the table of runs."""
_SHOWN = (
    "goodput_bps",
    "total_goodput_bps",
    "finish_ns",
    "fct_p50_ns",
    "fct_p99_ns",
    "slowdown_p99",
    "timeouts",
    "drops",
    "marks_level1",
    "marks_level2",
    "pauses",
    "peak_queue_pkts",
)
"""Metrics of the summary, in order; one that is 0 or absent in every run is omitted."""
_ALWAYS = ("goodput_bps", "drops")
_NAMES = {
    "marks_level1": "marks K",
    "marks_level2": "marks K_dc",
    "jain_index": "Jain's index",
    "peak_queue_pkts": "peak queue pkts",
    "pauses": "pause frames",
}
_IN_TABLE = (
    "outcome",
    *_SHOWN,
    "slowdown_p50",
    "jain_index",
    "flows_completed",
    "flows_finite",
    "flows_timed_out",
    "tail_drops",
    "buffer_drops",
)


def blocks(runs: Runs) -> list[Block]:
    """The summary."""
    metrics = _metrics(runs)
    rows = [
        Run(
            *key,
            values=[short(number(numbers.get(one.name))) for one in metrics],
            few=[place for place, one in enumerate(metrics) if one.name in items(numbers.get("few_values"))],
        )
        for key, numbers in runs.numbers.items()
    ]
    count = len(runs.seeds)
    caption = (
        f"Median over {count} seeds (the selected ones), with the smallest and the largest value below it."
        if count > 1
        else "One seed: there is no spread."
    )
    if any(row.few for row in rows):
        caption += " A star: a percentile of so few values in a run that it is their largest."
    return [Summary("Medians and ranges", caption, metrics, rows)]


def _metrics(runs: Runs) -> list[Metric]:
    rows = list(runs.numbers.values())
    # Runs without finite flows have the goodput of all flows: 0 would mislead.
    endless = all(not row.get("flows_finite") for row in rows)
    shown = [name for name in _SHOWN if name != ("goodput_bps" if endless else "total_goodput_bps")]
    metrics: list[Metric] = []
    for name in shown:
        sizes = [abs(value) for row in rows if (value := number(row.get(name))) is not None]
        if not any(sizes) and name not in _ALWAYS:
            continue
        factor, unit = scale(name, max(sizes, default=0))
        digits = 0 if all(float(one).is_integer() for one in sizes) and factor == 1 else 3
        words = _NAMES.get(name, heading(name, unit).replace("_", " "))
        metrics.append(Metric(name, words, 1 / factor, digits, f"{name} of summary.json"))
    return metrics


def table(runs: Runs) -> Table:
    """One row per run with its numbers from summary.json."""
    rows = list(runs.numbers.items())[:MAX_RUNS]
    names = [name for name in _IN_TABLE if any(numbers.get(name) not in (None, 0, 0.0) for _, numbers in rows)]
    scales = {name: _scale(name, [numbers.get(name) for _, numbers in rows]) for name in names}
    columns = [Column("variant", numeric=False), *point_column(runs), Column("seed")]
    columns += [
        Column(_NAMES.get(name, heading(name, scales[name][1]).replace("_", " ")), name != "outcome", name)
        for name in names
    ]
    cells = [
        [
            *leading(runs, key),
            *(
                str(numbers.get(name) or "") if name == "outcome" else _scaled(numbers.get(name), scales[name][0])
                for name in names
            ),
        ]
        for key, numbers in rows
    ]
    left = len(runs.numbers) - len(rows)
    return Table(
        "Every run",
        columns,
        cells,
        f"{left} more runs are in summary.json." if left else "Numbers as in summary.json.",
        series=[key.series for key, _ in rows],
        points=[key.point for key, _ in rows],
        seeds=[key.seed for key, _ in rows],
    )


def _scaled(value: JsonValue, factor: float) -> Cell:
    return None if (found := number(value)) is None else short(found / factor)


def _scale(name: str, values: list[JsonValue]) -> tuple[float, str]:
    return scale(name, max((abs(found) for value in values if (found := number(value)) is not None), default=0))


def point_column(runs: Runs) -> list[Column]:
    """The column of the sweep's points, if there are several."""
    return [Column("point", numeric=False)] if len(runs.points) > 1 else []


def leading(runs: Runs, key: Key) -> list[Cell]:
    """The first cells of a run's row: its series, its point if there are several, its seed."""
    return [runs.series[key.series].label, *([runs.points[key.point]] if len(runs.points) > 1 else []), key.seed]
