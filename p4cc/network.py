"""A case to the network the engine builds, and to the state the controller installs in its switches."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from controller import (
    Bottleneck,
    EcnSettings,
    KRule,
    PlannerError,
    Profile,
    SwitchPlan,
    Thresholds,
    plan_network,
    plan_thresholds,
    thresholds_by_rule,
)
from p4cc.algorithms import needs_thresholds
from p4cc.errors import UserError
from topos import Topology, TopologyError, format_ipv4, format_mac, generate, plan_addresses

if TYPE_CHECKING:
    from p4cc.scenario.expand import Case
    from p4cc.scenario.schema import Algorithm

HEADER_BYTES = 64
"""IPv4, UDP and the fixed p4cc header (docs/wire-format.md)."""


@dataclass(frozen=True)
class NetworkPlan:
    """What to build and what to install: the engine's description, a plan per switch, and what to beware of."""

    spec_json: str
    switches: tuple[SwitchPlan, ...]
    warnings: tuple[str, ...]


def plan_case(case: Case) -> NetworkPlan:
    """Topology, addresses, thresholds and flows of a case; raises UserError."""
    settings = case.scenario.topology
    try:
        topology = generate(settings.kind, settings.parameters())
        thresholds = _thresholds(case, topology)
        ecn = EcnSettings(Profile(case.scenario.switch.ecn_profile), thresholds)
        switches = plan_network(topology, ecn)
    except (TopologyError, PlannerError) as error:
        raise UserError(str(error), place=f"case {case.label()}", remedy="correct the scenario") from error
    bottleneck = thresholds["s1", "aggregator"]
    spec = _network_spec(case, topology, bottleneck)
    warnings = (*_planner_warnings(case), *(warning for plan in switches for warning in plan.warnings))
    return NetworkPlan(json.dumps(spec), switches, warnings)


def _packet_bytes(case: Case) -> int:
    return case.scenario.transport.mss_bytes + HEADER_BYTES


def _thresholds(case: Case, topology: Topology) -> dict[tuple[str, str], Thresholds]:
    """Thresholds of every port, by switch and neighbour."""
    return thresholds_by_rule(
        topology,
        rule=KRule(case.thresholds.k_rule),
        rtt_ns=case.scenario.topology.rtt_ns,
        packet_bytes=_packet_bytes(case),
        fixed_k_pkts=case.thresholds.k_pkts,
        k_dc_pkts=case.thresholds.k_dc_pkts,
    )


def _planner_warnings(case: Case) -> tuple[str, ...]:
    """What the planner says of the bottleneck port."""
    star = case.scenario.topology
    at = Bottleneck(star.queue_capacity_pkts, star.rate_bps, star.rtt_ns, _packet_bytes(case), senders=star.senders)
    plan = plan_thresholds(
        at,
        rule=KRule(case.thresholds.k_rule),
        fixed_k_pkts=case.thresholds.k_pkts,
        k_dc_pkts=case.thresholds.k_dc_pkts,
    )
    return plan.warnings


def _network_spec(case: Case, topology: Topology, bottleneck: Thresholds) -> dict[str, Any]:
    """The engine's description: the engine checks it again and names what it refuses by its path."""
    scenario = case.scenario
    addresses = plan_addresses(topology)
    senders = [name for name in topology.host_names if name != "aggregator"]
    return {
        "switches": [
            {
                "name": name,
                "device_id": addresses.device_ids[name],
                "timestamp_unit": scenario.switch.timestamp_unit,
                "ports": [
                    {
                        "port": port.number,
                        "queue_capacity_pkts": topology.links[port.link_index].queue_capacity_pkts,
                    }
                    for port in topology.ports[name]
                ],
            }
            for name in topology.switch_names
        ],
        "hosts": [
            {
                "name": name,
                "mac": format_mac(address.mac),
                "ipv4": format_ipv4(address.ipv4),
                "gateway_mac": format_mac(address.gateway_mac),
            }
            for name, address in addresses.hosts.items()
        ],
        "links": _links(topology),
        "algorithms": {case.variant.name: _sender(case, bottleneck)},
        "flows": [
            {
                "id": number,
                "src": name,
                "dst": "aggregator",
                "size_bytes": scenario.traffic.sru_bytes,
                "start_jitter_ns": scenario.traffic.start_jitter_ns,
                "algorithm": case.variant.name,
            }
            for number, name in enumerate(senders, start=1)
        ],
        "record": scenario.record.model_dump(),
        "stop_ns": scenario.stop_ns,
        "limits": scenario.limits.model_dump(),
    }


def _links(topology: Topology) -> list[dict[str, Any]]:
    def end(here: str, there: str) -> dict[str, Any]:
        if here in topology.ports:
            return {"node": here, "port": topology.port_to(here, there).number}
        return {"node": here}

    return [
        {
            "a": end(link.a, link.b),
            "b": end(link.b, link.a),
            "rate_bps": link.rate_bps,
            "delay_ns": link.delay_ns,
            "framing_bytes": link.framing_bytes,
            "loss": link.loss,
        }
        for link in topology.links
    ]


def _sender(case: Case, bottleneck: Thresholds) -> dict[str, Any]:
    """A sender's configuration: the transport, the variant's changes to it, its algorithms."""
    base = case.scenario.transport.model_dump(exclude_none=True)
    return {
        **base,
        **case.variant.transport,
        "ecn_profile": case.scenario.switch.ecn_profile,
        "cc": {
            "congestion_avoidance": _algorithm(case.variant.congestion_avoidance, bottleneck),
            "slow_start": _algorithm(case.variant.slow_start, bottleneck),
        },
    }


def _algorithm(algorithm: Algorithm, bottleneck: Thresholds) -> dict[str, Any]:
    """An algorithm with its parameters; one that must know the switch's thresholds gets those installed."""
    thresholds = {"k": bottleneck.k_pkts, "k_dc": bottleneck.k_dc_pkts} if needs_thresholds(algorithm.name) else {}
    return {"name": algorithm.name, **thresholds, **algorithm.parameters()}
