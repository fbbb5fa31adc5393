"""Writes each case as it ends: tables and captures go to the results folder, the rest is collected."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from p4cc.analysis.metrics import derive
from p4cc.planning.headroom import headrooms
from p4cc.running.derived_run import DerivedRun, keys_of, measures_of
from p4cc.running.table_stream import streamed_parts
from p4cc.running.warning_place import with_place

if TYPE_CHECKING:
    from p4cc.running.captures import CaptureWriter
    from p4cc.running.case import CaseRun
    from p4cc.running.packet_trace import PacketTrace
    from p4cc.running.result_writer import ResultWriter
    from p4cc.scenario.expand import Case
    from p4cc.scenario.findings import Places


@dataclass
class Collected:
    """Results of cases other than tables."""

    runs: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    warnings: dict[str, None] = field(default_factory=dict[str, None])
    notes: dict[str, None] = field(default_factory=dict[str, None])
    """Notes that do not affect results and are not in the summary."""
    thresholds: dict[str, list[dict[str, Any]]] = field(default_factory=dict[str, list[dict[str, Any]]])
    """By case: installed K and K_dc, with the number of ports that have them."""
    headroom: dict[str, list[dict[str, int]]] = field(default_factory=dict[str, list[dict[str, int]]])
    """By case with lossless priorities: headroom of ports and what the formula asks for, by rate."""
    traced: PacketTrace | None = None
    keys: list[str] = field(default_factory=list[str])
    """Cache keys of the runs."""
    passing: set[str] = field(default_factory=set[str])
    """Notes on how this call made its runs."""

    def add(self, case: Case, run: CaseRun) -> None:
        """Adds the notes of another case."""
        self.warnings.update(dict.fromkeys(run.warnings))
        self.notes.update(dict.fromkeys(run.notes))
        self.passing.update(run.passing)
        self.keys.extend(run.keys)
        self.traced = self.traced or run.traced
        # Equal for all seeds.
        self.thresholds[case.label()] = run.facts[0].installed
        if planned := headrooms(case, run.plan):
            self.headroom[case.label()] = planned


@dataclass(frozen=True)
class CaseWriter:
    """Writes the cases of a call."""

    tables: ResultWriter
    captures: CaptureWriter
    places: Places
    """Origin of the scenario's values."""
    collected: Collected

    def add(self, case: Case, run: CaseRun) -> None:
        """Writes the next case, in the scenario's order."""
        of_plan = frozenset(run.plan.warnings)
        placed = [with_place(one, case, self.places) if one in of_plan else one for one in run.warnings]
        self.collected.add(case, replace(run, warnings=placed))
        measures = measures_of(case, run.plan)
        for one in run.seeds:
            keys = {**keys_of(case), "seed": one.seed}
            if isinstance(one, DerivedRun):
                numbers = one.numbers
                for name, stream in one.tables.items():
                    self.tables.add_parts(keys, name, streamed_parts(stream, case.label()))
            else:
                numbers, tables = derive(measures, one.summary, {**one.tables, **one.long_tables})
                self.tables.add(keys, tables)
            self.collected.runs.append({**keys, **numbers})
            self.captures.add(case.label(), one.seed, one.captures)
