"""Thirty-three scenarios made to have one cause each, and for each a cure: the change that takes away this cause alone.

The cure is what makes a cause true: it must improve what the cause spoils, whatever `p4cc explain` says.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from p4cc.explain.causes import Cause

GBPS = 1_000_000_000
DCTCP = {"name": "DCTCP", "congestion_avoidance": {"name": "dctcp"}}
RENO = {"name": "Reno", "congestion_avoidance": {"name": "reno"}}
CUBIC = {"name": "CUBIC", "congestion_avoidance": {"name": "cubic"}}
RED = {
    "program": "p4src/v1model/ecn_red.p4",
    "ecn_profile": "rfc3168",
    "timestamp_unit": "ns",
    "qdepth_unit": "bytes_80B",
    "buffer": {"bytes": 32 << 20, "lossless_priorities": [3]},
}
Metric = Literal["goodput", "srtt"]


@dataclass(frozen=True)
class Made:
    """A scenario with one cause."""

    name: str
    cause: Cause
    scenario: dict[str, Any]
    cure: dict[str, Any]
    """Overrides (`--set`) that take the cause away."""
    label: str = ""
    """Label of the traffic that is judged; all of it if empty."""
    improves: Metric = "goodput"
    by: float = 1.25
    """Factor by which the cure improves it at least."""
    slow: float = 1.25
    link: str = field(default="", kw_only=True)
    """The full link that is to be named."""


def windows(**changes: Any) -> dict[str, Any]:
    """A flow of a window sender over a path of 10 Gb/s and 40 us."""
    return {
        "name": "made",
        "topology": {"kind": "star", "senders": 1, "rate_bps": 10 * GBPS, "rtt_ns": 40_000, "queue_capacity_pkts": 400},
        "switch": {"program": "p4src/v1model/ecn_dual.p4", "thresholds": {"k_rule": "fixed", "k_pkts": 40}},
        "traffic": {"kind": "bulk", "size_bytes": 3_000_000},
        "transport": {"iw": 40},
        "variants": [DCTCP],
        "seeds": [1],
        "stop_ns": 20_000_000,
        "record": {"windows_interval_ns": 10_000, "queues_interval_ns": 10_000},
        **changes,
    }


def paced(**changes: Any) -> dict[str, Any]:
    """A flow of a paced sender over a path of 25 Gb/s and 8 us."""
    return windows(
        **{
            "topology": {
                "kind": "star",
                "senders": 1,
                "rate_bps": 25 * GBPS,
                "rtt_ns": 8_000,
                "queue_capacity_pkts": 100_000,
            },
            "switch": RED,
            "traffic": {"kind": "bulk", "size_bytes": 2_000_000, "priority": 3},
            "transport": {"kind": "rdma"},
            "variants": [{"name": "DCQCN", "rate_control": {"name": "dcqcn"}}],
            **changes,
        }
    )


def star(senders: int, **changes: Any) -> dict[str, Any]:
    """The star of `windows`."""
    return {**windows()["topology"], "senders": senders, **changes}


def paced_star(senders: int, **changes: Any) -> dict[str, Any]:
    """The star of `paced`."""
    return {**paced()["topology"], "senders": senders, **changes}


def leaves(spines: int, hosts: int, rate_bps: int) -> dict[str, Any]:
    """Two leaves whose links to the spines are as fast as those of hosts."""
    return {
        "kind": "leaf_spine",
        "leaves": 2,
        "spines": spines,
        "hosts_per_leaf": hosts,
        "host_rate_bps": rate_bps,
        "fabric_rate_bps": rate_bps,
        "queue_capacity_pkts": 100_000,
    }


def across(hosts: int, **changes: Any) -> dict[str, Any]:
    """From each host of the first leaf to its own one of the second."""
    first = [f"h{number}" for number in range(1, hosts + 1)]
    second = [f"h{number}" for number in range(hosts + 1, 2 * hosts + 1)]
    return {"kind": "bulk", "sources": first, "destinations": second, "size_bytes": 3_000_000, **changes}


def flow(name: str, source: str, destination: str, size_bytes: int, **changes: Any) -> dict[str, Any]:
    """A single flow."""
    ends = {"sources": [source], "destinations": [destination]}
    return {"kind": "bulk", "name": name, **ends, "size_bytes": size_bytes, **changes}


def fixed(rate_mbps: int) -> dict[str, Any]:
    """A sender at a constant rate; 0 for that of its line."""
    return {"name": "fixed", "rate_control": {"name": "fixed", "rate_mbps": rate_mbps}}


MADE = [
    # A window of the receiver below what the path holds.
    Made("rwnd-4", Cause.RECEIVER, windows(transport={"iw": 4, "rwnd": 4}), {"transport.rwnd": 64}),
    Made(
        "rwnd-long-path",
        Cause.RECEIVER,
        windows(topology=star(1, rtt_ns=400_000), transport={"iw": 20, "rwnd": 20}, variants=[CUBIC]),
        {"transport.rwnd": 400, "transport.iw": 400},
    ),
    Made(
        "rwnd-of-two",
        Cause.RECEIVER,
        windows(topology=star(2), transport={"iw": 6, "rwnd": 6}, variants=[RENO]),
        {"transport.rwnd": 20, "transport.iw": 20},
    ),
    # Few segments at first, and flows that end before the window has grown.
    Made(
        "start-iw-1",
        Cause.START,
        windows(topology=star(1, rtt_ns=200_000), traffic={"kind": "bulk", "size_bytes": 200_000}, transport={"iw": 1}),
        {"transport.iw": 200},
    ),
    Made(
        "start-iw-2",
        Cause.START,
        windows(
            topology=star(1, rtt_ns=500_000),
            traffic={"kind": "bulk", "size_bytes": 500_000},
            transport={"iw": 2},
            variants=[RENO],
        ),
        {"transport.iw": 400},
    ),
    Made(
        "start-fast-line",
        Cause.START,
        windows(
            topology=star(1, rate_bps=100 * GBPS, rtt_ns=100_000),
            traffic={"kind": "bulk", "size_bytes": 1_000_000},
            transport={"iw": 10},
            variants=[CUBIC],
        ),
        {"transport.iw": 800},
    ),
    # Connections that wait for their applications.
    Made(
        "application-thinks",
        Cause.APPLICATION,
        windows(
            traffic={
                "kind": "rpc",
                "name": "rpc",
                "clients": "aggregator",
                "servers": ["h1"],
                "shifts": [0],
                "response_bytes": 30_000,
                "request_bytes": 100,
                "think_ns": 300_000,
            },
            stop_ns=5_000_000,
        ),
        {"traffic.think_ns": 0},
        "rpc",
    ),
    Made(
        "application-rounds",
        Cause.APPLICATION,
        windows(topology=star(2, rtt_ns=200_000), traffic={"kind": "rounds", "sru_bytes": 10_000, "rounds": 20}),
        {"traffic.sru_bytes": 1_000_000, "traffic.rounds": 1},
        "rounds",
    ),
    Made(
        "application-slow-reader",
        Cause.APPLICATION,
        windows(
            traffic={
                "kind": "rpc",
                "name": "rpc",
                "clients": "h1",
                "servers": ["aggregator"],
                "shifts": [0],
                "response_bytes": 1_000,
                "request_bytes": 20_000,
                "mean_gap_ns": 500_000,
            },
            variants=[CUBIC],
            stop_ns=10_000_000,
        ),
        {"traffic.mean_gap_ns": 20_000},
        "rpc.request",
    ),
    # Losses that only a timer ends.
    Made(
        "timeout-link-down",
        Cause.TIMEOUT,
        windows(
            transport={"iw": 40, "rto_min_ns": 4_000_000, "rto_init_ns": 4_000_000},
            faults=[{"between": ["s1", "aggregator"], "down_ns": 500_000, "up_ns": 2_000_000}],
        ),
        {"faults": []},
    ),
    Made(
        "timeout-small-queue",
        Cause.TIMEOUT,
        windows(
            topology=star(24, queue_capacity_pkts=12),
            traffic={"kind": "incast", "sru_bytes": 60_000},
            transport={"iw": 20, "recovery": "newreno", "rto_min_ns": 10_000_000, "rto_init_ns": 10_000_000},
            variants=[RENO],
            stop_ns=200_000_000,
        ),
        {"topology.queue_capacity_pkts": 2_000},
    ),
    Made(
        "timeout-paced",
        Cause.TIMEOUT,
        paced(
            traffic={"kind": "bulk", "size_bytes": 500_000, "priority": 3},
            transport={"kind": "rdma", "rto_ns": 2_000_000},
            # All that is left is sent meanwhile, so that no packet behind a lost one tells of it.
            faults=[{"between": ["s1", "aggregator"], "down_ns": 100_000, "up_ns": 1_000_000}],
        ),
        {"faults": []},
    ),
    # Hosts that are paused for the sake of others.
    Made(
        "pause-same-host",
        Cause.PAUSE,
        paced(
            topology=paced_star(9),
            switch={**RED, "buffer": {"bytes": 1_000_000, "lossless_priorities": [3]}},
            traffic=[
                {"kind": "incast", "name": "incast", "sru_bytes": 2_000_000, "priority": 3},
                flow("victim", "h1", "h9", 1_000_000, priority=3),
            ],
            variants=[fixed(0)],
        ),
        {"traffic.0.sru_bytes": 1_000},
        "victim",
    ),
    Made(
        "pause-through-spine",
        Cause.PAUSE,
        paced(
            topology=leaves(1, 4, 25 * GBPS),
            switch={**RED, "buffer": {"bytes": 1_000_000, "lossless_priorities": [3]}},
            traffic=[
                flow("first", "h1", "h5", 4_000_000, priority=3),
                flow("second", "h6", "h5", 4_000_000, priority=3),
                flow("third", "h7", "h5", 4_000_000, priority=3),
                flow("victim", "h2", "h8", 1_000_000, priority=3),
            ],
            variants=[fixed(0)],
            record={"windows_interval_ns": 10_000, "queues_interval_ns": 10_000, "pauses": True},
        ),
        {"traffic.1.size_bytes": 1_000, "traffic.2.size_bytes": 1_000, "traffic.0.size_bytes": 1_000},
        "victim",
    ),
    Made(
        "pause-frames",
        Cause.PAUSE,
        paced(
            topology=paced_star(12),
            switch={**RED, "buffer": {"bytes": 1_000_000, "lossless_priorities": [3]}},
            traffic=[
                {"kind": "incast", "name": "incast", "sru_bytes": 1_000_000, "priority": 3},
                flow("victim", "h3", "h12", 500_000, priority=3, start_ns=300_000),
            ],
            variants=[
                {"name": "TIMELY", "rate_control": {"name": "timely", "t_low_ns": 50_000_000, "t_high_ns": 60_000_000}}
            ],
            record={"windows_interval_ns": 10_000, "queues_interval_ns": 10_000, "pauses": True},
        ),
        {"traffic.0.sru_bytes": 1_000},
        "victim",
    ),
    # Hosts that take packets more slowly than their link brings them.
    Made(
        "slow-host-paused",
        Cause.SLOW_HOST,
        paced(variants=[fixed(0)], slow_receivers=[{"host": "aggregator", "receive_rate_bps": 8 * GBPS}]),
        {"slow_receivers": []},
    ),
    Made(
        "slow-host-of-two",
        Cause.SLOW_HOST,
        paced(
            topology=paced_star(2),
            slow_receivers=[{"host": "aggregator", "receive_rate_bps": 6 * GBPS, "buffer_bytes": 300_000}],
        ),
        {"slow_receivers": []},
    ),
    Made(
        "slow-host-window",
        Cause.SLOW_HOST,
        windows(slow_receivers=[{"host": "aggregator", "receive_rate_bps": 3 * GBPS}]),
        {"slow_receivers": []},
    ),
    # Senders that cannot go lower, or that do not leave their least rate.
    Made(
        "floor-hpcc",
        Cause.FLOOR,
        paced(
            topology=paced_star(40),
            switch={**RED, "buffer": {"bytes": 12_000_000, "lossless_priorities": [3]}},
            traffic={"kind": "bulk", "priority": 3},
            variants=[
                {
                    "name": "HPCC",
                    "program": "p4src/v1model/int_hpcc.p4",
                    "rate_control": {"name": "hpcc", "r_min_mbps": 1_000},
                }
            ],
            stop_ns=1_500_000,
        ),
        {"variants.*.rate_control.r_min_mbps": 50},
        improves="srtt",
    ),
    Made(
        "floor-timely",
        Cause.FLOOR,
        paced(
            topology=paced_star(1, rtt_ns=80_000),
            variants=[
                {
                    "name": "TIMELY",
                    "rate_control": {"name": "timely", "t_low_ns": 20_000, "t_high_ns": 40_000, "r_min_mbps": 500},
                }
            ],
        ),
        {"variants.*.rate_control.t_high_ns": 500_000, "variants.*.rate_control.t_low_ns": 200_000},
    ),
    Made(
        "floor-two-segments",
        Cause.FLOOR,
        windows(
            topology=star(60, rtt_ns=8_000, queue_capacity_pkts=1_000),
            switch={"program": "p4src/v1model/ecn_dual.p4", "thresholds": {"k_rule": "fixed", "k_pkts": 20}},
            traffic={"kind": "bulk"},
            transport={"iw": 2},
            stop_ns=4_000_000,
        ),
        {"topology.senders": 6},
        improves="srtt",
    ),
    # Equal paths of which one has too much.
    *(
        Made(
            f"collision-{spines}-spines",
            Cause.COLLISION,
            paced(
                topology=leaves(spines, hosts, 25 * GBPS),
                switch={**RED, "ecmp_seed": seed},
                traffic=across(hosts, priority=3),
                variants=[{"name": "sender", "rate_control": {"name": sender}}],
            ),
            {"switch.ecmp_seed": better},
        )
        for spines, hosts, seed, better, sender in (
            (2, 2, 1, 2, "dcqcn"),
            (4, 3, 1, 2, "dctcp_rate"),
            (4, 4, 3, 1, "dcqcn"),
        )
    ),
    # Links that many share.
    Made(
        "sharing-four",
        Cause.SHARING,
        windows(topology=star(4)),
        {"topology.senders": 1},
        link="s1 -> aggregator",
    ),
    Made(
        "sharing-incast",
        Cause.SHARING,
        paced(
            topology=paced_star(8),
            traffic={"kind": "incast", "sru_bytes": 500_000, "priority": 3},
            variants=[{"name": "DCTCP", "rate_control": {"name": "dctcp_rate"}}],
        ),
        {"topology.senders": 1},
        link="s1 -> aggregator",
    ),
    Made(
        "sharing-own-link",
        Cause.SHARING,
        windows(
            topology=star(4),
            traffic=[
                flow("first", "h1", "h2", 3_000_000),
                flow("second", "h1", "h3", 3_000_000),
                flow("third", "h1", "h4", 3_000_000),
            ],
            # The host's own queue has no bound: its delay is not to look like a loss.
            transport={"iw": 40, "rwnd": 200, "rto_min_ns": 50_000_000, "rto_init_ns": 50_000_000},
            variants=[CUBIC],
        ),
        {"traffic.1.size_bytes": 1_000, "traffic.2.size_bytes": 1_000},
        "first",
        link="h1 -> s1",
    ),
    # Full links for one flow alone.
    Made("line-window", Cause.LINE, windows(), {"topology.rate_bps": 40 * GBPS}, slow=1.0, by=1.5),
    Made("line-paced", Cause.LINE, paced(), {"topology.rate_bps": 100 * GBPS}, slow=1.0, by=1.5),
    Made(
        "line-cubic",
        Cause.LINE,
        windows(topology=star(1, rtt_ns=10_000), variants=[CUBIC]),
        {"topology.rate_bps": 25 * GBPS},
        slow=1.0,
        by=1.5,
    ),
    # Senders that stay below what the path has room for.
    Made("sender-fixed", Cause.SENDER, paced(variants=[fixed(4_000)]), {"variants.*.rate_control.rate_mbps": 24_000}),
    Made(
        "sender-low-ssthresh",
        Cause.SENDER,
        windows(
            topology=star(1, rtt_ns=400_000),
            transport={"iw": 10, "ssthresh0": 12},
            variants=[RENO],
        ),
        {"transport.ssthresh0": 400},
    ),
    Made(
        "sender-low-target",
        Cause.SENDER,
        paced(
            variants=[
                {
                    "name": "HPCC",
                    "program": "p4src/v1model/int_hpcc.p4",
                    "rate_control": {"name": "hpcc", "eta": 0.4},
                }
            ]
        ),
        {"variants.*.rate_control.eta": 0.95},
    ),
]
