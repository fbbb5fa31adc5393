"""The default headroom of lossless classes loses nothing; where one is too small, the run says what is enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from p4cc.planning.fabric import buffer_bytes, enough_headroom_bytes
from p4cc.scenario.fabric import BufferSettings
from tests.p4cc.scenarios import Ran, run, scenario
from topos.graph import Link

if TYPE_CHECKING:
    from pathlib import Path

SENDERS = 4
PAUSING = {"name": "line rate", "rate_control": {"name": "fixed"}}


def incast(rate_bps: int, delay_ns: int, mss_bytes: int, **buffer: Any) -> dict[str, Any]:
    """Senders that know no congestion but pauses, into a buffer of their headrooms and some fifty packets."""
    link = Link(a="h1", b="s1", rate_bps=rate_bps, delay_ns=delay_ns, queue_capacity_pkts=1)
    headrooms_bytes = (SENDERS + 1) * (enough_headroom_bytes(link, mss_bytes + 64 + 255, 1) + 4_096)
    return scenario(
        topology={
            "kind": "star",
            "senders": SENDERS,
            "rate_bps": rate_bps,
            "rtt_ns": 4 * delay_ns,
            "queue_capacity_pkts": 500_000,
        },
        switch={
            "program": "p4src/v1model/ecn_red.p4",
            "ecn_profile": "rfc3168",
            "timestamp_unit": "ns",
            "buffer": {"bytes": headrooms_bytes + 50 * (mss_bytes + 64), **buffer},
        },
        traffic={"kind": "incast", "sru_bytes": 2 * headrooms_bytes // SENDERS + 40 * mss_bytes, "priority": 3},
        transport={"kind": "rdma", "mss_bytes": mss_bytes},
        variants=[PAUSING],
    )


def lost(ran: Ran) -> int:
    return ran.table("port_queues").select(pl.sum_horizontal(pl.selectors.starts_with("dropped_"))).sum().item()


@settings(max_examples=12, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rate_bps=st.sampled_from((10**7, 10**9, 10**10, 25 * 10**9, 10**11, 4 * 10**11, 16 * 10**11)),
    delay_ns=st.sampled_from((0, 5, 100, 500, 1_000, 5_000)),
    mss_bytes=st.integers(256, 9_000),
)
@example(rate_bps=10**10, delay_ns=1_000, mss_bytes=1_000)
@example(rate_bps=10**11, delay_ns=200, mss_bytes=8_936)
def test_the_default_loses_nothing(tmp_path: Path, rate_bps: int, delay_ns: int, mss_bytes: int) -> None:
    ran = run(tmp_path, incast(rate_bps, delay_ns, mss_bytes))
    (row,) = ran.runs
    assert row["pauses"] > 0
    assert (lost(ran), row["drops"], row["flows_completed"]) == (0, 0, SENDERS)
    assert not ran.outcome.warnings


def test_switches_between_switches_lose_nothing(tmp_path: Path) -> None:
    shape = {"kind": "leaf_spine", "leaves": 2, "spines": 1, "hosts_per_leaf": 4, "queue_capacity_pkts": 500_000}
    rates = {"host_rate_bps": 25 * 10**9, "fabric_rate_bps": 4 * 10**10}
    data: dict[str, Any] = incast(25 * 10**9, 1_000, 4_096) | {
        "topology": {**shape, **rates},
        "traffic": {"kind": "incast", "sru_bytes": 500_000, "priority": 3, "destination": "h8"},
    }
    data["switch"]["buffer"]["bytes"] = 400_000
    ran = run(tmp_path, data)
    pausing = ran.table("pauses").filter(pl.col("pauses_sent") > 0)["node"].unique()
    assert {"leaf2", "spine1"} <= set(pausing.to_list())
    assert lost(ran) == 0


def test_a_headroom_that_is_too_small_is_named_with_one_that_is_enough(tmp_path: Path) -> None:
    """HPCC's 3 rate delay / 8 is 3,750 B at 10 Gb/s and 1 us: less than what is on the way, and packets of 1,064 B."""
    data = incast(10**10, 1_000, 1_000, headroom_rule="hpcc_ns3")
    data["transport"]["rto_ns"] = 1_000_000
    ran = run(tmp_path, data)
    assert lost(ran) > 0
    (text,) = (one for one in ran.outcome.warnings if "lossless" in one)
    enough = enough_headroom_bytes(
        Link(a="h1", b="s1", rate_bps=10**10, delay_ns=1_000, queue_capacity_pkts=1), 1_319, 1
    )
    assert enough == 2 * 1_250 + 3 * 1_319 + 2 * 64
    assert f"s1 dropped {lost(ran):,} packets of priority 3, which is lossless: its headroom of 3,750 B" in text
    assert f"{enough:,} B would have been enough" in text
    given_bytes = incast(10**10, 1_000, 1_000, headroom_bytes=enough)
    assert lost(run(tmp_path, given_bytes)) == 0


