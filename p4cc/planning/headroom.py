"""The headroom of a case's lossless ports: what the scenario gives, and what the formula of IEEE 802.1Qbb asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4cc.planning.fabric import enough_headroom_bytes, headroom_bytes

if TYPE_CHECKING:
    from p4cc.planning.network import NetworkPlan
    from p4cc.scenario.expand import Case


def headrooms(case: Case, plan: NetworkPlan) -> list[dict[str, int]]:
    """For each rate of a switch's links, the least headroom of a port and the most that the formula asks for.

    Empty where nothing is lossless. Source: docs/algorithms/pfc.md#headroom.
    """
    buffer = case.switch.buffer
    if buffer is None or not buffer.lossless_priorities:
        return []
    found: dict[int, dict[str, int]] = {}
    for switch in plan.topology.switch_names:
        for port in plan.topology.ports[switch]:
            link = plan.topology.links[port.link_index]
            has = headroom_bytes(buffer, link, plan.most_bytes)
            enough = enough_headroom_bytes(link, plan.most_bytes, len(buffer.lossless_priorities))
            one = found.setdefault(
                link.rate_bps,
                {"rate_bps": link.rate_bps, "ports": 0, "configured_bytes": has, "formula_bytes": enough},
            )
            one["ports"] += 1
            one["configured_bytes"] = min(one["configured_bytes"], has)
            one["formula_bytes"] = max(one["formula_bytes"], enough)
    return [found[rate] for rate in sorted(found)]
