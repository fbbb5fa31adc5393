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


MINE = """
from p4cc import RateAlgorithm

class Mine(RateAlgorithm):
    needs = "queue_notices"

    def start(self):
        self.least = max(min(15e6 * self.base_rtt_ns / 8e9, self.bdp_bytes), 1.0)
        self.window = self.bdp_bytes
        self.rtt_ns = None
        self.flight = 0.0
        self.waits = False
        self.last_loss_ns = 0.0
        self.round_end = 0
        self.publish()

    def publish(self):
        self.window_bytes = self.window
        self.rate_bps = self.line_rate_bps
        small = self.window < self.payload_bytes
        rtt_ns = self.base_rtt_ns if self.rtt_ns is None and small else self.rtt_ns
        if rtt_ns is not None and (self.waits or small):
            bps = self.window / self.payload_bytes * self.packet_bytes * 8e9 / max(rtt_ns, 1.0)
            self.rate_bps = min(max(bps, 15e6), self.line_rate_bps)

    def set(self, window):
        self.window = min(max(window, self.least), self.bdp_bytes)

    def on_sent(self, now_ns, size_bytes):
        self.flight += max(size_bytes - (self.packet_bytes - self.payload_bytes), 0)
        self.waits = self.flight + self.payload_bytes > self.window
        self.publish()

    def on_ack(self, ack):
        self.rtt_ns = self.rtt_ns if ack.rtt_ns is None else ack.rtt_ns
        self.flight = float(ack.snd_nxt - ack.ack)
        window = self.window + (self.payload_bytes if ack.is_offered else 0)
        if ack.ack > self.round_end:
            window += self.payload_bytes
            self.round_end = ack.snd_nxt
        self.set(window)
        self.publish()

    def on_notice(self, now_ns, elapsed_ns, queue_bytes, link_rate_bps):
        if self.window <= self.payload_bytes:
            self.set(self.window * 0.5)
        else:
            rate = self.line_rate_bps if self.rtt_ns is None else self.window * 8e9 / max(self.rtt_ns, 1.0)
            own = queue_bytes / self.packet_bytes * (rate / link_rate_bps)
            if own > 0 and (now_ns - self.last_loss_ns) * own >= elapsed_ns:
                self.set(self.window - self.payload_bytes)
                self.last_loss_ns = now_ns
        self.publish()
"""


def test_bolt_in_python_gives_the_bytes_of_bolt(tmp_path: Path) -> None:
    found: list[dict[str, bytes]] = []
    for control in ({"name": "bolt"}, {"python": "mine.py:Mine"}):
        folder = tmp_path / next(iter(control))
        folder.mkdir()
        (folder / "mine.py").write_text(MINE, encoding="utf-8")
        record = {"windows_interval_ns": 1_000, "queues_interval_ns": 1_000}
        ran = run(folder, incast(variants=[{"name": "Bolt", "rate_control": control}], record=record), use_cache=False)
        assert ran.runs[0]["flows_completed"] == 8
        tables = {name: ran.table(name) for name in ("flows", "windows", "queues")}
        found.append({name: one.drop("algorithm").write_csv().encode() for name, one in tables.items()})
    assert found[0] == found[1]


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
