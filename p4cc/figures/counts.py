"""The number behind a drawn value: marks for percentiles of few values, and for medians that leave runs out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from p4cc.analysis import intervals
from p4cc.analysis.percentiles import count_column, of_few_text, percent_of
from p4cc.figures.chart import Word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from p4cc.analysis.intervals import Interval
    from p4cc.figures.chart import Place, Samples

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


def samples(
    runs: pl.DataFrame, variant: str, places: pl.Series, y: str, scale: float, interval: Interval = "range"
) -> Samples | None:
    """The seed and value of every run of a variant at each place of a swept column.

    None with a confidence interval: medians of some of the seeds are not what the figure shows.
    """
    if interval != "range":
        return None
    at = runs.filter(pl.col("variant") == variant).select(
        places.name, "seed", value=pl.col(y).cast(pl.Float64).fill_nan(None) * scale
    )
    found = {key[0]: list(rows.select("seed", "value").iter_rows()) for key, rows in at.group_by(places.name)}
    return [found[place] for place in places]


def runs_behind(runs: pl.DataFrame, y: str) -> list[pl.Expr]:
    """`spread` of the runs behind a median of their column `y`."""
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


def left_out(line: pl.DataFrame, x: Sequence[Place], y: str, variant: str, row: int) -> Iterator[Word]:
    """Marks on medians of `spread` that leave runs out: `1/2`; without a median in the row at the bottom."""
    for at, found, valued, runs in zip(x, *(line[name] for name in (y, "valued", "runs")), strict=True):
        if valued < runs:
            yield Word(at, found, f"{valued}/{runs}", variant=variant, row=row)


def of_few(how: str, percents: Iterable[float], where: str = "") -> str:
    """The meaning of the mark on percentiles of few values."""
    return f"{how}: of {of_few_text(percents)} {where}".rstrip()


def named_interval(how: str, interval: Interval) -> Iterator[str]:
    """Names the confidence interval that is drawn, where one is asked for."""
    if interval != "range":
        yield f"{how}: {intervals.text(interval)}"


def meanings(points: pl.DataFrame, y: str, how: str) -> Iterator[str]:
    """The meaning of the marks on medians of `spread`, if there are any."""
    percent = percent_of(y)
    if percent is not None and points["few"].any():
        yield of_few(how, [percent], "in a run")
    if (points["valued"] < points["runs"]).any():
        yield LEFT_OUT
