"""The network as the page draws it: nodes with places, links and ports by number, as the engine numbers them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from p4cc.live.messages import LinkView, NetworkView, NodeView, PortView, Thresholds
from topos.layout import layout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.install import PortState
    from p4cc.planning.network import NetworkPlan
    from topos import Topology


@dataclass(frozen=True)
class DrawnPort:
    """A port of a switch; its number among all ports is its place."""

    switch: str
    port: int
    peer: str
    link: int
    way: int
    rate_bps: int


@dataclass(frozen=True)
class DrawnNetwork:
    """Links and ports in the engine's order."""

    topology: Topology
    links: list[LinkView]
    ports: tuple[DrawnPort, ...]

    def view(self, thresholds: Sequence[Thresholds]) -> NetworkView:
        """As the page shows it."""
        places = layout(self.topology)
        switches = set(self.topology.switch_names)
        nodes = [
            NodeView(name=name, kind="switch" if name in switches else "host", x=places[name][0], y=places[name][1])
            for name in (*self.topology.switch_names, *self.topology.host_names)
        ]
        ports = [PortView(**vars(port), **values) for port, values in zip(self.ports, thresholds, strict=True)]
        return NetworkView(nodes=nodes, links=self.links, ports=ports)


def draw(plan: NetworkPlan) -> DrawnNetwork:
    """Links and ports of a plan, in the order of the engine's description."""
    spec = json.loads(plan.spec_json)
    links = [
        LinkView(
            a=link["a"]["node"],
            a_port=link["a"].get("port"),
            b=link["b"]["node"],
            b_port=link["b"].get("port"),
            rate_bps=link["rate_bps"],
            delay_ns=link["delay_ns"],
        )
        for link in spec["links"]
    ]
    leads: dict[tuple[str, int | None], tuple[int, int, str]] = {}
    for number, link in enumerate(links):
        leads[link["a"], link["a_port"]] = (number, 0, link["b"])
        leads[link["b"], link["b_port"]] = (number, 1, link["a"])
    ports: list[DrawnPort] = []
    for switch in spec["switches"]:
        for port in switch["ports"]:
            link, way, peer = leads[switch["name"], port["port"]]
            ports.append(DrawnPort(switch["name"], port["port"], peer, link, way, links[link]["rate_bps"]))
    return DrawnNetwork(plan.topology, links, tuple(ports))


def thresholds_of(network: DrawnNetwork, states: Sequence[PortState]) -> list[Thresholds]:
    """K and K_dc by port; None where a port never marks."""
    known = {(state.switch, state.port): Thresholds(k_pkts=state.k_pkts, k_dc_pkts=state.k_dc_pkts) for state in states}
    never = Thresholds(k_pkts=None, k_dc_pkts=None)
    return [known.get((port.switch, port.port), never) for port in network.ports]
