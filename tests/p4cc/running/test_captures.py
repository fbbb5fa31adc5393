"""Captures end to end: what scapy and tshark read of them, their limits, and the same bytes however runs are made."""

# Scapy has no types.
# pyright: basic

from __future__ import annotations

import itertools
import shutil
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from scapy.layers.inet import IP, UDP
from scapy.utils import PcapNgReader, RawPcapNgReader

from p4cc.errors import UserError
from p4cc.planning.captures import captured_ends
from p4cc.running.captures import CaptureWriter
from p4cc.running.request import RunRequest
from p4cc.running.rerun import rerun
from tests.p4cc.scenarios import Ran, run, scenario, skewed
from topos import generate

QUIET = {"windows_interval_ns": None, "queues_interval_ns": None}
SNAP_BYTES = 100


def captures(ran: Ran) -> dict[str, bytes]:
    """Files by their place in the folder of results."""
    folder = ran.outcome.folder
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.glob("pcap/*/*"))}


@pytest.fixture(scope="module")
def star(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Every end of a star of four senders."""
    record = {**QUIET, "pcap": ["s1", "h*", "aggregator"], "pcap_snap_bytes": SNAP_BYTES}
    return run(tmp_path_factory.mktemp("star"), scenario(record=record))


def test_each_end_has_a_file_with_what_its_port_counted(star: Ran) -> None:
    rows = {(row["node"], row["port"]): row for row in star.table("captures").iter_rows(named=True)}
    assert len(rows) == 2 * 5
    ports = star.table("ports").iter_rows(named=True)
    counted = {(row["switch"], row["port"]): row["rx_pkts"] + row["tx_pkts"] for row in ports}
    assert {end: row["captured_pkts"] for end, row in rows.items() if end[0] == "s1"} == counted
    for (node, port), row in rows.items():
        path = star.outcome.folder / "pcap" / "Reno-seed-1" / f"{node}-{port}.pcapng"
        assert path.stat().st_size == row["file_bytes"]
        assert len(list(RawPcapNgReader(str(path)))) == row["captured_pkts"] > 0
    assert star.table("captures")["left_out_pkts"].sum() == 0


def test_a_library_reads_headers_lengths_times_and_ways(star: Ran) -> None:
    path = star.outcome.folder / "pcap" / "Reno-seed-1" / "s1-5.pcapng"
    packets = list(PcapNgReader(str(path)))
    data = [packet for packet in packets if packet.direction == 2]
    acks = [packet for packet in packets if packet.direction == 1]
    assert len(data) == len(acks) > 0
    assert {packet[IP].dst for packet in data} == {acks[0][IP].src}
    assert {packet[UDP].dport for packet in data} == {52_224}
    full = [packet for packet in data if packet.wirelen == 1_514]
    assert {len(bytes(packet)) for packet in full} == {SNAP_BYTES}
    assert {packet[IP].len for packet in full} == {1_500}
    times = [float(packet.time) for packet in packets]
    assert times == sorted(times)
    # One full packet after the other on a line of 10 Gb/s.
    gaps = [round(1e9 * float(after.time - before.time)) for before, after in itertools.pairwise(full)]
    assert min(gaps) == 1_200
    assert {packet.sniffed_on for packet in packets} == {"s1:5"}


def test_wireshark_opens_it(star: Ran) -> None:
    tshark = shutil.which("tshark")
    if tshark is None:
        pytest.skip("tshark is not installed")
    path = star.outcome.folder / "pcap" / "Reno-seed-1" / "h1-0.pcapng"
    fields = ("frame.interface_name", "frame.packet_flags_direction", "frame.time_epoch", "frame.len", "frame.cap_len")
    words = [tshark, "-r", str(path), "-T", "fields", *(word for field in fields for word in ("-e", field))]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    rows = star.table("captures").filter(pl.col("node") == "h1")
    assert len(lines) == rows["captured_pkts"].item()
    name, way, time_s, length, kept = lines[0]
    assert (name, int(way, 16), length, kept) == ("h1:0", 2, "1514", str(SNAP_BYTES))
    assert len(time_s.partition(".")[2]) == 9


def test_threads_jobs_and_the_cache_change_no_byte(tmp_path: Path) -> None:
    record = {**QUIET, "pcap": "*", "pcap_max_bytes": 100_000}
    data = skewed(record=record, sweep={"traffic.pattern": ["uniform"]})
    one = run(tmp_path, data, use_cache=False)
    first = captures(one)
    folders = {Path(name).parent.name for name in first}
    assert folders == {f"{name}_pattern=uniform-seed-{seed}" for name in ("HPCC", "DCQCN") for seed in (1, 2)}
    assert len(first) == 4 * (8 + 8 + 4 + 4)
    assert any("captures ended at record.pcap_max_bytes (0.1 MB)" in warning for warning in one.outcome.warnings)
    full = one.table("captures").filter(pl.col("left_out_pkts") > 0)["file_bytes"]
    assert not full.is_empty()
    assert full.is_between(99_500, 100_000).all()
    for use_cache, threads in ((True, 2), (True, 1)):
        again = run(tmp_path, data, use_cache=use_cache, threads=threads)
        assert captures(again) == first
        assert again.outcome.warnings == one.outcome.warnings


def test_what_a_folder_holds_is_compared_and_replaced(tmp_path: Path) -> None:
    data = scenario(record={**QUIET, "pcap": ["s1:2"]})
    folder = run(tmp_path, data).outcome.folder
    request = RunRequest(scenario=Path(), threads=2, quiet=True)
    assert "pcap/Reno-seed-1/s1-2.pcapng" in rerun(folder, request).equal
    with_captures = run(tmp_path, data).bytes()
    without = run(tmp_path, data, "record.pcap=[]").bytes()
    assert not (folder / "pcap").exists()
    # A capture changes no other table.
    assert with_captures.keys() - without.keys() == {"captures.parquet"}
    assert without.items() <= with_captures.items()


@pytest.mark.parametrize(
    ("patterns", "ends"),
    [
        (["h1"], [("h1", 0)]),
        (["h2", "s1:3", "h1", "s1:?"], [("s1", 1), ("s1", 2), ("s1", 3), ("h1", 0), ("h2", 0)]),
        (["s?"], [("s1", 1), ("s1", 2), ("s1", 3)]),
        (["*:0"], [("h1", 0), ("h2", 0), ("aggregator", 0)]),
        (["*:2", "*:2"], [("s1", 2)]),
    ],
)
def test_patterns_name_ends_in_the_order_of_the_topology(patterns: list[str], ends: list[Any]) -> None:
    topology = generate("star", {"senders": 2, "queue_capacity_pkts": 10})
    assert captured_ends(patterns, topology, "here") == ends


def test_a_pattern_of_nothing_is_an_error() -> None:
    topology = generate("star", {"senders": 2, "queue_capacity_pkts": 10})
    with pytest.raises(UserError, match="no link end matches 's1:4'") as refused:
        captured_ends(["h1", "s1:4"], topology, "here")
    assert "nodes: s1, h1, h2, aggregator" in refused.value.remedy


def test_labels_that_look_alike_have_folders_of_their_own(tmp_path: Path) -> None:
    writer = CaptureWriter(tmp_path)
    for label, seed in (("A x=1/2", 1), ("A x=1:2", 1), ("A x=1/2", 2), ("B", 1)):
        writer.add(label, seed, {"s1-1": label.encode()})
    found = {path.parent.name: path.read_text() for path in tmp_path.rglob("*.pcapng")}
    assert found == {
        "A_x=1_2-seed-1": "A x=1/2",
        "A_x=1_2~2-seed-1": "A x=1:2",
        "A_x=1_2-seed-2": "A x=1/2",
        "B-seed-1": "B",
    }
