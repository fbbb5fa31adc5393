"""Completion times of flows alone in the network, against the packets of a flow one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topos import AloneIdeal, HpccIdeal, LinkChange, Paths, change_links, generate, topology_from_plain
from topos.graph import Link

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topos import Topology


def chain(rates_bps: Sequence[int], delays_ns: Sequence[int], framing_bytes: int = 0) -> Topology:
    """Two hosts with switches between them."""
    names = ["h1", *(f"s{number}" for number in range(1, len(rates_bps))), "h2"]
    links = [
        {
            "a": a,
            "b": b,
            "rate_bps": rate_bps,
            "delay_ns": delay_ns,
            "queue_capacity_pkts": 1,
            "framing_bytes": framing_bytes,
        }
        for a, b, rate_bps, delay_ns in zip(names, names[1:], rates_bps, delays_ns, strict=False)
    ]
    hosts, switches = [{"name": "h1"}, {"name": "h2"}], [{"name": name} for name in names[1:-1]]
    return topology_from_plain({"hosts": hosts, "switches": switches, "links": links})


def packet_by_packet_ps(links: Sequence[Link], packets: Sequence[int], ack_bytes: int) -> int:
    """Every packet waits for the one before it on each link; the ACK of the last one goes back."""

    def time_ps(link: Link, ip_bytes: int) -> int:
        bits = 8 * (ip_bytes + link.framing_bytes)
        return -(-bits * 10**12 // link.rate_bps)

    free_at = [0] * len(links)
    at = 0
    for ip_bytes in packets:
        at = 0
        for number, link in enumerate(links):
            free_at[number] = max(at, free_at[number]) + time_ps(link, ip_bytes)
            at = free_at[number] + 1_000 * link.delay_ns
    return at + sum(time_ps(link, ack_bytes) + 1_000 * link.delay_ns for link in links)


@given(
    links=st.lists(st.tuples(st.integers(10**7, 16 * 10**11), st.integers(0, 10**6)), min_size=2, max_size=6),
    framing_bytes=st.sampled_from((0, 24, 38)),
    mss_bytes=st.integers(1, 9_000),
    size_bytes=st.integers(1, 200_000),
)
def test_a_formula_for_what_packets_do_one_by_one(
    links: list[tuple[int, int]], framing_bytes: int, mss_bytes: int, size_bytes: int
) -> None:
    mss_bytes = max(mss_bytes, -(-size_bytes // 200))
    topology = chain([rate for rate, _ in links], [delay for _, delay in links], framing_bytes)
    whole, rest = divmod(size_bytes, mss_bytes)
    packets = [mss_bytes + 64] * whole + ([rest + 64] if rest else [])
    expected = packet_by_packet_ps(topology.links, packets, 64)
    ideal = AloneIdeal(mss_bytes, header_bytes=64, ack_bytes=64)
    assert ideal.fct_ns(Paths(topology), "h1", "h2", size_bytes) == expected / 1_000


@given(
    links=st.lists(st.tuples(st.sampled_from((10**7, 10**8, 10**9)), st.integers(0, 10**6)), min_size=2, max_size=5),
    mss_bytes=st.integers(1, 9_000),
    segment_bytes=st.integers(1, 20_000),
    size_bytes=st.integers(1, 200_000),
)
def test_packets_end_with_their_segments(
    links: list[tuple[int, int]], mss_bytes: int, segment_bytes: int, size_bytes: int
) -> None:
    mss_bytes, segment_bytes = (max(given, -(-size_bytes // 200)) for given in (mss_bytes, segment_bytes))
    topology = chain([rate for rate, _ in links], [delay for _, delay in links])
    segments, rest = divmod(size_bytes, segment_bytes)
    packets: list[int] = []
    for segment in [segment_bytes] * segments + [rest]:
        whole, short = divmod(segment, mss_bytes)
        packets += [mss_bytes + 64] * whole + ([short + 64] if short else [])
    expected = packet_by_packet_ps(topology.links, packets, 64) / 1_000
    ideal = AloneIdeal(mss_bytes, 64, 64, segment_bytes=segment_bytes)
    found = ideal.fct_ns(Paths(topology), "h1", "h2", size_bytes)
    assert found <= expected
    if len({rate for rate, _ in links}) == 1 or segment_bytes <= mss_bytes or segment_bytes % mss_bytes == 0:
        assert found == expected


def test_a_flow_shorter_than_a_packet_counts_its_own_bytes() -> None:
    """331 B in packets of 9,000 B at 1 Gb/s, four links of 1 ns in a round trip: 395 B there, 64 B back, twice each."""
    paths = Paths(generate("star", {"senders": 1, "rate_bps": 10**9, "rtt_ns": 4}))
    found = AloneIdeal(9_000, header_bytes=64, ack_bytes=64).fct_ns(paths, "h1", "aggregator", 331)
    assert found == 4 + 2 * 8 * 395 + 2 * 8 * 64


def test_the_fastest_of_several_paths_counts() -> None:
    shape = generate("leaf_spine", {"leaves": 2, "spines": 3, "hosts_per_leaf": 1, "fabric_rate_bps": 10**10})
    topology = change_links(shape, (LinkChange(a="*", b="spine2", rate_bps=10**11), LinkChange(a="*", b="spine3")))
    ideal = AloneIdeal(1_000, header_bytes=0, ack_bytes=0)
    # 10 us of payload on a link of a host, a packet on the three others: 800 ns and twice 80 ns; 2 x 4 us
    # of delay.
    found = [ideal.fct_ns(Paths(one), "h1", "h2", 12_500) for one in (shape, topology)]
    assert found[0] - found[1] == 2 * (800 - 80)
    assert len(Paths(topology).ways("h1", "h2")) == 1, "paths that another beats do not count"


def test_paths_that_add_up_do_not_bound_a_flow_that_is_sprayed() -> None:
    shape = {"leaves": 2, "spines": 4, "hosts_per_leaf": 1, "host_rate_bps": 10**11, "fabric_rate_bps": 25 * 10**9}
    paths = Paths(generate("leaf_spine", shape))
    one, all_paths = (AloneIdeal(1_000, 0, 0, sprayed=sprayed) for sprayed in (False, True))
    assert one.fct_ns(paths, "h1", "h2", 10**6) > 320_000
    assert 80_000 < all_paths.fct_ns(paths, "h1", "h2", 10**6) < 90_000


def test_the_formula_of_hpccs_scripts() -> None:
    """Slowdown B: base round trip with a packet's time for each link, and the wire bytes at the slowest rate."""
    paths = Paths(generate("fat_tree", {"k": 4}))
    # Six links of 1 us at 100 Gb/s, and 1,000 B on each: 12.48 us (docs/algorithms/topologies.md#topologies).
    ideal = HpccIdeal(mss_bytes=1_000, header_bytes=48, packet_bytes=1_000)
    assert ideal.fct_ns(paths, "h1", "h16", 1_000) == pytest.approx(12_480 + 83.84)
    assert ideal.fct_ns(paths, "h1", "h16", 2_500) == pytest.approx(12_480 + (2_500 + 3 * 48) * 0.08)
