"""Which of equal paths flows and flowlets take, judged by arithmetic: collisions of independent choices, and gaps."""

# Scapy has no types.
# pyright: basic

from __future__ import annotations

import itertools
from collections import Counter
from typing import TYPE_CHECKING, Any

import polars as pl
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw
from scapy.utils import wrpcap

from tests.p4cc.scenarios import run, scenario

if TYPE_CHECKING:
    from pathlib import Path

K = 8
HOSTS = K**3 // 4
STRIDE = 37
"""Each host sends to the host that is this far after it: all destinations differ, and all are in another pod."""
PAYLOAD_BYTES = 1_000
PACKET_BYTES = PAYLOAD_BYTES + 64
"""A flow is one packet; the ACKs on a link add up to less than one."""
TIERS = {
    "edge to aggregation": (r"^p\d+e\d+:\d+->p\d+a", K // 2, K // 2),
    "aggregation to core": (r"^p\d+a\d+:\d+->c", K * K // 4, K * K // 4),
    "core to aggregation": (r"^c\d+-\d+:\d+->p\d+a", K * K // 4, K * K // 4),
}
"""Links of a tier; flows that choose among the same links, and the number of these links."""


def flows_of_links(folder: Path, seeds: int, ecmp_seed: int, **transport: Any) -> pl.DataFrame:
    """Flows on each link of each seed."""
    hosts = [f"h{at}" for at in range(1, HOSTS + 1)]
    folder.mkdir(exist_ok=True)
    data = scenario(
        topology={"kind": "fat_tree", "k": K, "queue_capacity_pkts": 1_000},
        switch={
            "program": "p4src/v1model/ecn_red.p4",
            "ecn_profile": "rfc3168",
            "timestamp_unit": "ns",
            "ecmp_seed": ecmp_seed,
        },
        traffic={
            "kind": "bulk",
            "sources": hosts,
            "destinations": hosts[STRIDE:] + hosts[:STRIDE],
            "size_bytes": PAYLOAD_BYTES,
        },
        transport={"kind": "rdma", "mss_bytes": PAYLOAD_BYTES, "recovery": "selective_repeat", **transport},
        variants=[{"name": "line", "rate_control": {"name": "fixed"}}],
        seeds=list(range(1, seeds + 1)),
    )
    links = run(folder, data).table("links")
    return links.select("link", flows=pl.col("bytes").cast(pl.Int64) // PACKET_BYTES)


def check_against_independent_choices(links: pl.DataFrame, runs: int) -> None:
    """Pairs of flows on one link: of n flows over m links, each of the n (n - 1) / 2 pairs shares one with 1 / m."""
    for tier, (pattern, flows, ways) in TIERS.items():
        counts = links.filter(pl.col("link").str.contains(pattern))["flows"]
        assert counts.sum() == HOSTS * runs, tier
        pairs = HOSTS // flows * runs * flows * (flows - 1) / 2
        expected, deviation = pairs / ways, (pairs / ways * (1 - 1 / ways)) ** 0.5
        shared = sum(count * (count - 1) // 2 for count in counts.to_list())
        assert abs(shared - expected) < 4 * deviation, (tier, shared, expected, deviation)


def test_paths_drawn_by_senders_collide_as_independent_choices_do(tmp_path: Path) -> None:
    links = flows_of_links(tmp_path, 20, 0, entropy="oblivious", entropy_values=1)
    check_against_independent_choices(links, 20)


def test_hashes_of_switches_collide_as_independent_choices_do(tmp_path: Path) -> None:
    links = pl.concat(flows_of_links(tmp_path / str(seed), 1, seed) for seed in range(12))
    check_against_independent_choices(links, 12)


SPINES = 4
GAP_NS = 20_000


def paths_of_packets(folder: Path, times_ns: list[int]) -> list[int]:
    """The spine that each packet of one flow took: spines differ in delay by 1 us."""
    frames = []
    for nth, at_ns in enumerate(times_ns):
        frame = Ether() / IP(src="10.9.0.1", dst="10.9.0.2") / UDP(sport=9, dport=9) / Raw(nth.to_bytes(2, "big"))
        frame.time = at_ns / 1e9
        frames.append(frame)
    wrpcap(str(folder / "sent.pcap"), frames, nano=True)
    spines = [f"spine{at}" for at in range(SPINES)]
    ends = [("h1", "leaf1", 1_000), ("h2", "leaf2", 1_000)]
    fabric = [(leaf, spine, 1_000 + 500 * at) for at, spine in enumerate(spines) for leaf in ("leaf1", "leaf2")]
    data = scenario(
        topology={
            "kind": "custom",
            "hosts": [{"name": "h1"}, {"name": "h2"}],
            "switches": [{"name": name} for name in ("leaf1", "leaf2", *spines)],
            "links": [
                {"a": a, "b": b, "rate_bps": 10**11, "delay_ns": delay_ns, "queue_capacity_pkts": 1_000}
                for a, b, delay_ns in (*ends, *fabric)
            ],
        },
        switch={
            "program": "p4src/v1model/ecn_red_spray.p4",
            "ecn_profile": "rfc3168",
            "timestamp_unit": "ns",
            "flowlet_gap_ns": GAP_NS,
        },
        traffic={
            "kind": "replay",
            "source": "h1",
            "pcap": "sent.pcap",
            "addresses": {"10.9.0.1": "h1", "10.9.0.2": "h2"},
        },
        stop_ns=100_000_000,
        record={"packets_received": {"hosts": ["h2"]}},
    )
    paths = [-1] * len(times_ns)
    for data_hex, time_ns in run(folder, data).table("packets_received").select("bytes", "time_ns").iter_rows():
        nth = int.from_bytes(bytes(Ether(bytes.fromhex(data_hex))[Raw])[:2], "big")
        # Four links of 1 us, and 1 us for each number of a spine.
        paths[nth] = (time_ns - times_ns[nth] - 4_000) // 1_000
    return paths


def test_flowlets_end_by_gaps_and_draw_independently(tmp_path: Path) -> None:
    """LetFlow's rule: a packet keeps the path of the one before unless the gap is longer; else it draws a path."""
    gaps_ns = [1_000 + nth * 7_919 % 38_001 for nth in range(1_500)]
    times_ns = [sum(gaps_ns[:nth]) for nth in range(len(gaps_ns) + 1)]
    paths = paths_of_packets(tmp_path, times_ns)
    assert set(paths) == set(range(SPINES))
    same = [before == after for before, after in itertools.pairwise(paths)]
    assert all(kept for kept, gap_ns in zip(same, gaps_ns, strict=True) if gap_ns < GAP_NS)
    steps = itertools.pairwise(paths)
    drawn = Counter(step for step, gap_ns in zip(steps, gaps_ns, strict=True) if gap_ns >= GAP_NS)
    # A draw that does not depend on the path before has each pair of paths equally often.
    share = 1 / SPINES**2
    expected, deviation = drawn.total() * share, (drawn.total() * share * (1 - share)) ** 0.5
    for step in itertools.product(range(SPINES), range(SPINES)):
        assert abs(drawn[step] - expected) < 4 * deviation, (step, drawn, expected, deviation)
