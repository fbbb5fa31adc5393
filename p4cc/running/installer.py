"""p4cc's own controller of a run: installs what was planned, and reads it again."""

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
"""Columns of what is read of ports."""


@dataclass(frozen=True)
class Installer:
    """Pushes programs, and what was planned, into the switches of one network, and reads them again."""

    server: Server
    plan: NetworkPlan
    pipelines: Mapping[str, Pipeline]
    """By switch."""

    async def install(self, network: _engine.Network) -> None:
        """Brings every switch of this network into the planned state; raises ControllerError."""
        await install_network(self.server, self.pipelines, [over_p4runtime(one) for one in self.plan.switches])
        await install_over_bfrt(network, self.plan)

    async def read_ports(self, without: Collection[str] = ()) -> pa.Table:
        """Thresholds and level counters of every port, as the switches have them, but of those named.

        Raises ControllerError.
        """
        plans = [one for one in self.plan.switches if one.switch not in without]
        states = await read_ports(self.server, self.pipelines, plans)
        columns = {name: [getattr(state, name) for state in states] for name in PORT_STATE.names}
        return pa.Table.from_pydict(columns, PORT_STATE)
