"""One seed with the user's controller: a server for its copy of the network, and what the controller leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from p4cc import _engine
from p4cc.control.run import Job, PortChange, run_controlled
from p4cc.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from controller.pipeline import Pipeline
    from p4cc.control.load import ControllerClass
    from p4cc.control.run import Controlled
    from p4cc.planning.network import NetworkPlan
    from p4cc.running.advance import Advancing
    from p4cc.scenario.expand import Case

_CONTROL = pa.schema([("time_ns", pa.int64()), ("switch", pa.string()), ("name", pa.string()), ("value", pa.float64())])


async def run_with_controller(
    networks: tuple[_engine.Network, _engine.Network],
    planned: tuple[Case, NetworkPlan, Mapping[str, Pipeline]],
    chosen: ControllerClass,
    advancing: Advancing,
) -> tuple[dict[str, int], dict[str, pa.Table]]:
    """Runs a fork (the second network) of an installed network to its end; fields of the summary, and tables.

    Raises UserError.
    """
    (installed, fork), (case, plan, pipelines) = networks, planned
    try:
        address = fork.serve(beside=installed)
    except _engine.ServerError as error:
        raise UserError(error.cause, place="P4Runtime server", remedy=error.remedy) from error
    changes = tuple(sorted(_port_changes(case, plan), key=lambda change: change.at_ns))
    settings = case.scenario.control
    label = f"case {advancing.label}"
    job = Job(fork, address, plan, pipelines, chosen, settings, changes, label, advancing.to_message)
    try:
        left = await run_controlled(job)
    finally:
        fork.stop_server()
    return _summary(left), {"control": _table(left)}


def _port_changes(case: Case, plan: NetworkPlan) -> Iterator[PortChange]:
    """What the controller hears of the links that fail, at the switches at their ends."""
    for fault in case.scenario.faults:
        for here, there in (fault.between, fault.between[::-1]):
            for port in plan.topology.ports.get(here, ()):
                if port.peer == there:
                    yield PortChange(fault.down_ns, here, port.number, up=False)
                    if fault.up_ns is not None:
                        yield PortChange(fault.up_ns, here, port.number, up=True)


def _summary(left: Controlled) -> dict[str, int]:
    counts = left.counts
    return {
        "control_calls": counts.calls,
        "control_writes": counts.writes,
        "control_packet_outs": counts.packet_outs,
    }


def _table(left: Controlled) -> pa.Table:
    names = _CONTROL.names
    return pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in left.rows], _CONTROL)
