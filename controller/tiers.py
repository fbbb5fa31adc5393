"""Classes of switch ports that need the same thresholds: between the same layers, at the same rate and queue.

The pattern of names (`leaf1`, `leaf2`: `leaf*`) distinguishes switches if that gives no more classes than there are
layers, else their layer does, the distance from the nearest host.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from controller.errors import PlannerError
from controller.model import Bottleneck
from controller.planner import longest_rtt_ns
from controller.settings import LinkPlan, plan_link

if TYPE_CHECKING:
    from controller.planner import ThresholdRule
    from topos import Topology

HOST = "host"


@dataclass(frozen=True)
class Tier:
    """One class of ports: the layers of its ends, their number, and one of them as an example."""

    name: str
    ports: int
    rate_bps: int
    buffer_pkts: int
    to_host: bool


@dataclass(frozen=True)
class TierPlan:
    """A class of ports with its settings."""

    tier: Tier
    link: LinkPlan


def tiers(topology: Topology) -> tuple[Tier, ...]:
    """The classes, those to hosts first, then in the order of the switches; slower links before faster ones."""
    classes = _classes(topology)
    found: dict[tuple[str, str, int, int], int] = {}
    for switch, ports in topology.ports.items():
        for port in ports:
            link = topology.links[port.link_index]
            key = (classes[switch], classes.get(port.peer, HOST), link.rate_bps, link.queue_capacity_pkts)
            found[key] = found.get(key, 0) + 1
    places = {name: place for place, name in enumerate((HOST, *dict.fromkeys(classes.values())))}
    ordered = sorted(found, key=lambda key: (key[1] != HOST, places[key[0]], places[key[1]], *key[2:]))
    return tuple(
        Tier(f"{here} to {peer}", found[key], key[2], key[3], peer == HOST)
        for key in ordered
        for here, peer in (key[:2],)
    )


def plan_tiers(
    topology: Topology, rule: ThresholdRule, *, packet_bytes: int, senders: int, rto_ns: int
) -> tuple[TierPlan, ...]:
    """The settings of every class of ports.

    Raises PlannerError that names the class for which a rule has no answer.
    """
    rtt_ns = longest_rtt_ns(topology, packet_bytes) if rule.rtt_ns is None else rule.rtt_ns
    result: list[TierPlan] = []
    for tier in tiers(topology):
        try:
            at = Bottleneck(tier.buffer_pkts, tier.rate_bps, rtt_ns, packet_bytes, senders, rto_ns)
            link = plan_link(at, rule)
        except PlannerError as error:
            place = f"ports {tier.name} at {tier.rate_bps / 1e9:g} Gb/s: {error.place}"
            raise PlannerError(place, error.cause, error.remedy) from None
        result.append(TierPlan(tier, link))
    return tuple(result)


def _classes(topology: Topology) -> dict[str, str]:
    """Each switch's class: its name's pattern, or its layer where names do not help."""
    layers = _layers(topology)
    patterns = {switch: re.sub(r"[0-9]+", "*", switch) for switch in layers}
    if len(set(patterns.values())) <= len(set(layers.values())):
        return patterns
    return {switch: f"layer {layer}" for switch, layer in layers.items()}


def _layers(topology: Topology) -> dict[str, int]:
    """Each switch's distance from the nearest host; a switch that no host reaches is one beyond the last."""
    here = {switch for ends in topology.interfaces.values() for switch, _ in ends}
    layers: dict[str, int] = {}
    layer = 1
    while here:
        layers.update(dict.fromkeys(here, layer))
        here = {port.peer for switch in here for port in topology.ports[switch] if port.peer in topology.ports}
        here -= layers.keys()
        layer += 1
    return {switch: layers.get(switch, layer) for switch in topology.switch_names}
