"""Hosts that take packets slowly: goodput and pauses by fluid arithmetic, from a scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from p4cc.errors import UserError
from tests.p4cc.scenarios import run, scenario

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

LINE_BPS, RECEIVE_BPS = 10_000_000_000, 4_000_000_000
STOP_NS = 20_000_000
BUFFER_BYTES = 100_000
PACKET_BYTES, MSS_BYTES = 1_064, 1_000


def star(buffer: dict[str, Any] | None, **slow: Any) -> dict[str, Any]:
    """One flow without an end at the line rate, to a host that takes less."""
    return scenario(
        topology={"kind": "star", "senders": 1, "rate_bps": LINE_BPS, "rtt_ns": 4_000, "queue_capacity_pkts": 10_000},
        switch={"program": "p4src/v1model/ack_priority.p4", "ecn_profile": "rfc3168", "buffer": buffer},
        traffic=[{"kind": "bulk", "priority": 3, "size_bytes": None}],
        transport={"kind": "rdma", "recovery": "selective_repeat", "rto_ns": 1_000_000},
        variants=[{"name": "fixed", "rate_control": {"name": "fixed"}}],
        slow_receivers=[{"host": "aggregator", "receive_rate_bps": RECEIVE_BPS, "buffer_bytes": BUFFER_BYTES, **slow}],
        stop_ns=STOP_NS,
        record={"windows_interval_ns": None, "queues_interval_ns": None},
    )


def test_goodput_is_the_receive_rate_and_pauses_are_the_rest(tmp_path: Path) -> None:
    results = run(tmp_path, star({"lossless_priorities": [3]}))
    (row,) = results.table("slow_receivers").rows(named=True)
    (flow,) = results.table("flows").rows(named=True)
    goodput_bps = 8e9 * flow["acked_bytes"] / STOP_NS
    assert goodput_bps == pytest.approx(RECEIVE_BPS * MSS_BYTES / PACKET_BYTES, rel=0.01)
    assert row["dropped_pkts"] == 0
    assert results.table("port_queues")["dropped_headroom"].sum() == 0
    # The card fills at the difference of the rates, and pauses the line for the share that it cannot take.
    fills_ns = 8e9 * row["pause_bytes"] / (LINE_BPS - RECEIVE_BPS)
    share = 1 - RECEIVE_BPS / LINE_BPS
    fluid_ns = share * (STOP_NS - fills_ns)
    # A pause finds a packet on the line, which ends.
    most_ns = fluid_ns + row["pauses_sent"] * PACKET_BYTES * 8e9 / LINE_BPS
    assert 0.99 * fluid_ns < row["pausing_ns"] < most_ns
    pauses = results.table("pauses").rows(named=True)
    paused_ns = {node: sum(item["paused_ns"] for item in pauses if item["node"] == node) for node in ("s1", "h1")}
    assert 0.99 * fluid_ns < paused_ns["s1"] < most_ns
    assert sum(item["pauses_sent"] for item in pauses if item["node"] == "aggregator") == row["pauses_sent"] > 0
    # The sender is paused later, when the switch's buffer is full.
    assert 0 < paused_ns["h1"] < paused_ns["s1"]


def test_without_lossless_priorities_the_card_drops_what_it_cannot_take(tmp_path: Path) -> None:
    results = run(tmp_path, star(None))
    (row,) = results.table("slow_receivers").rows(named=True)
    came_bytes = PACKET_BYTES * row["arrived_pkts"]
    assert row["taken_bytes"] * 8e9 / STOP_NS == pytest.approx(RECEIVE_BPS, rel=0.01)
    assert row["dropped_pkts"] * PACKET_BYTES == pytest.approx(came_bytes * (1 - RECEIVE_BPS / LINE_BPS), rel=0.03)
    assert results.runs[0]["drops"] == row["dropped_pkts"]


def test_two_threads_write_the_same_table(tmp_path: Path) -> None:
    # A star has one switch, which one thread runs.
    topology = {"kind": "leaf_spine", "leaves": 2, "spines": 1, "hosts_per_leaf": 1, "host_rate_bps": LINE_BPS}
    traffic = {"kind": "bulk", "sources": ["h1"], "destinations": ["h2"], "priority": 3, "size_bytes": None}
    data = {**star({"lossless_priorities": [3]}, host="h2"), "topology": topology, "traffic": [traffic]}
    tables: list[pl.DataFrame] = []
    for threads in (1, 2):
        folder = tmp_path / str(threads)
        folder.mkdir()
        results = run(folder, data, use_cache=False, threads=threads)
        assert not [note for note in results.outcome.notes if "one thread" in note]
        tables.append(results.table("slow_receivers").drop("seed"))
    assert tables[0].equals(tables[1])


@pytest.mark.parametrize(
    ("entry", "place", "cause"),
    [
        ({"receive_rate_bps": LINE_BPS}, "receive_rate_bps", "is not below the rate"),
        ({"buffer_bytes": 4_000}, "buffer_bytes", "cannot hold what arrives"),
        ({"host": "h9"}, "host", "no host matches"),
    ],
)
def test_what_cannot_be_is_named(tmp_path: Path, entry: dict[str, Any], place: str, cause: str) -> None:
    with pytest.raises(UserError) as caught:
        run(tmp_path, star({"lossless_priorities": [3]}, **entry))
    assert cause in caught.value.cause
    assert caught.value.place.endswith(f"slow_receivers[0].{place}")
