"""Bolt through the whole path: controller, sessions, `bolt.p4`, notifications, senders, results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from tests.p4cc.scenarios import Ran, run, scenario, skewed

if TYPE_CHECKING:
    from pathlib import Path

BOLT = {"name": "Bolt", "rate_control": {"name": "bolt"}}
LATE = {**BOLT, "name": "late", "bolt": {"early": False}}
SWITCH = {"program": "p4src/v1model/bolt.p4", "timestamp_unit": "ns", "qdepth_unit": "cells_80B"}


def incast(**changes: Any) -> dict[str, Any]:
    """Eight senders at 100 Gbit/s begin together; `changes` replace whole sections."""
    return scenario(
        **{
            "topology": {
                "kind": "star",
                "senders": 8,
                "rate_bps": 100_000_000_000,
                "rtt_ns": 8_000,
                "queue_capacity_pkts": 10_000,
            },
            "switch": SWITCH,
            "traffic": {"kind": "incast", "sru_bytes": 400_000, "start_jitter_ns": 0},
            "transport": {"kind": "rdma", "mss_bytes": 1_424, "rto_ns": 2_000_000},
            "variants": [BOLT, LATE],
            "record": {"windows_interval_ns": None, "queues_interval_ns": 1_000, "pcap": ["s1:1"]},
            "stop_ns": 50_000_000,
            **changes,
        }
    )


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return run(tmp_path_factory.mktemp("bolt"), incast(), use_cache=False)


def test_who_is_told_at_once_drains_the_queue_sooner(ran: Ran) -> None:
    assert all(row["flows_completed"] == 8 for row in ran.runs)
    queues = ran.table("queues").filter(pl.col("peer") == "aggregator").sort("time_ns")
    peaks = dict(queues.group_by("variant").agg(pl.col("depth_pkts").max()).rows())
    # A sender that waits for the receiver's word has sent its whole first window by then.
    assert peaks["Bolt"] < 0.8 * peaks["late"]
    long = queues.filter(pl.col("depth_pkts") > 100).group_by("variant").agg(pl.col("time_ns").max())
    ends = dict(long.rows())
    assert ends["Bolt"] < ends["late"]


def test_notifications_come_back_by_the_port_of_their_packet(ran: Ran) -> None:
    from scapy.utils import rdpcap

    from p4cc.wire import NOTICE, P4cc

    (capture,) = [path for path in ran.outcome.folder.rglob("*.pcapng") if "Bolt" in str(path)]
    packets = [packet[P4cc] for packet in rdpcap(str(capture)) if P4cc in packet]
    told = [packet for packet in packets if packet.type == NOTICE]
    sent = {packet.timestamp_ns for packet in packets if packet.type == 0}
    assert told
    assert {packet.timestamp_echo_ns for packet in told} <= sent
    assert len({packet.timestamp_echo_ns for packet in told}) == len(told), "one for each packet at most"


def test_threads_write_the_same_tables(tmp_path: Path) -> None:
    data = skewed(switch=SWITCH, variants=[BOLT], transport={"kind": "rdma", "rto_ns": 2_000_000}, seeds=[1])
    outs: list[dict[str, bytes]] = []
    for threads in (1, 2):
        folder = tmp_path / str(threads)
        folder.mkdir()
        ran = run(folder, data, use_cache=False, threads=threads)
        assert all(row["flows_completed"] > 0 for row in ran.runs)
        outs.append(ran.bytes())
    assert outs[0] == outs[1]
