"""ECMP by flow spreads flows over links as independent choices do, at each tier and at both together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

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
        shared = (counts * (counts - 1) // 2).sum()
        assert abs(shared - expected) < 4 * deviation, (tier, shared, expected, deviation)


def test_paths_drawn_by_senders_collide_as_independent_choices_do(tmp_path: Path) -> None:
    links = flows_of_links(tmp_path, 20, 0, entropy="oblivious", entropy_values=1)
    check_against_independent_choices(links, 20)


def test_hashes_of_switches_collide_as_independent_choices_do(tmp_path: Path) -> None:
    links = pl.concat(flows_of_links(tmp_path / str(seed), 1, seed) for seed in range(12))
    check_against_independent_choices(links, 12)
