"""What is worked out of a run: numbers, tables as they go to another machine, and what is said of it.

Whoever makes a run may do all of that; whoever gathers runs then writes rows, and says of each case what its runs say
together.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from p4cc.analysis.metrics import Measures, derive
from p4cc.analysis.tables import ALGORITHM
from p4cc.running.captures import limit_warning
from p4cc.running.losses import assertion_warning, drops_of, lossless_drops, pass_limit_warning, refusals_of
from p4cc.running.run_end import ending_of
from p4cc.running.table_stream import table_stream

if TYPE_CHECKING:
    from p4cc.planning.network import NetworkPlan
    from p4cc.running.cached_run import SeedRun
    from p4cc.scenario.expand import Case


@dataclass(frozen=True)
class Facts:
    """What a run tells of itself for the lines about its case, as plain values."""

    warnings: list[str]
    """Of the limit of passes."""
    captures: list[str]
    """Warnings about captures that ended early."""
    drops: list[tuple[str, str, int]]
    """Switch, how it dropped packets other than for want of room, and how many."""
    refused: tuple[int, list[str]]
    """Packets that hosts refused, and these hosts."""
    installed: list[dict[str, Any]]
    """K and K_dc as the switches had them, with the number of ports."""
    lossless: list[tuple[str, int, str, int]]
    """Switch, priority and cause for which it dropped packets of a lossless priority, and how many."""
    ending: str | None
    """How the run ended, and why, where it was a deadlock or a stall."""

    def plain(self) -> dict[str, object]:
        """As JSON has it."""
        return asdict(self)


@dataclass(frozen=True)
class DerivedRun:
    """A run whose tables are ready."""

    seed: int
    summary: dict[str, Any]
    """Of the engine."""
    numbers: dict[str, Any]
    """The same with what is worked out."""
    facts: Facts
    tables: dict[str, bytes]
    """Those with rows as streams (`table_stream`), in the order in which they are written."""
    captures: dict[str, bytes] = field(default_factory=dict[str, bytes])


def facts_of(case: Case, plan: NetworkPlan, run: SeedRun) -> Facts:
    """What a run tells of itself."""
    warnings = (pass_limit_warning(case, plan, run), assertion_warning(case, run))
    return Facts(
        warnings=[text for text in warnings if text is not None],
        captures=list(limit_warning(case.label(), case.scenario.record.pcap_max_bytes, run)),
        drops=[(switch, text, pkts) for (switch, text), pkts in drops_of(plan, run).items()],
        refused=refusals_of(run),
        installed=_installed(run),
        lossless=lossless_drops(case, plan, run),
        ending=ending_of(case, run),
    )


def derive_run(case: Case, plan: NetworkPlan, run: SeedRun) -> DerivedRun:
    """The tables of a run, and the rest of it."""
    numbers, tables = derive(measures_of(case, plan), run.summary, {**run.tables, **run.long_tables})
    streams = {name: table_stream(columns) for name, columns in tables.items() if columns.num_rows}
    return DerivedRun(run.seed, run.summary, numbers, facts_of(case, plan, run), streams, run.captures)


def keys_of(case: Case) -> dict[str, Any]:
    """A case's keys, the algorithm behind the variant's name among them."""
    return {"variant": case.variant.name, ALGORITHM: case.algorithm, **case.keys()}


def measures_of(case: Case, plan: NetworkPlan) -> Measures:
    """What is worked out of the runs of a case."""
    return Measures(
        topology=plan.topology,
        paths=plan.paths,
        ideals=plan.ideals,
        windows=case.scenario.measure,
        goodput_interval_ns=case.scenario.record.goodput_interval_ns,
        by_label=len(case.scenario.traffic_items) > 1,
        slowdown_by_size=case.scenario.record.slowdown_by_size,
        algorithm=case.algorithm,
        senders=case.algorithms(),
    )


def _installed(run: SeedRun) -> list[dict[str, Any]]:
    found: dict[tuple[int | None, int | None], int] = {}
    for row in run.tables["counters"].select(["k_pkts", "k_dc_pkts"]).to_pylist():
        pair = (row["k_pkts"], row["k_dc_pkts"])
        found[pair] = found.get(pair, 0) + 1
    return [{"k_pkts": k, "k_dc_pkts": k_dc, "ports": ports} for (k, k_dc), ports in found.items()]
