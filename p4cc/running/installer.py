"""p4cc's controller within a run: installs what was planned, and reads it back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from controller.install import Server, install_network, read_ports
from p4cc.running.over_bfrt import install_over_bfrt, over_p4runtime

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from controller.pipeline import Pipeline
    from p4cc import _engine
    from p4cc.planning.network import NetworkPlan

PORT_STATE = pa.schema(
    [
        ("switch", pa.string()),
        ("port", pa.int64()),
        ("peer", pa.string()),
        ("k_pkts", pa.int64()),
        ("k_dc_pkts", pa.int64()),
        ("level0_pkts", pa.int64()),
        ("level1_pkts", pa.int64()),
        ("level2_pkts", pa.int64()),
    ]
)
"""Columns of the values read per port."""


@dataclass(frozen=True)
class Installer:
    """Pushes programs and planned entries to the switches of one network, and reads them back."""

    server: Server
    plan: NetworkPlan
    pipelines: Mapping[str, Pipeline]
    """By switch name."""

    async def install(self, network: _engine.Network) -> None:
        """Brings every switch of this network to the planned state; raises ControllerError."""
        plans = [over_p4runtime(one) for one in self.plan.switches]
        await install_network(self.server, self.pipelines, plans, are_new=True)
        await install_over_bfrt(network, self.plan)

    async def read_ports(self, without: Collection[str] = ()) -> pa.Table:
        """Thresholds and level counters of all ports as the switches hold them, except those of the named switches.

        Raises ControllerError.
        """
        plans = [one for one in self.plan.switches if one.switch not in without]
        states = await read_ports(self.server, self.pipelines, plans)
        columns = {name: [getattr(state, name) for state in states] for name in PORT_STATE.names}
        topology = self.plan.topology
        columns["peer"] = [topology.far_end(one.switch, topology.port(one.switch, one.port)) for one in states]
        return pa.Table.from_pydict(columns, PORT_STATE)
