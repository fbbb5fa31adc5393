"""The network as the page draws it: nodes with places, links and ports by number, as the engine numbers them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from topos.layout import layout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.install import PortState
    from p4cc.planning.network import NetworkPlan
    from topos import Topology


@dataclass(frozen=True)
class LinkEnd:
    """One end of a link; a host has no port number."""

    node: str
    port: int | None


@dataclass(frozen=True)
class DrawnLink:
    """A link; its number is its place. Way 0 leads from `a` to `b`."""

    a: LinkEnd
    b: LinkEnd
    rate_bps: int
    delay_ns: int


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
    links: tuple[DrawnLink, ...]
    ports: tuple[DrawnPort, ...]

    def plain(self, thresholds: Sequence[dict[str, int | None]]) -> dict[str, Any]:
        """As the page has it."""
        places = layout(self.topology)
        switches = set(self.topology.switch_names)
        nodes = [
            {"name": name, "kind": "switch" if name in switches else "host", "x": places[name][0], "y": places[name][1]}
            for name in (*self.topology.switch_names, *self.topology.host_names)
        ]
        links = [
            {"a": one.a.node, "a_port": one.a.port, "b": one.b.node, "b_port": one.b.port,
             "rate_bps": one.rate_bps, "delay_ns": one.delay_ns}
            for one in self.links
        ]  # fmt: skip
        ports = [{**vars(port), **of} for port, of in zip(self.ports, thresholds, strict=True)]
        return {"nodes": nodes, "links": links, "ports": ports}


def drawn(plan: NetworkPlan) -> DrawnNetwork:
    """Links and ports of a plan: those of the engine's description, in its order."""
    spec = json.loads(plan.spec_json)
    hosts = set(plan.topology.host_names)

    def end(of: dict[str, Any]) -> LinkEnd:
        return LinkEnd(of["node"], None if of["node"] in hosts else int(of["port"]))

    links = tuple(
        DrawnLink(end(one["a"]), end(one["b"]), int(one["rate_bps"]), int(one["delay_ns"])) for one in spec["links"]
    )
    leads: dict[tuple[str, int | None], tuple[int, int, str]] = {}
    for number, link in enumerate(links):
        leads[link.a.node, link.a.port] = (number, 0, link.b.node)
        leads[link.b.node, link.b.port] = (number, 1, link.a.node)
    ports: list[DrawnPort] = []
    for switch in spec["switches"]:
        for port in switch["ports"]:
            link, way, peer = leads[switch["name"], int(port["port"])]
            ports.append(DrawnPort(switch["name"], int(port["port"]), peer, link, way, links[link].rate_bps))
    return DrawnNetwork(plan.topology, links, tuple(ports))


def thresholds_of(network: DrawnNetwork, states: Sequence[PortState]) -> list[dict[str, int | None]]:
    """K and K_dc of every port in the ports' order; none where a port never marks."""
    by_port = {(one.switch, one.port): one for one in states}
    found: list[dict[str, int | None]] = []
    for port in network.ports:
        state = by_port.get((port.switch, port.port))
        values = (None, None) if state is None else (state.k_pkts, state.k_dc_pkts)
        found.append({"k_pkts": values[0], "k_dc_pkts": values[1]})
    return found
