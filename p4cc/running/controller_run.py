"""One seed whose network is stopped for the user's controller, and for switches that p4cc configures again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from p4cc.control.faults import faults_of
from p4cc.control.load import nobody
from p4cc.control.run import Job
from p4cc.control.virtual import Virtual, run_virtual
from p4cc.running.in_process import server_at
from p4cc.running.installer import Installer
from p4cc.running.networks import serve
from p4cc.running.run_schema import CONTROL

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from p4cc.control.line import SwitchLine
    from p4cc.control.load import ControllerClass
    from p4cc.control.run import Controlled
    from p4cc.running.network_thread import InstalledRun
    from p4cc.running.planned_case import PlannedCase


class Moves(Protocol):
    """Advances a network in virtual time."""

    @property
    def label(self) -> str:
        """Name of the run, for people."""
        ...

    async def to_message(self, until_ps: int, to_message: bool) -> None:
        """Runs until an instant, or with `to_message` until a switch has a message."""
        ...


@dataclass(frozen=True)
class ControlOutcome:
    """Results of a run in addition to the engine's."""

    summary: dict[str, int]
    tables: dict[str, pa.Table]


async def run_with_stops(
    run: InstalledRun, moves: Moves, connected: Callable[[Mapping[str, SwitchLine]], None] = lambda _: None
) -> ControlOutcome:
    """Runs to the end with a P4Runtime server; `connected` receives the connections to the switches.

    Raises UserError, ControllerError.
    """
    planned, network = run.planned, run.network
    address = serve(network, beside=run.installed)
    try:
        of = Virtual(network, address, moves.to_message)
        left = await run_virtual(job_of(planned, moves.label), of, planned.plan, planned.pipelines, connected)
        counters = await Installer(server_at(address, network), planned.plan, planned.pipelines).read_ports(
            left.without_program
        )
    finally:
        network.stop_server()
    return left_by(planned.controller, left, counters)


def job_of(planned: PlannedCase, label: str) -> Job:
    """The parts of a case's run besides its network; `label` names the run for people."""
    scenario, plan = planned.case.scenario, planned.plan
    faults = faults_of(scenario.faults, scenario.control.absences, plan.topology)
    return Job(plan.topology, planned.controller or nobody(), scenario.control, faults, f"case {label}", plan.changes)


def left_by(chosen: ControllerClass | None, left: Controlled, counters: pa.Table) -> ControlOutcome:
    """Results of a run whose controller, if any, has ended."""
    if chosen is None:
        return ControlOutcome({}, {"counters": counters})
    return ControlOutcome(_summary(left), {"counters": counters, "control": _table(left)})


def _summary(left: Controlled) -> dict[str, int]:
    counts = left.counts
    return {
        "control_calls": counts.calls,
        "control_writes": counts.writes,
        "control_packet_outs": counts.packet_outs,
    }


def _table(left: Controlled) -> pa.Table:
    names = CONTROL.names
    return pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in left.rows], CONTROL)
