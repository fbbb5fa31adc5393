"""Measures of distributions read off the tables of a figure's runs: seed by seed, then the median."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from p4cc.analysis import distributions
from p4cc.analysis.distributions import Sample
from p4cc.reproduce.rows import need, of_variant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from p4cc.analysis.percentiles import Values
    from p4cc.scenario.distribution_claims import (
        AfterPeakMeasure,
        CorrelationMeasure,
        KolmogorovMeasure,
        ReachMeasure,
        Rows,
        SampleMeasure,
        ShiftMeasure,
    )


def statistic(tables: Callable[[str], pl.DataFrame], how: SampleMeasure) -> float | None:
    """A statistic of each seed's values, or the mean of that of every group of them."""

    def of(rows: pl.DataFrame) -> float:
        if not how.each:
            return _statistic(_sample(rows, how), how.statistic)
        groups = (group for _, group in rows.group_by(*how.each, maintain_order=True))
        found = np.array([_statistic(_sample(group, how), how.statistic) for group in groups])
        return float(np.nanmean(found)) if np.isfinite(found).any() else float("nan")

    rows = _chosen(tables, how)
    need(rows, *how.each)
    return _median(of(seed) for seed in _seeds(rows))


def _statistic(sample: Sample, name: str) -> float:
    values, weights = sample.values, sample.weights
    if values.size == 0:
        return 0.0 if name == "count" else float("nan")
    mean = float(np.average(values, weights=weights))
    deviation = float(np.sqrt(np.average((values - mean) ** 2, weights=weights)))
    match name:
        case "mean":
            return mean
        case "min":
            return float(values.min())
        case "max":
            return float(values.max())
        case "std":
            return deviation
        case "cv":
            return deviation / mean if mean else float("nan")
        case "count":
            return float(values.size)
        case _:
            return sample.percentile(float(name[1:]))


def after_peak(tables: Callable[[str], pl.DataFrame], how: AfterPeakMeasure) -> float | None:
    """The share of a queue's peak that is left some time after it, or the time until a share is."""

    def of(rows: pl.DataFrame) -> float:
        times, depths = rows["time_ns"].cast(pl.Int64).to_numpy(), rows[how.column].cast(pl.Float64).to_numpy()
        at = int(np.argmax(depths))
        if depths[at] == 0:
            return float("nan")
        if how.drained_per_us is not None:
            return _drained(float(depths[at]), how.drained_per_us, how)
        left = depths[at:] / depths[at]
        if how.after_ns is not None:
            # A depth holds until the next row.
            return float(left[np.searchsorted(times[at:], times[at] + how.after_ns, side="right") - 1])
        below = np.flatnonzero(left <= (how.share or 0.0))
        return float(times[at:][below[0]] - times[at]) / 1e3 if below.size else float("nan")

    return _median(of(seed) for seed in _seeds(_chosen(tables, how)))


def _drained(peak: float, per_us: float, how: AfterPeakMeasure) -> float:
    if how.after_ns is not None:
        return max(0.0, 1 - per_us * how.after_ns / 1e3 / peak)
    return peak * (1 - (how.share or 0.0)) / per_us


def distance(tables: Callable[[str], pl.DataFrame], how: KolmogorovMeasure) -> float | None:
    """Kolmogorov's distance of two samples of each seed."""
    pairs = zip(_seeds(_chosen(tables, how.of)), _seeds(_chosen(tables, how.to)), strict=True)
    return _median(distributions.kolmogorov(_sample(one, how.of), _sample(other, how.to)) for one, other in pairs)


def shift(tables: Callable[[str], pl.DataFrame], how: ShiftMeasure) -> float | None:
    """The largest distance of equal percentiles of two samples of each seed."""
    pairs = zip(_seeds(_chosen(tables, how.of)), _seeds(_chosen(tables, how.to)), strict=True)
    return _median(
        distributions.largest_shift(
            _sample(one, how.of), _sample(other, how.to), how.percentiles, relative=how.relative
        )
        for one, other in pairs
    )


def correlation(tables: Callable[[str], pl.DataFrame], how: CorrelationMeasure) -> float | None:
    """Pearson's coefficient of two columns of each seed."""
    rows = _chosen(tables, how)
    need(rows, how.with_column)
    first, second = pl.col(how.column).cast(pl.Float64), pl.col(how.with_column).cast(pl.Float64)
    return _median(
        distributions.correlation(seed.select(first).to_series().to_numpy(), seed.select(second).to_series().to_numpy())
        for seed in _seeds(rows)
    )


def reach(tables: Callable[[str], pl.DataFrame], how: ReachMeasure) -> float | None:
    """When the mean over flows first is at a level, in ms from `from_ns`."""

    def of(rows: pl.DataFrame) -> float:
        # There is a row for each change: a flow's value holds until its next row.
        latest: dict[int, float] = {}
        flows = rows["flow_id"].n_unique()
        ordered = rows.sort("time_ns", maintain_order=True)
        columns = (ordered["time_ns"].to_list(), ordered["flow_id"].to_list(), ordered[how.column].to_list())
        for time, flow, value in zip(*columns, strict=True):
            latest[flow] = float(value) * how.scale + how.offset
            if time >= how.from_ns and len(latest) == flows and sum(latest.values()) / flows >= how.level:
                return (time - how.from_ns) / 1e6
        return float("nan")

    return _median(of(seed) for seed in _seeds(_chosen(tables, how)))


def _chosen(tables: Callable[[str], pl.DataFrame], how: Rows) -> pl.DataFrame:
    rows = of_variant(tables(how.table), how.variant, how.where)
    need(rows, how.column)
    return rows


def _seeds(rows: pl.DataFrame) -> Iterator[pl.DataFrame]:
    return (group for _, group in rows.group_by("seed", maintain_order=True))


def _values(rows: pl.DataFrame, how: Rows) -> Values:
    values = rows[how.column].cast(pl.Float64).fill_nan(None).drop_nulls()
    return (values * how.scale + how.offset).to_numpy()


def _sample(rows: pl.DataFrame, how: Rows) -> Sample:
    if how.table != "queues":
        values = _values(rows, how)
        return Sample(values, np.ones_like(values))
    samples = rows.with_columns(
        held=(pl.col("time_ns").cast(pl.Int64).shift(-1) - pl.col("time_ns").cast(pl.Int64)).over("switch", "port")
    ).drop_nulls("held")
    values = samples[how.column].cast(pl.Float64) * how.scale + how.offset
    return Sample(values.to_numpy(), samples["held"].cast(pl.Float64).to_numpy())


def _median(of_seeds: Iterable[float]) -> float | None:
    found = np.array(list(of_seeds))
    return float(np.median(found)) if found.size and np.isfinite(found).all() else None
