"""Claims to numbers: each kind of measure read off the runs of a figure. Pure: tables in, numbers out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import polars as pl

from p4cc.analysis.metrics import supported
from p4cc.analysis.recorded import read_table
from p4cc.analysis.tables import TABLE_NAMES, table
from p4cc.errors import UserError
from p4cc.reproduce import distributions, models
from p4cc.reproduce.few import few_values
from p4cc.reproduce.flows import measure_flows, median
from p4cc.reproduce.other_simulator import count_off
from p4cc.reproduce.rows import need, of_variant
from p4cc.scenario.beside_claims import BesideMeasure
from p4cc.scenario.claims import (
    BinsMeasure,
    Claim,
    CombineMeasure,
    FarthestMeasure,
    FlowShareMeasure,
    LimitMeasure,
    ModelMeasure,
    ModelSlopeMeasure,
    ReadingsMeasure,
    RiseMeasure,
    RoundModelMeasure,
    TableMeasure,
    TraceMeasure,
    ValueMeasure,
    WorstRatioMeasure,
)
from p4cc.scenario.distribution_claims import (
    AfterPeakMeasure,
    CorrelationMeasure,
    KolmogorovMeasure,
    ReachMeasure,
    SampleMeasure,
    ShiftMeasure,
)
from p4cc.scenario.stated import Range

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from p4cc.scenario.claims import Measure, Number
    from p4cc.scenario.schema import ScenarioModel
    from p4cc.scenario.where import Interval, OfRuns


End = Literal["", "least", "most", "either"]
_OTHER_END: dict[End, End] = {"": "", "least": "most", "most": "least", "either": "either"}


@dataclass(frozen=True)
class Measured:
    """A number, or none if the runs lack it, with remarks."""

    value: float | None
    detail: str = ""
    few: str = ""
    """Why the number is not data, if it has too few values."""
    end: End = ""
    """Of a limit that reaches the end of its sweep: the number is `least` this, or `most`, or `either`."""
    below: float | None = None
    """Of a limit whose first point fails already: this point, below which it lies."""

    def lies_in(self, band: Range | Interval) -> bool | None:
        """Whether the number lies within a band; None if the end of a sweep does not tell."""
        if self.value is None or self.end == "either":
            return None
        if not self.end:
            return band.holds(self.value)
        least, most = (band.low, band.high) if isinstance(band, Range) else (band.min, band.max)
        if self.end == "least":
            beyond, within = most is not None and self.value > most, least is None or self.value >= least
            return False if beyond else True if most is None and within else None
        limit = self.value if self.below is None else self.below
        # A number below its limit lies beyond a band that begins there; one that may be equal does not.
        beyond = least is not None and (limit < least or (self.below is not None and limit == least))
        return False if beyond else True if least is None and (most is None or limit <= most) else None


@dataclass(frozen=True)
class FigureRuns:
    """The results of a figure's scenario."""

    scenario: ScenarioModel
    runs: pl.DataFrame
    """One row per run: variant, swept values, seed, and the run's numbers."""
    points: list[str]
    """Columns that tell points of the sweep apart, the variant aside."""
    folder: Path | None

    def table(self, name: str) -> pl.DataFrame:
        """A table of the results; raises UserError when the scenario does not record it."""
        if self.folder is None:
            raise UserError(f"no table {name!r} was kept")
        result = read_table(self.folder, name)
        if result is None:
            when = table(name).when if name in TABLE_NAMES else "nothing: there is no such table"
            raise UserError(f"table {name!r} has no rows", place=str(self.folder), remedy=f"what it needs: {when}")
        return result

    @cached_property
    def windows(self) -> pl.DataFrame:
        """Samples of the senders' windows."""
        return self.table("windows")


def measure_all(runs: FigureRuns, numbers: Sequence[Number]) -> dict[str, Measured]:
    """All numbers of a figure, by name; one may combine others. Raises UserError for unknown names."""
    result: dict[str, Measured] = {}
    for number in in_order(numbers):
        try:
            band = number.range if isinstance(number, Claim) else None
            result[number.name] = measure(runs, number.measure, result, band)
        except UserError as error:
            raise UserError(error.cause, place=f"claim {number.name}", remedy=error.remedy) from error
    return result


def in_order(numbers: Sequence[Number]) -> list[Number]:
    """Numbers after those that they combine; those that combine themselves or unknown ones come last."""
    names = {one.name for one in numbers}
    result: list[Number] = []
    done: set[str] = set()
    left = list(numbers)
    while left:
        ready = [one for one in left if done.issuperset(_combined(one.measure) & names)] or left
        result += ready
        done |= {one.name for one in ready}
        left = [one for one in left if one.name not in done]
    return result


