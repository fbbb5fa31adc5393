"""Warnings about flows of one receiver whose least rates together are more than its link carries."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from p4cc.digits import digits
from topos.host_ways import HostWays
from topos.units import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from p4cc.planning.traffic import TrafficPlan
    from p4cc.scenario.base import Algorithm, Sender
    from topos import Topology

_MBPS = 10**6
_ENDLESS = -1
"""In place of a start: flows that never end are under way with all others."""


def least_rate_warnings(
    traffic: TrafficPlan, senders: Mapping[str, Sender], topology: Topology, place: str
) -> Iterator[str]:
    """Warnings about receivers of flows that start together, with those that never end.

    `senders` are those of the case, by the names that flows have for them.
    """
    controls = {name: sender.rate_control for name, sender in senders.items() if sender.rate_control is not None}
    ways = HostWays(topology)
    rates_bps = {host: ways.rate_bps(host) for host in topology.host_names}
    paced = (flow for flow in traffic.flows if flow["algorithm"] in controls)
    sums_bps: Counter[tuple[str, int]] = Counter()
    counts: Counter[tuple[str, int]] = Counter()
    for flow in paced:
        group = (flow["dst"], _ENDLESS if flow.get("size_bytes") is None else flow.get("start_ns", 0))
        sums_bps[group] += _least_bps(controls[flow["algorithm"]], rates_bps[flow["src"]])
        counts[group] += 1
    for host, start_ns in [group for group in counts if group[1] != _ENDLESS]:
        sums_bps[host, start_ns] += sums_bps[host, _ENDLESS]
        counts[host, start_ns] += counts[host, _ENDLESS]
    loads = {group: sum_bps / rates_bps[group[0]] for group, sum_bps in sums_bps.items()}
    beyond = {group: load for group, load in loads.items() if load > 1}
    if not beyond:
        return
    worst = max(beyond, key=lambda group: beyond[group])
    host, flows = worst[0], counts[worst]
    others = len({receiver for receiver, _ in beyond}) - 1
    fits_mbps = rates_bps[host] / flows / _MBPS
    more = f" (and flows to {others} other receivers)" if others else ""
    algorithms = ", ".join(sorted({one.name for one in controls.values()}))
    yield (
        f"{place}: {flows} flows to {host}{more} send at least {shown('rate_bps', sums_bps[worst])} because of "
        f"r_min_mbps or r_min_share of {algorithms}, but its link carries {shown('rate_bps', rates_bps[host])}: "
        "while all of them are active, the queue grows regardless of congestion control; set r_min_mbps to at most "
        f"{digits(fits_mbps)}"
    )


def _least_bps(control: Algorithm, line_bps: int) -> int:
    """The least rate of a sender on a line; 0 if it has none or its rate is set."""
    entry = control.entry
    defaults = {} if entry is None else {one.name: one.default for one in entry.parameters}
    if "r_min_mbps" not in defaults or "rate_mbps" in defaults:
        return 0
    values = {**defaults, **control.parameters()}
    least_mbps, share = values["r_min_mbps"], values.get("r_min_share", 0)
    if not isinstance(least_mbps, int | float) or not isinstance(share, int | float):
        return 0
    return round(least_mbps * _MBPS) or round(share * line_bps)
