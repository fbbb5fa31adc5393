"""Results derived from a run: numbers, tables in the form sent to another machine, and notes.

The process that makes a run derives them; the process that gathers runs writes rows, and combines the notes of a
case's runs.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from p4cc.analysis.metrics import Measures, derive
from p4cc.analysis.tables import ALGORITHM
from p4cc.running.captures import limit_warning
from p4cc.running.losses import assertion_warning, drops_of, lossless_drops, pass_limit_warning, refusals_of
from p4cc.running.run_end import ending_of, open_operations_warning
from p4cc.running.table_stream import table_stream
from p4cc.scenario.coflows import CoflowsTraffic, TreeTraffic

if TYPE_CHECKING:
    from p4cc.planning.network import NetworkPlan
    from p4cc.running.cached_run import SeedRun
    from p4cc.scenario.expand import Case


@dataclass(frozen=True)
class Facts:
    """Notes of a run as plain values, input to the lines about its case."""

    warnings: list[str]
    """On the limit of passes, failed assertions and operations that did not end."""
    captures: list[str]
    """On captures that ended early."""
    drops: list[tuple[str, str, int]]
    """Switch, cause other than a full queue, and number of dropped packets."""
    refused: tuple[int, list[str]]
    """Number of packets that hosts refused, and these hosts."""
    installed: list[dict[str, Any]]
    """K and K_dc as installed, with the number of ports."""
    lossless: list[tuple[str, int, str, int]]
    """Switch, priority, cause and number of dropped packets of a lossless priority."""
    ending: str | None
    """How the run ended, and why, for a deadlock or a stall."""

    def plain(self) -> dict[str, object]:
        """As a JSON value."""
        return asdict(self)


@dataclass(frozen=True)
class DerivedRun:
    """A run with derived tables."""

    seed: int
    summary: dict[str, Any]
    """The engine's summary."""
    numbers: dict[str, Any]
    """The summary with derived values."""
    facts: Facts
    tables: dict[str, bytes]
    """Non-empty tables as streams (`table_stream`), in the order of writing."""
    captures: dict[str, bytes] = field(default_factory=dict[str, bytes])


def facts_of(case: Case, plan: NetworkPlan, run: SeedRun) -> Facts:
    """Collects the notes of a run."""
    warnings = (
        pass_limit_warning(case, plan, run),
        assertion_warning(case, run),
        open_operations_warning(case, run),
    )
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
    """Derives tables and the rest of a run's results."""
    numbers, tables = derive(measures_of(case, plan), run.summary, {**run.tables, **run.long_tables})
    streams = {name: table_stream(columns) for name, columns in tables.items() if columns.num_rows}
    return DerivedRun(run.seed, run.summary, numbers, facts_of(case, plan, run), streams, run.captures)


def keys_of(case: Case) -> dict[str, Any]:
    """The keys of a case, including the algorithm behind the variant's name."""
    return {"variant": case.variant.name, ALGORITHM: case.algorithm, **case.keys()}


def measures_of(case: Case, plan: NetworkPlan) -> Measures:
    """Derived results of the runs of a case."""
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
        coflows={
            item.label: item.deadline_ns if isinstance(item, TreeTraffic) else None
            for item in case.scenario.traffic_items
            if isinstance(item, CoflowsTraffic | TreeTraffic)
        },
    )


def _installed(run: SeedRun) -> list[dict[str, Any]]:
    found: dict[tuple[int | None, int | None], int] = {}
    for row in run.tables["counters"].select(["k_pkts", "k_dc_pkts"]).to_pylist():
        pair = (row["k_pkts"], row["k_dc_pkts"])
        found[pair] = found.get(pair, 0) + 1
    return [{"k_pkts": k, "k_dc_pkts": k_dc, "ports": ports} for (k, k_dc), ports in found.items()]
