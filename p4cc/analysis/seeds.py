"""Numbers of runs over the seeds, with intervals, for `Result.statistics` and `p4cc tables`. Pure."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from p4cc.analysis import intervals
from p4cc.analysis.comparison import NOT_METRICS
from p4cc.scenario.expand import column_names

if TYPE_CHECKING:
    from p4cc.analysis.intervals import Interval
    from p4cc.analysis.recorded import Results
    from p4cc.json_data import JsonObject, JsonValue

_KEYS = ("variant", "algorithm")


def interval_of(scenario: JsonObject) -> Interval:
    """The scenario's interval; t if it sets none, because a range says nothing about the mean."""
    return "bootstrap" if scenario.get("interval") == "bootstrap" else "t"


def over_seeds(results: Results, interval: Interval) -> list[dict[str, JsonValue]]:
    """One row per variant, point and number of the runs, in order."""
    star = ("senders",) if results.run.scenario.topology.get("kind") == "star" else ()
    keys = [*_KEYS, *dict.fromkeys((*star, *column_names(results.run.scenario.sweep)))]
    groups: dict[tuple[JsonValue, ...], list[JsonObject]] = {}
    for run in results.runs:
        groups.setdefault(tuple(run.get(key) for key in keys), []).append(run)
    rows: list[dict[str, JsonValue]] = []
    for of, runs in groups.items():
        metrics = dict.fromkeys(name for run in runs for name, value in run.items() if _is_number(value))
        for metric in metrics:
            if metric in keys or metric in NOT_METRICS:
                continue
            values = [value for run in runs if (value := _number(run.get(metric))) is not None]
            if (found := intervals.of_values(values, interval)) is None:
                continue
            rows.append(
                {
                    **dict(zip(keys, of, strict=True)),
                    "metric": metric,
                    "seeds": len(runs),
                    "values": found.seeds,
                    "mean": found.middle,
                    "low": found.low,
                    "high": found.high,
                    "median": median(values),
                    "interval": interval,
                }
            )
    return rows


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: JsonValue) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