def _combined(how: Measure) -> set[str]:
    return {how.of, how.to} if isinstance(how, CombineMeasure) else set()


def measure(runs: FigureRuns, how: Measure, known: Mapping[str, Measured], band: Range | None = None) -> Measured:
    """One measure; `known` are the numbers that a combination may name, `band` is that of a source's number."""
    found = _farthest(runs, how, band) if isinstance(how, FarthestMeasure) else _measure(runs, how, known)
    few = "" if isinstance(how, CombineMeasure) else few_values(runs.runs, runs.table, how)
    return replace(found, few=few) if few else found


def _measure(runs: FigureRuns, how: Measure, known: Mapping[str, Measured]) -> Measured:
    match how:
        case CombineMeasure():
            return combine(how, known)
        case LimitMeasure():
            return _limit_of(_chosen(runs.runs, how), how)
        case FarthestMeasure():
            return _farthest(runs, how, None)
        case ValueMeasure():
            return Measured(_value(runs, how), _left_out(_chosen(runs.runs, how), how.column))
        case TableMeasure():
            return Measured(_of_table(runs, how))
        case BinsMeasure():
            return Measured(_of_bins(runs, how))
        case WorstRatioMeasure():
            return Measured(_smallest_ratio(runs, how))
        case FlowShareMeasure():
            return Measured(_flow_share(runs, how))
        case RoundModelMeasure():
            return Measured(models.rise_in_rounds(runs.scenario, how))
        case RiseMeasure():
            return Measured(_rise(runs, how))
        case TraceMeasure():
            return Measured(_longest_wait(runs, how))
        case ModelMeasure():
            return Measured(models.peak_window(runs.scenario, printed=how.printed))
        case ModelSlopeMeasure():
            return Measured(models.flattest_slope(runs.scenario, how))
        case ReadingsMeasure():
            return _readings(runs, how)
        case SampleMeasure():
            return Measured(distributions.statistic(runs.table, how))
        case KolmogorovMeasure():
            return Measured(distributions.distance(runs.table, how))
        case ShiftMeasure():
            return Measured(distributions.shift(runs.table, how))
        case CorrelationMeasure():
            return Measured(distributions.correlation(runs.table, how))
        case ReachMeasure():
            return Measured(distributions.reach(runs.table, how))
        case BesideMeasure():
            return Measured(*count_off(runs.table("flows"), how))
        case AfterPeakMeasure():
            return Measured(distributions.after_peak(runs.table, how))
        case _:
            return Measured(measure_flows(runs.runs, runs.table, how))


def combine(how: CombineMeasure, known: Mapping[str, Measured]) -> Measured:
    """A ratio, a difference, or an increase in parts of the second; none where one of both is missing."""
    for name in (how.of, how.to):
        if name not in known:
            raise UserError(f"no claim {name!r} to combine", remedy=f"claims before it: {', '.join(known) or 'none'}")
    of, to = known[how.of], known[how.to]
    few = of.few or to.few
    if of.value is None or to.value is None:
        return Measured(None, few=few)
    # What lies below a point is not known but for this point, which bounds the combination.
    first, second = _nearest(of), _nearest(to)
    if how.kind != "difference" and second == 0:
        return Measured(None, few=few)
    match how.kind:
        case "ratio":
            value = first / second
        case "difference":
            value = first - second
        case "increase":
            value = (first - second) / second
    end = _end_of(of.end, to.end)
    if end and how.kind != "difference" and min(first, second) < 0:
        # Divided by what is negative, a bound is one of the other side.
        end = "either"
    if end == "most" and of.below is not None:
        return Measured(value, f"less than {value:g}", few=few, end=end, below=value)
    return Measured(value, few=few, end=end)


def _end_of(of: End, to: End) -> End:
    """The end of a ratio or a difference of two numbers."""
    other = _OTHER_END[to]
    return of if other in ("", of) else other if not of else "either"


def _chosen(frame: pl.DataFrame, how: OfRuns) -> pl.DataFrame:
    """Rows of the variant where the columns are as asked; raises UserError when there are none."""
    return of_variant(frame, how.variant, how.where)


def _limit_of(rows: pl.DataFrame, how: LimitMeasure) -> Measured:
    """A limit, and whether it is the end of the sweep's values, or lies below the first of them."""
    limit = _limit(rows, how.over, how.column, how.at_least)
    points = [float(value) for value in rows[how.over].to_list()]
    if limit is None:
        first = min(points) + how.beside
        return Measured(how.beside, f"less than the first point, {first:g}", end="most", below=first)
    return Measured(limit + how.beside, end="least" if limit >= max(points) else "")


