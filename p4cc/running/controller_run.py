"""One seed whose network stops on its way: for the user's controller, and for switches that p4cc installs again."""

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

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from controller.pipeline import Pipeline
    from p4cc import _engine
    from p4cc.control.line import SwitchLine
    from p4cc.control.load import ControllerClass
    from p4cc.control.run import Controlled
    from p4cc.planning.network import NetworkPlan
    from p4cc.scenario.expand import Case

CONTROL = pa.schema([("time_ns", pa.int64()), ("switch", pa.string()), ("name", pa.string()), ("value", pa.float64())])
"""Columns of what the user's controller wrote down."""


class Moves(Protocol):
    """Moves a network on in virtual time."""

    @property
    def label(self) -> str:
        """The run, for people."""
        ...

    async def to_message(self, until_ps: int, to_message: bool) -> None:
        """Runs to an instant, or with `to_message` to the first one at which a switch has a message."""
        ...


@dataclass(frozen=True)
class ControlOutcome:
    """What a run leaves beside the engine's results."""

    summary: dict[str, int]
    tables: dict[str, pa.Table]


def stops_for(case: Case, chosen: ControllerClass | None) -> str | None:
    """Why the runs of a case stop on their way; None if they do not."""
    if chosen is not None:
        return "virtual time waits for a controller"
    if any(fault.switch is not None for fault in case.scenario.faults):
        return "a switch restarts, and virtual time waits until it is installed again"
    if case.scenario.changes:
        return "entries are written on the way, and virtual time waits for it"
    return None


async def run_with_stops(
    networks: tuple[_engine.Network, _engine.Network],
    planned: tuple[Case, NetworkPlan, Mapping[str, Pipeline]],
    chosen: ControllerClass | None,
    advancing: Moves,
    connected: Callable[[Mapping[str, SwitchLine]], None] = lambda _: None,
) -> ControlOutcome:
    """Runs a fork (the second network) of an installed network to its end, with a server of its own.

    `connected` is given the connections to its switches. Raises UserError, ControllerError.
    """
    (installed, fork), (case, plan, pipelines) = networks, planned
    address = serve(fork, beside=installed)
    job = job_of(case, plan, chosen, advancing.label)
    try:
        left = await run_virtual(job, Virtual(fork, address, advancing.to_message), plan, pipelines, connected)
        counters = await Installer(server_at(address), plan, pipelines).read_ports(left.without_program)
    finally:
        fork.stop_server()
    return left_by(chosen, left, counters)


def job_of(case: Case, plan: NetworkPlan, chosen: ControllerClass | None, label: str) -> Job:
    """What the run of a case does beside its network; `label` is the run, for people."""
    settings = case.scenario.control
    faults = faults_of(case.scenario.faults, settings.absences, plan.topology)
    return Job(plan.topology, chosen or nobody(), settings, faults, f"case {label}", plan.changes)


def left_by(chosen: ControllerClass | None, left: Controlled, counters: pa.Table) -> ControlOutcome:
    """What a run leaves whose controller, if there is one, has ended."""
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
