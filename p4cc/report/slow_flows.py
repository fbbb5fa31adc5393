"""What bounded the slow flows: causes with shares of time, and the slowest flows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4cc.explain.explained import NoFlowsError, explain
from p4cc.explain.text import shares_text, slowdown_text
from p4cc.report.document import Column, Table, Text
from p4cc.report.reduce import short
from p4cc.report.runs import Key
from p4cc.report.summary import leading, point_column

if TYPE_CHECKING:
    from p4cc.analysis.recorded import RecordedRow
    from p4cc.explain.explained import RunExplained
    from p4cc.report.document import Block, Cell
    from p4cc.report.runs import Runs

MAX_FLOWS = 1_500
"""Limit of rows in the table of flows."""


def blocks(runs: Runs) -> list[Block]:
    """Causes of each run, its slowest flows, and what was not recorded; of runs that the page shows in detail."""
    explained = _explained(runs)
    told = [(key, run) for key, run in explained if run.verdicts]
    if not told:
        return _headroom(runs, explained)
    share = max(5, MAX_FLOWS // len(told))
    causes: list[tuple[Key, list[Cell]]] = []
    flows: list[tuple[Key, list[Cell]]] = []
    for key, run in told:
        for cause, part in run.shares.items():
            causes.append((key, [cause.value.name, short(100 * part), run.counts.get(cause, 0), cause.value.text]))
        for one in run.verdicts[:share]:
            ends = [one.flow.flow_id, one.flow.src, one.flow.dst, one.flow.label, slowdown_text(one)]
            flows.append((key, [*ends, one.bound.value.name, shares_text(one.shares), one.link]))
    notes = dict.fromkeys(note for _, run in told for note in run.notes)
    text = [
        Column("cause", numeric=False),
        Column("time (%)"),
        Column("flows bounded"),
        Column("meaning", numeric=False),
    ]
    about = "Flows that took 1.25 times as long as alone in the network, or did not finish (p4cc explain)."
    each = [Column("flow"), *(Column(name, numeric=False) for name in ("from", "to", "class", "slowdown"))]
    each += [Column(name, numeric=False) for name in ("bounded by", "shares of its time", "full link")]
    left = sum(run.slow - min(len(run.verdicts), share) for _, run in told)
    more = f" {left:,} more are omitted." if left else ""
    return [
        _table(runs, "What bounded slow flows", text, causes, f"{about} {runs.left_out}".rstrip()),
        _table(runs, "Slow flows", each, flows, f"The slowest first.{more}"),
        *_headroom(runs, explained),
        *(Text(note, "why") for note in notes),
    ]


def _headroom(runs: Runs, explained: list[tuple[Key, RunExplained]]) -> list[Block]:
    """The headroom of lossless ports, if any are."""
    rows: list[tuple[Key, list[Cell]]] = [
        (
            key,
            [f"{one.rate_bps / 1e9:g}", one.ports, one.configured_bytes, one.formula_bytes, one.used_bytes, one.where],
        )
        for key, run in explained
        for one in run.headroom
    ]
    if not rows:
        return []
    columns = [Column("link (Gb/s)"), Column("ports"), Column("configured (B)"), Column("by the formula (B)")]
    columns += [Column("most used (B)"), Column("where", numeric=False)]
    losses = dict.fromkeys(said for _, run in explained for said in run.losses)
    about = "For each port and lossless priority (IEEE 802.1Qbb, docs/algorithms/pfc.md#headroom)."
    return [_table(runs, "Headroom", columns, rows, about), *(Text(said, "why") for said in losses)]


def _explained(runs: Runs) -> list[tuple[Key, RunExplained]]:
    found: list[tuple[Key, RunExplained]] = []
    for place, folder in enumerate(runs.folders):

        def is_shown(row: RecordedRow, place: int = place) -> bool:
            return runs.key(place, row.variant, row.seed, row.columns) in runs.detailed

        try:
            told = explain(folder.results, wanted=is_shown)
        except NoFlowsError:
            continue
        found += [(runs.key(place, run.variant, run.seed, run.point), run) for run in told]
    return found


def _table(runs: Runs, title: str, columns: list[Column], rows: list[tuple[Key, list[Cell]]], caption: str) -> Table:
    return Table(
        title,
        [Column("variant", numeric=False), *point_column(runs), Column("seed"), *columns],
        [[*leading(runs, key), *row] for key, row in rows],
        caption,
        series=[key.series for key, _ in rows],
        points=[key.point for key, _ in rows],
        seeds=[key.seed for key, _ in rows],
        at_point=True,
    )