def _farthest(runs: FigureRuns, how: FarthestMeasure, band: Range | None) -> Measured:
    """The reading that is farthest from the source's number, of those that the band of this one decides.

    If it decides none, each is a bound.
    """
    parts = [how.of] if how.to is None else [how.of, how.to]
    rows = pl.concat([_chosen(runs.runs, part) for part in parts])
    need(rows, *how.by)
    found: list[tuple[str, Measured]] = []
    without = 0
    for values, of_reading in rows.group_by(*how.by, maintain_order=True):
        one = _of_reading(replace(runs, runs=of_reading), how)
        named = " ".join(f"{name}={_plain(value)}" for name, value in zip(how.by, values, strict=True))
        if one.value is None:
            without += 1
        else:
            found.append((named, one))
    if not found:
        return Measured(None)
    decided = [reading for reading in found if band is None or reading[1].lies_in(band) is not None]
    named, one = max(decided or found, key=lambda reading: abs(_nearest(reading[1]) - how.from_number))
    least, most = (pick(reading.value or 0.0 for _, reading in found) for pick in (min, max))
    detail = f"the farthest of {len(found)} readings, from {least:.4g} to {most:.4g}: {named}"
    if decided and (undecided := len(found) - len(decided)):
        detail += f"; {undecided} end with the sweep, which decides nothing"
    if without:
        detail += f"; {without} more have no value"
    if one.below is not None:
        detail += f"; {one.detail}"
    return replace(one, detail=detail)


def _of_reading(runs: FigureRuns, how: FarthestMeasure) -> Measured:
    """The number of one reading's runs."""
    of = _measure(runs, how.of, {})
    if how.to is None:
        return of
    known = {"of": of, "to": _measure(runs, how.to, {})}
    return combine(CombineMeasure(kind=how.combined, of="of", to="to"), known)


def _nearest(one: Measured) -> float:
    """The value that counts: of a limit below its first point, that point, which bounds it."""
    return one.below if one.below is not None else one.value or 0.0


def _limit(rows: pl.DataFrame, over: str, column: str, at_least: float | None = None) -> float | None:
    """The largest point up to which the median is as asked; None if it is not at the first."""
    need(rows, over, column)
    medians = rows.group_by(over).agg(pl.col(column).cast(pl.Float64).median().alias("median"))
    points = ((float(row[over]), row["median"]) for row in medians.iter_rows(named=True))
    if at_least is None:
        return supported((point, median == 0) for point, median in points)
    return supported((point, median is not None and median >= at_least) for point, median in points)


def _of_table(runs: FigureRuns, how: TableMeasure) -> float | None:
    rows = _chosen(runs.table(how.table), how)
    need(rows, how.column)
    return _over_points(runs, rows, _statistic(pl.col(how.column).cast(pl.Float64), how.rows), how.points, how.scale)


def _of_bins(runs: FigureRuns, how: BinsMeasure) -> float | None:
    rows = _chosen(runs.table("goodput"), how)
    time = pl.col("time_ns").cast(pl.Int64)
    keys = [name for name in ("seed", *runs.points) if name in rows.columns]
    totals = (
        rows.filter((time >= how.start_ns) & (time < how.end_ns))
        .group_by(*keys, "time_ns", maintain_order=True)
        .agg(pl.col("rate_bps").sum())
    )
    return _over_points(runs, totals, _statistic(pl.col("rate_bps"), how.bins), how.points, how.scale)


def _over_points(runs: FigureRuns, rows: pl.DataFrame, each: pl.Expr, points: str, scale: float) -> float | None:
    """A statistic of each point's rows, then one over the points."""
    points_here = [name for name in runs.points if name in rows.columns]
    if points_here:
        column = rows.group_by(*points_here, maintain_order=True).agg(each.alias("value"))["value"]
    else:
        column = rows.select(each.alias("value"))["value"]
    found = pl.DataFrame({"value": column}).select(_statistic(pl.col("value"), points))["value"][0]
    return None if found is None else float(found) * scale


def _value(runs: FigureRuns, how: ValueMeasure) -> float | None:
    rows = _chosen(runs.runs, how)
    need(rows, how.column)
    of_run = pl.col(how.column).cast(pl.Float64)
    over_seeds = (of_run > 0).mean() if how.seeds == "share_above_0" else _statistic(of_run, how.seeds)
    value = _over_points(runs, rows, over_seeds, how.points, how.scale)
    return None if value is None else value + how.offset


def _left_out(rows: pl.DataFrame, column: str) -> str:
    """The remark on a number that is not of all runs."""
    valued = rows[column].count() if column in rows.columns else rows.height
    return "" if valued == rows.height else f"{valued} of {rows.height} runs have a value of {column}"


def _statistic(value: pl.Expr, name: str) -> pl.Expr:
    match name:
        case "median":
            return value.median()
        case "mean":
            return value.mean()
        case "min":
            return value.min()
        case _:
            return value.max()


