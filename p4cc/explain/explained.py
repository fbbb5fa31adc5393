"""Explains a folder of results, run by run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from p4cc.analysis.recorded import read_table
from p4cc.errors import UserError
from p4cc.explain.cards import cards_of
from p4cc.explain.causes import Cause
from p4cc.explain.headroom import Headroom, headroom_of, losses_of
from p4cc.explain.judge import Judge, Verdict
from p4cc.explain.network import Graph
from p4cc.explain.pauses import Pauses
from p4cc.explain.settings import settings_of
from p4cc.explain.timeline import SATURATED, Timeline, flows_of
from p4cc.json_data import mapping, number
from p4cc.scenario.expand import column_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from p4cc.analysis.recorded import RecordedCase, RecordedRow, Results
    from p4cc.explain.timeline import Flow
    from p4cc.json_data import JsonValue

SLOW = 1.25
"""Slowdown from which a flow is explained."""
MOST_FLOWS = 1_000
"""Flows of a run that are explained, the slowest first."""
_TABLES = ("flows", "windows", "queues", "links", "pauses", "pause_frames", "slow_receivers", "port_queues")

_SEVERAL_LINKS = (
    "hosts have several links, and which of them a flow took is not recorded: the nearest ones are compared by their "
    "loads, via and faults aside, and a pause counts while all of them are paused"
)


@dataclass(frozen=True)
class RunExplained:
    """What bounded the slow flows of one run."""

    variant: str
    point: Mapping[str, JsonValue]
    """Values of swept fields."""
    seed: int
    flows: int
    """Flows that began."""
    slow: int
    """Flows that took longer than they would alone, or did not finish."""
    verdicts: Sequence[Verdict]
    """Of slow flows, the slowest first."""
    notes: Sequence[str]
    """What the run did not record, and what would."""
    headroom: Sequence[Headroom] = ()
    """Of lossless ports, by rate."""
    losses: Sequence[str] = ()
    """What packets say that found it full."""

    @property
    def shares(self) -> dict[Cause, float]:
        """Shares of the time of all slow flows that are explained."""
        sums: dict[Cause, float] = {}
        for one in self.verdicts:
            for cause, share in one.shares.items():
                sums[cause] = sums.get(cause, 0.0) + share * (one.flow.end_ns - one.flow.start_ns)
        total = sum(sums.values()) or 1.0
        return {cause: span / total for cause, span in sorted(sums.items(), key=lambda item: -item[1])}

    @property
    def counts(self) -> dict[Cause, int]:
        """Slow flows by what bounded them."""
        found: dict[Cause, int] = {}
        for one in self.verdicts:
            found[one.bound] = found.get(one.bound, 0) + 1
        return dict(sorted(found.items(), key=lambda item: -item[1]))


class NoFlowsError(UserError):
    """A folder whose runs have no flows."""


def explain(
    results: Results, slow: float = SLOW, *, wanted: Callable[[RecordedRow], bool] = lambda _: True
) -> list[RunExplained]:
    """Explains the wanted runs of a folder, by default all; raises NoFlowsError if it has no flows."""
    tables = {name: read_table(results.folder, name) for name in _TABLES}
    if tables["flows"] is None or tables["links"] is None:
        remedy = "explain a run with flows; what packets of other traffic met is in tables drops and packets_received"
        raise NoFlowsError("holds no flows", place=str(results.folder), remedy=remedy)
    swept = list(column_names(results.run.scenario.sweep))
    found: list[RunExplained] = []
    for row in filter(wanted, results.rows):
        case = _case_of(results, row, swept)
        if case is not None:
            of_run = {name: _rows_of(frame, row, swept) for name, frame in tables.items()}
            found.append(_explain_run(results, case, row, of_run, swept, slow))
    return found


def _case_of(results: Results, row: RecordedRow, swept: Sequence[str]) -> RecordedCase | None:
    columns = row.columns
    for case in results.run.cases:
        values = case.model_extra or {}
        if case.variant == row.variant and all(values.get(name) == columns.get(name) for name in swept):
            return case
    return None


def _rows_of(frame: pl.DataFrame | None, row: RecordedRow, swept: Sequence[str]) -> pl.DataFrame | None:
    """A run's rows; None for a table that was not written."""
    if frame is None:
        return None
    columns = row.columns
    own = (pl.col("variant") == row.variant) & (pl.col("seed") == row.seed)
    for name in swept:
        if name in frame.columns:
            own &= pl.col(name) == columns[name]
    return frame.filter(own)


