"""Common parts of figures over time: the point of a sweep that they show, and goodput against the line rate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from p4cc.analysis.metrics import goodput_bins
from p4cc.digits import digits
from p4cc.errors import UserError
from p4cc.figures.chart import Axis, Level

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from p4cc.scenario.figures import TimeFigure, TracesFigure

HOLE = (
    "goodput above the line rate (dashed): one ACK fills a hole and releases, in one bin, what had arrived behind it "
    "before"
)
"""Why acknowledged payload can be more than a line carries in the same time."""


THROUGHPUT_BIN_NS = 100_000
"""Bin of instantaneous throughput (docs/algorithms/metrics.md#metrics)."""


@dataclass(frozen=True)
class Series:
    """The tables a run leaves, as frames with the run's keys in front."""

    windows: pl.DataFrame
    queues: pl.DataFrame
    links: pl.DataFrame | None = None
    flows: pl.DataFrame | None = None
    bin_ns: int = THROUGHPUT_BIN_NS
    state: pl.DataFrame | None = None
    """Attributes of algorithms in Python."""

    def first_point(self, notes: list[str]) -> Series:
        """Rows of the first point of the sweep, as time has one point only; a note says which it is."""
        names = self.windows.columns
        keys = [name for name in names[: names.index("seed")] if name not in ("variant", "algorithm")]
        points = self.windows.select(keys).unique(maintain_order=True) if keys else pl.DataFrame()
        if points.height <= 1:
            return self
        first = points.row(0, named=True)
        settings = ", ".join(f"{name}={value}" for name, value in first.items() if points[name].n_unique() > 1)
        notes.append(f"{settings}: the first of {points.height} points of the sweep")
        return self._filtered([pl.col(name) == value for name, value in first.items()])

    def of(self, variant: str, seed: int) -> Series:
        """One run's rows."""
        return self._filtered([pl.col("variant") == variant, pl.col("seed") == seed])

    def _filtered(self, chosen: list[pl.Expr]) -> Series:
        def of(frame: pl.DataFrame) -> pl.DataFrame:
            return frame if frame.is_empty() else frame.filter(chosen)

        links, flows, state = (None if one is None else of(one) for one in (self.links, self.flows, self.state))
        return replace(self, windows=of(self.windows), queues=of(self.queues), links=links, flows=flows, state=state)

    def attributes(self) -> list[str]:
        """Names of the attributes that were recorded."""
        return [] if self.state is None or self.state.is_empty() else self.state["name"].unique().to_list()


@dataclass(frozen=True)
class Lines:
    """Rates of the hosts' lines, and where flows begin and end, of one run."""

    rates_bps: dict[str, int]
    ends: dict[int, tuple[str, str]]

    def of_flow(self, flow: int) -> float | None:
        """The slower line of a flow's two hosts; None where it is not known."""
        rates = [self.rates_bps[host] for host in self.ends.get(flow, ()) if host in self.rates_bps]
        return float(min(rates)) if rates else None

    def of_all(self, flows: Iterable[int]) -> float | None:
        """The lines of all hosts that the flows go to, together; None where one is not known."""
        receivers = {self.ends[flow][1] for flow in flows if flow in self.ends}
        known = [self.rates_bps[host] for host in receivers if host in self.rates_bps]
        return float(sum(known)) if known and len(known) == len(receivers) else None


def lines(links: pl.DataFrame | None, flows: pl.DataFrame | None) -> Lines:
    """From tables `links` and `flows`, of one run."""
    if links is None or flows is None:
        return Lines({}, {})
    rates = {str(link).split(":", 1)[0]: int(rate) for link, rate in links.select("link", "rate_bps").iter_rows()}
    ends = {int(flow): (src, dst) for flow, src, dst in flows.select("flow_id", "src", "dst").iter_rows()}
    return Lines(rates, ends)


def bins(notes: list[str], wanted_ns: int, samples_ns: int | None) -> int:
    """Bins for goodput: not shorter than the intervals of samples."""
    if samples_ns is None or samples_ns <= wanted_ns:
        return wanted_ns
    notes.append(f"bins of {samples_ns / 1e3:g} us, as long as the samples")
    return samples_ns


def goodput(windows: pl.DataFrame, bin_ns: int) -> pl.DataFrame:
    """Goodput of all flows together in every bin from 0 on, zeros included: `time_ns` (start), `rate_bps`."""
    sums = goodput_bins(windows, bin_ns).group_by("time_ns").agg(pl.col("rate_bps").sum())
    last = sums["time_ns"].max()
    every = range(0, int(last) + 1, bin_ns) if isinstance(last, int) else range(0)
    frame = pl.DataFrame({"time_ns": every}, schema={"time_ns": pl.Int64})
    return frame.join(sums, on="time_ns", how="left").with_columns(pl.col("rate_bps").fill_null(0.0)).sort("time_ns")


def line_rate(rates: pl.Series, line_bps: float | None, scale: float, notes: list[str]) -> list[Level]:
    """Where a bin lies above the rate of the line: the line, and why."""
    if line_bps is None or not (rates > line_bps).any():
        return []
    notes.append(HOLE)
    return [Level(line_bps * scale, name="line rate", width=0.7, opacity=0.6)]


def until(until_ns: int | None, times: pl.Series) -> Iterator[str]:
    """Omissions of the time axis."""
    last = times.max()
    if until_ns is not None and isinstance(last, int) and last > until_ns:
        yield f"shown to {digits(until_ns / 1e6, 6)} ms; samples continue to {digits(last / 1e6, 6)} ms"


def seed_of(windows: pl.DataFrame, figure: TimeFigure | TracesFigure) -> int:
    """The seed to draw; raises UserError when it was not run or nothing was recorded."""
    seeds = windows["seed"].unique().sort().to_list()
    if not seeds:
        raise UserError(f"figure {figure.file}: no windows were recorded", remedy="set record.windows_interval_ns")
    seed = seeds[0] if figure.seed is None else figure.seed
    if seed not in seeds:
        raise UserError(f"figure {figure.file}: seed {seed} was not run", remedy=f"seeds run: {seeds}")
    return seed


def xy(frame: pl.DataFrame, column: str, scale: float) -> tuple[list[float], list[float | None]]:
    """Times in ms, and a column's values."""
    times = (frame["time_ns"].cast(pl.Float64) / 1e6).to_list()
    return times, (frame[column].cast(pl.Float64) * scale).to_list()


def time_axis(figure: TimeFigure | TracesFigure, row: int) -> Axis:
    """The time of a panel, with a label in the last row; it ends where the figure says."""
    label, unit = ("time", "ms") if row == len(figure.panels) - 1 else ("", "")
    if figure.until_ns is None:
        return Axis(label, unit)
    return Axis(label, unit, low=0, high=figure.until_ns / 1e6)