def _smallest_ratio(runs: FigureRuns, how: WorstRatioMeasure) -> float | None:
    need(runs.runs, how.column)
    medians = [
        of_variant(runs.runs, variant, how.where)
        .group_by(*runs.points, maintain_order=True)
        .agg(pl.col(how.column).cast(pl.Float64).median().alias(name))
        for variant, name in ((how.variant, "above"), (how.to_variant, "below"))
    ]
    rows = medians[0].join(medians[1], on=runs.points).iter_rows(named=True)
    ratios = [row["above"] / row["below"] for row in rows if row["above"] and row["below"]]
    if how.either_way:
        return max(ratios, key=lambda ratio: abs(ratio - 1), default=None)
    return min(ratios, default=None)


def _flow_share(runs: FigureRuns, how: FlowShareMeasure) -> float:
    flows = _chosen(runs.table("flows"), how)
    need(flows, how.column)
    # What did not happen, such as the end of a flow that was cut off, is null, which is not at most anything.
    return 100.0 * flows.filter(pl.col(how.column).cast(pl.Float64) <= how.at_most).height / flows.height


def _rise(runs: FigureRuns, how: RiseMeasure) -> float | None:
    """The median over the seeds."""
    samples = _chosen(runs.windows, how).filter(pl.col("flow_id") == how.flow_id)
    times: list[float] = []
    for (_,), one in samples.group_by("seed", maintain_order=True):
        until, since = (_first_ns(one, segments) for segments in (how.to_segments, how.from_segments))
        if until is None or since is None:
            return None
        times.append((until - since) / 1e9)
    return median(times)


def _first_ns(samples: pl.DataFrame, segments: float | None) -> int | None:
    """When a window first has this many segments; 0 for None."""
    if segments is None:
        return 0
    return min(samples.filter(pl.col("cwnd_segments") >= segments)["time_ns"].to_list(), default=None)


def _longest_wait(runs: FigureRuns, how: TraceMeasure) -> float | None:
    """The median over the seeds of a value of the flow with the longest wait."""
    samples = _chosen(runs.windows, how)
    result: list[float] = []
    for _, one in samples.group_by("seed", maintain_order=True):
        waits = [wait for _, flow in one.group_by("flow_id", maintain_order=True) if (wait := _wait_of(flow))]
        if not waits:
            return None
        longest = max(waits, key=lambda wait: wait["wait_ms"])
        result.append(longest[how.give])
    return median(result)


def _wait_of(flow: pl.DataFrame) -> dict[str, float] | None:
    """A flow's longest time between two samples at which more had been acknowledged than before."""
    ordered = flow.sort("time_ns").with_columns(acked=pl.col("acked_bytes").cast(pl.Int64))
    progress = ordered.filter((pl.col("acked") - pl.col("acked").shift(1).fill_null(-1)) > 0)
    gaps = progress.with_columns(gap=pl.col("time_ns").cast(pl.Int64).diff()).drop_nulls("gap")
    if gaps.is_empty():
        return None
    place = int(gaps["gap"].arg_max() or 0)
    end = int(gaps["time_ns"][place])
    before = ordered.filter(pl.col("time_ns").cast(pl.Int64) <= end - int(gaps["gap"][place]))
    # At the timeout itself the window falls to 1; the sample at which data flows again has grown a little.
    within = ordered.filter(
        (pl.col("time_ns").cast(pl.Int64) > end - int(gaps["gap"][place])) & (pl.col("time_ns").cast(pl.Int64) <= end)
    )
    return {
        "wait_ms": float(gaps["gap"][place]) / 1e6,
        "begin_ms": float(end - int(gaps["gap"][place])) / 1e6,
        "peak_segments_before": max(before["cwnd_segments"].drop_nulls().to_list(), default=0.0),
        "segments_after": min(within["cwnd_segments"].drop_nulls().to_list(), default=0.0),
    }


def _readings(runs: FigureRuns, how: ReadingsMeasure) -> Measured:
    rows = _chosen(runs.runs, how)
    need(rows, *how.by)
    matching: list[str] = []
    total = 0
    for values, of_reading in rows.group_by(*how.by, maintain_order=True):
        total += 1
        # 0 where not even the first point is reached.
        limit = _limit(of_reading, how.over, how.column, how.at_least) or 0.0
        if how.limit.holds(limit):
            named = " ".join(f"{name}={_plain(value)}" for name, value in zip(how.by, values, strict=True))
            matching.append(f"{named} ({limit:g})")
    return Measured(float(len(matching)), f"{len(matching)} of {total} readings: {'; '.join(matching) or 'none'}")


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