def _explain_run(
    results: Results,
    case: RecordedCase,
    row: RecordedRow,
    tables: Mapping[str, pl.DataFrame | None],
    swept: Sequence[str],
    slow: float,
) -> RunExplained:
    columns = row.columns
    links, rows = tables["links"], tables["flows"]
    end_ns = int(number(columns.get("end_ns")) or 0)
    flows = [] if rows is None else flows_of(rows, end_ns)
    settings = settings_of(results.run, case)
    verdicts: list[Verdict] = []
    count, are_open = 0, False
    pauses = Pauses(tables["pauses"], _recorded(results, "pauses", tables["pause_frames"]), end_ns)
    headroom = [] if links is None else list(headroom_of(case, tables["pauses"], Graph(links)))
    if flows and links is not None:
        timeline = Timeline(flows, tables["windows"], tables["queues"])
        graph, judge = Graph(links), Judge(timeline, settings, pauses, cards_of(tables["slow_receivers"]))
        slowest = sorted((one for one in flows if _is_slow(one, graph, slow)), key=_slowness, reverse=True)
        count = len(slowest)
        crossings = [graph.crossing(one.src, one.dst) for one in slowest[:MOST_FLOWS]]
        verdicts = [judge.verdict(one, way) for one, way in zip(slowest, crossings, strict=False)]
        are_open = any(way is not None and way.is_open for way in crossings)
    notes = list(_notes(results, verdicts, pauses, columns))
    if are_open:
        notes.append(_SEVERAL_LINKS)
    if count > len(verdicts):
        notes.append(f"{count - len(verdicts)} more slow flows are not explained: only the {MOST_FLOWS} slowest are")
    point = {name: columns.get(name) for name in swept}
    losses = list(losses_of(headroom, tables["port_queues"]))
    return RunExplained(row.variant, point, row.seed, len(flows), count, verdicts, notes, headroom, losses)


def _recorded(results: Results, key: str, frame: pl.DataFrame | None) -> pl.DataFrame | None:
    """A table that a key of `record` asks for: without rows, not absent, where it was asked for."""
    return frame if _record(results).get(key) else None


def _record(results: Results) -> Mapping[str, JsonValue]:
    record = (results.run.scenario.model_extra or {}).get("record")
    return mapping(record)


def _is_slow(flow: Flow, graph: Graph, slow: float) -> bool:
    """Whether a flow took much longer than alone; of one without an end, whether it was much slower than its path."""
    if flow.slowdown is not None:
        return slow <= 1 or flow.slowdown >= slow
    if flow.size_bytes is not None:
        return True
    crossing, span = graph.crossing(flow.src, flow.dst), flow.end_ns - flow.start_ns
    return crossing is not None and 8e9 * flow.acked_bytes * slow < crossing.rate_bps * max(span, 1) * SATURATED


def _slowness(flow: Flow) -> tuple[bool, float, int]:
    return (not flow.has_finished, flow.slowdown or 0.0, -flow.acked_bytes)


def _notes(
    results: Results, verdicts: Sequence[Verdict], pauses: Pauses, columns: Mapping[str, JsonValue]
) -> Iterator[str]:
    """What was not recorded, as far as it would tell more about these flows."""
    record, bound = _record(results), {cause for one in verdicts for cause in one.shares}
    if not verdicts:
        return
    if record.get("windows_interval_ns") is None:
        yield (
            "windows and rates were not recorded, so shares follow from totals, and receiver windows, floors, slow "
            "starts and applications cannot be told apart: --set record.windows_interval_ns=rtt"
        )
    elif Cause.UNKNOWN in bound:
        yield (
            "some flows are shorter than the sampling interval of windows: --set record.windows_interval_ns=1us, or "
            "less than the shortest flow takes"
        )
    if record.get("queues_interval_ns") is None:
        yield "depths of queues were not recorded, so loads are means: --set record.queues_interval_ns=rtt"
    if pauses.were_any and not pauses.is_exact:
        yield (
            "single pauses were not recorded: shares of pauses spread the total of a port evenly, and pauses within "
            "the network that never reached a sender's host are left out: --set record.pauses=true"
        )
    if Cause.COLLISION in bound:
        yield (
            "paths of flows are not recorded: a collision follows from loads of equal links and the flow's own marks "
            "and round trips; p4cc run SCENARIO --trace FLOW shows the path of its packets"
        )
    if number(columns.get("drops")) and not record.get("drops"):
        yield "why switches dropped packets was not recorded: --set record.drops={}"
    if number(columns.get("rows_left_out")):
        yield "tables ended at their limit (record.max_rows): later times are judged by the last row of each flow"
