"""The number behind a drawn value: marks for percentiles of few values, and for medians that leave runs out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from p4cc.analysis import intervals
from p4cc.analysis.percentiles import count_column, of_few_text, percent_of
from p4cc.figures.style import note

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from p4cc.analysis.intervals import Interval

LEFT_OUT = "k/n: k of n runs have a value, the median is theirs"
FEW = "few_values"
"""The column of runs that names their percentiles of few values."""


def spread(runs: pl.DataFrame, x: str, y: str, scale: float, interval: Interval = "range") -> pl.DataFrame:
    """Median, 5th and 95th percentile over the runs of `y * scale` by variant (in order of appearance) and `x`.

    With a confidence interval `median` is the mean, and `low` and `high` are the interval's ends.
    Beside them: the number of `runs`, of those with a value (`valued`), whether one of them is of few values (`few`),
    and the least and the largest number of values behind a percentile (`least`, `most`; null for other columns).
    """
    value = pl.col(y).cast(pl.Float64) * scale
    points = (
        runs.group_by("variant", x, maintain_order=True)
        .agg(
            value.median().alias("median"),
            value.quantile(0.05, "linear").alias("low"),
            value.quantile(0.95, "linear").alias("high"),
            value.drop_nulls().alias("_values"),
            *runs_behind(runs, y),
        )
        .sort(x, maintain_order=True)
    )
    if interval != "range":
        found = [intervals.of_values(values.to_list(), interval) for values in points["_values"]]
        ends = {
            "median": [None if one is None else one.middle for one in found],
            "low": [None if one is None else (one.middle if one.low is None else one.low) for one in found],
            "high": [None if one is None else (one.middle if one.high is None else one.high) for one in found],
        }
        points = points.with_columns(pl.Series(name, values, pl.Float64) for name, values in ends.items())
    return points.drop("_values")


def runs_behind(runs: pl.DataFrame, y: str) -> list[pl.Expr]:
    """What `spread` says of the runs behind a median of their column `y`."""
    counted = count_column(y)
    known = counted is not None and counted in runs.columns
    count = pl.col(counted).filter(pl.col(y).is_not_null()) if known and counted else pl.lit(None, pl.Int64)
    few = pl.col(FEW).list.contains(y).any() if FEW in runs.columns else pl.lit(value=False)
    return [
        pl.len().alias("runs"),
        pl.col(y).count().alias("valued"),
        few.alias("few"),
        (count.min() if known else count).alias("least"),
        (count.max() if known else count).alias("most"),
    ]


def numbered(label: str, counts: Iterable[int | None], unfinished: int = 0) -> str:
    """A label with the number of values behind its percentiles: `DCTCP (n = 4 to 40)`."""
    known = [count for count in counts if count is not None]
    text = [f"n = {min(known)}" if min(known) == max(known) else f"n = {min(known)} to {max(known)}"] if known else []
    text += [f"{unfinished} unfinished"] if unfinished else []
    return f"{label} ({', '.join(text)})" if text else label


def mark_few(axes: Axes, points: Sequence[tuple[float, float]], colour: str, marker: str) -> None:
    """Hollow markers on percentiles of few values."""
    if points:
        x, y = zip(*points, strict=True)
        axes.plot(x, y, ls="", marker=marker, ms=5, mfc="white", mec=colour, zorder=3)


def mark_left_out(axes: Axes, x: float, y: float | None, text: str, at: int, colour: str) -> None:
    """Marks a median that leaves runs out by `1/2`; without a median on the axis, in the row `at`."""
    if y is None:
        across = axes.get_xaxis_transform()
        axes.text(x, 0.02 + 0.07 * at, text, transform=across, ha="center", fontsize=7, color=colour)
    else:
        axes.annotate(text, (x, y), xytext=(0, 5), textcoords="offset points", ha="center", fontsize=7, color=colour)


def say_few(page: Figure, how: str, percents: Iterable[float], where: str = "") -> None:
    """Says what the mark of percentiles of few values means."""
    note(page, f"{how}: of {of_few_text(percents)} {where}".rstrip())


def say_interval(page: Figure, how: str, interval: Interval) -> None:
    """Names the confidence interval that is drawn, where one is asked for."""
    if interval != "range":
        note(page, f"{how}: {intervals.text(interval)}")


def say_marks(page: Figure, points: pl.DataFrame, y: str, how: str) -> None:
    """Says what the marks on medians of `spread` mean, where there are any."""
    percent = percent_of(y)
    if percent is not None and points["few"].any():
        say_few(page, how, [percent], "in a run")
    if (points["valued"] < points["runs"]).any():
        note(page, LEFT_OUT)
