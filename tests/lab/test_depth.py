"""The depth of a queue from captures, and the figure that is drawn of it."""

from __future__ import annotations

import struct
from functools import partial
from pathlib import Path

import polars as pl
import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Packet, Raw

from p4cc.errors import UserError
from p4cc.figures.chart import Line
from p4cc.lab.compare import Side, chart, draw
from p4cc.lab.depth import Port, depth_of

START_NS = 1_800_000_000_000_000_000
MS = 1_000_000
# 1500 bytes of IP take a millisecond.
RATE_BPS = 12_000_000


def _packet(number: int, *, tos: int = 0, destination: str = "10.0.0.9", tcp: bool = False) -> Packet:
    payload = number.to_bytes(4, "big") + bytes(1_500 - 28 - 4)
    layer = TCP(sport=50_000, seq=7) / Raw(payload[:-12]) if tcp else UDP(sport=50_000) / Raw(payload)
    # All TCP packets here are one segment, sent again and again.
    return Ether() / IP(src="10.0.0.1", dst=destination, tos=tos, ttl=64 - tos, id=number) / layer


def capture(path: Path, packets: list[tuple[int, Packet]]) -> Path:
    # A capture with nanoseconds, of Ethernet.
    lines = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65_535, 1)]
    for time_ms, one in packets:
        seconds, rest_ns = divmod(START_NS + time_ms * MS, 10**9)
        data = bytes(one)
        lines += [struct.pack("<IIII", seconds, rest_ns, len(data), len(data)), data]
    path.write_bytes(b"".join(lines))
    return path


@pytest.mark.parametrize("tcp", [False, True])
def test_a_packet_waits_from_its_arrival_until_it_begins_to_be_sent(tmp_path: Path, tcp: bool) -> None:
    packet = partial(_packet, tcp=tcp)
    first, second = (
        capture(tmp_path / f"{name}.pcap", packets)
        for name, packets in {
            "a": [(0, packet(0)), (1, packet(1)), (3, packet(2)), (3, packet(9, destination="10.0.0.3"))],
            "b": [(0, packet(3)), (0, packet(4)), (0, Ether() / ARP())],
        }.items()
    )
    # Five came for this port; number 4 was dropped. The link's
    # delay is 10 ms, sending takes 1 ms, a mark changes IP.
    left = capture(
        tmp_path / "left.pcap",
        [(11, packet(0)), (12, packet(3, tos=1)), (13, packet(1, tos=2)), (14, packet(2))],
    )
    depth, lost = depth_of([first, second], Port(left, 10 * MS, RATE_BPS), START_NS)
    assert lost == 1
    at_ms = {time // MS: pkts for time, pkts in depth.rows()}
    assert at_ms == {0: 1, 1: 1, 2: 0, 3: 0}


def test_what_is_no_capture_is_said(tmp_path: Path) -> None:
    (tmp_path / "left.pcap").write_bytes(b"not a capture at all, is it")
    with pytest.raises(UserError, match=r"left\.pcap"):
        depth_of([], Port(tmp_path / "left.pcap", 0, None), 0)
    with pytest.raises(UserError, match=r"gone\.pcap"):
        depth_of([], Port(tmp_path / "gone.pcap", 0, None), 0)


def test_both_clocks_are_drawn_and_what_was_not_recorded_is_named(tmp_path: Path) -> None:
    windows = pl.DataFrame({"time_ns": [0, MS], "flow_id": [1, 1], "cwnd_segments": [1.0, 2.0]})
    queues = pl.DataFrame({"time_ns": [0, MS], "depth_pkts": [0, 3]})
    sides = [
        Side("DCTCP", "virtual", {"finish_ns": MS}, windows, queues),
        Side("DCTCP", "lab", {"finish_ns": None}, pl.DataFrame(), pl.DataFrame()),
    ]
    path = draw(sides, tmp_path / "lab.png")
    assert path.stat().st_size > 5_000
    assert {panel.x.high for panel in chart(sides).panels} == {1.0}
    # Flows without an end are shown up to their last sample.
    endless = Side("DCTCP", "linux", {}, windows.with_columns(time_ns=pl.Series([0, 5 * MS])), queues)
    assert {panel.x.high for panel in chart([*sides, endless]).panels} == {5.0}


def _line(mark: object) -> Line:
    assert isinstance(mark, Line)
    return mark


def test_alpha_and_round_trips_of_all_clocks_share_a_panel() -> None:
    windows = pl.DataFrame({"time_ns": [0, MS], "flow_id": [1, 1], "cwnd_segments": [1.0, 2.0], "alpha": [1.0, 0.5]})
    queues = pl.DataFrame({"time_ns": [0, MS], "depth_pkts": [0, 3]})
    timed = windows.with_columns(srtt_ns=pl.Series([None, 2 * MS]))
    clocks = {"virtual": windows, "agents": windows, "linux": timed}
    panels = chart([Side("DCTCP", clock, {}, frame, queues) for clock, frame in clocks.items()]).panels
    shared = {panel.y.label: panel for panel in panels[-2:]}
    alpha, times = (list(map(_line, shared[label].marks)) for label in ("alpha", "round-trip time\n(ms)"))
    assert [line.label for line in alpha] == ["virtual time", "agents in the lab", "Linux in the lab"]
    assert [list(line.y) for line in times] == [[2.0]]
    assert [panel.x.label for panel in panels] == [""] * 7 + ["time"]


def test_the_legend_is_where_lines_of_most_clocks_are() -> None:
    plain = pl.DataFrame({"time_ns": [0, MS], "flow_id": [1, 1], "cwnd_segments": [1.0, 2.0]})
    alpha = plain.with_columns(alpha=pl.Series([1.0, 0.5]))
    timed = alpha.with_columns(srtt_ns=pl.Series([MS, MS]))

    def keys(*sides: tuple[str, str, pl.DataFrame]) -> list[tuple[str, list[str]]]:
        panels = chart([Side(variant, clock, {}, frame, pl.DataFrame()) for variant, clock, frame in sides]).panels
        unlabelled = [panel for panel in panels if not panel.legend]
        assert not any(_line(mark).label for panel in unlabelled for mark in panel.marks)
        return [
            (panel.y.label, [label for mark in panel.marks if (label := _line(mark).label)])
            for panel in panels
            if panel.legend
        ]

    both = ["virtual time", "Linux in the lab"]
    # Reno has no alpha, so the second column has the first lines.
    sides = [
        (variant, clock, frame)
        for variant, frame in (("Reno", plain), ("DCTCP", alpha))
        for clock in ("virtual", "linux")
    ]
    assert keys(*sides) == [("", both)]
    # Only the lower row has lines of both clocks.
    assert keys(("DCTCP", "virtual", timed), ("DCTCP", "linux", timed.drop("alpha"))) == [
        ("round-trip time\n(ms)", both)
    ]