def test_a_queue_that_is_full_before_the_pause_is_named(tmp_path: Path) -> None:
    data = incast(10**10, 1_000, 1_000)
    data["topology"]["queue_capacity_pkts"] = 20
    data["transport"]["rto_ns"] = 1_000_000
    (text,) = (one for one in run(tmp_path, data).outcome.warnings if "lossless" in one)
    assert "a queue of 20 packets was full before the buffer asked for a pause; queue_capacity_pkts of" in text


@pytest.mark.parametrize(("least_mbps", "warned"), [(1_000, True), (100, False), (0, False)])
def test_least_rates_that_a_link_does_not_carry_are_warned_of(tmp_path: Path, least_mbps: int, *, warned: bool) -> None:
    dcqcn = {"name": "DCQCN", "rate_control": {"name": "dcqcn", "r_min_mbps": least_mbps}}
    topology = {"kind": "star", "senders": 40, "rate_bps": 25 * 10**9, "queue_capacity_pkts": 100_000}
    data: dict[str, Any] = incast(10**10, 1_000, 1_000) | {
        "topology": topology,
        "variants": [dcqcn],
        "stop_ns": 100_000,
    }
    data["switch"]["buffer"]["bytes"] = 12_000_000
    texts = [one for one in run(tmp_path, data).outcome.warnings if "r_min_mbps" in one]
    assert bool(texts) == warned
    if warned:
        assert "40 flows to aggregator send at least 40 Gbit/s" in texts[0]
        assert "its link carries 25 Gbit/s" in texts[0]
        assert "set r_min_mbps to at most 625" in texts[0]


@pytest.mark.parametrize(
    ("rate_bps", "rtt_ns", "shared"),
    [(10**11, 12_000, 32 << 20), (10**8, 12_000, 1 << 20), (10**9, 10**8, 4 * 12_500_000), (10**10, 10**7, 50_000_000)],
)
def test_the_default_buffer_follows_rate_and_round_trip(rate_bps: int, rtt_ns: int, shared: int) -> None:
    """Nothing is set aside without links."""
    assert buffer_bytes(BufferSettings(), [], rate_bps, 1_500, rtt_ns) == shared


SONIC_XOFF_BYTES = {
    10: (29_696, 36_864),
    25: (29_696, 48_128),
    40: (29_696, 59_392),
    50: (29_696, 66_560),
    100: (30_720, 104_448),
}
"""Of SONiC's table for an SN2700 (docs/sources.md#sonic-headroom): Gb/s, and `xoff` for cables of 5 and of 300 m."""
NS_PER_M = 1e9 / 198_000_000
CELL_BYTES = 96
"""In the worst case each packet has a byte more than a cell, so bytes count 1.979 times."""


@pytest.mark.parametrize("gbps", SONIC_XOFF_BYTES)
def test_a_longer_cable_adds_what_a_switch_of_today_adds(gbps: int) -> None:
    ours = [
        enough_headroom_bytes(
            Link(a="s1", b="s2", rate_bps=gbps * 10**9, delay_ns=round(metres * NS_PER_M), queue_capacity_pkts=1),
            1_500,
            1,
        )
        for metres in (5, 300)
    ]
    short, long = SONIC_XOFF_BYTES[gbps]
    worst = 2 * CELL_BYTES / (CELL_BYTES + 1)
    # The table is in steps of 1,024 B; delays are rounded to nanoseconds.
    assert abs((ours[1] - ours[0]) - (long - short) / worst) < 1_024 / worst + gbps / 4
