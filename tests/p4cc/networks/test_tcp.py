"""Flows over TCP and IPv6, through the whole path: what tshark and scapy read of them, and the results of UDP."""

# Scapy has no types.
# pyright: basic

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.utils import PcapNgReader

from tests.p4cc.scenarios import RENO, Ran, run, scenario

if TYPE_CHECKING:
    from collections.abc import Sequence

DCTCP = {"name": "DCTCP", "congestion_avoidance": {"name": "dctcp"}}
CLASSIC = {"name": "ECN", "congestion_avoidance": {"name": "reno_ecn"}}
TRANSPORT = {**scenario()["transport"], "packets": "tcp"}
QUIET: dict[str, Any] = {"windows_interval_ns": None, "queues_interval_ns": None}
SENDERS = 4
PROGRAM = Path(__file__).parents[1] / "files" / "spread.p4"
SWAPPED = ("fd00::a00:5", "fd00::a00:1")
TSHARK = shutil.which("tshark") or ""


def marking(packets: int = 100, **changes: Any) -> dict[str, Any]:
    """A star whose switch marks CE at 20 packets and holds so many."""
    return scenario(
        **{
            "topology": {"kind": "star", "senders": SENDERS, "queue_capacity_pkts": packets},
            "switch": {
                "program": "p4src/v1model/ecn_dual.p4",
                "ecn_profile": "rfc3168",
                "thresholds": {"k_rule": "fixed", "k_pkts": 20, "k_dc_pkts": 20},
            },
            "traffic": {"kind": "incast", "sru_bytes": 200_000},
            "transport": TRANSPORT,
            "variants": [DCTCP],
            "record": QUIET,
            **changes,
        }
    )


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Senders of three kinds, captured at their own interfaces and at the receiver's, whole packets."""
    record = {**QUIET, "pcap": ["h*", "aggregator"], "pcap_snap_bytes": 2_000}
    data = marking(packets=40, transport={**TRANSPORT, "recovery": "sack"}, record=record)
    return run(tmp_path_factory.mktemp("tcp"), {**data, "variants": [DCTCP, CLASSIC, RENO]})


def file(ran: Ran, variant: str, node: str) -> Path:
    return ran.outcome.folder / "pcap" / f"{variant}-seed-1" / f"{node}-0.pcapng"


def tshark(path: Path, *fields: str, show: str = "tcp", more: Sequence[str] = ()) -> list[list[str]]:
    """Fields of the packets that fit a filter; checksums are verified."""
    checks = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
    given = [part for field in fields for part in ("-e", field)]
    done = subprocess.run(
        [TSHARK, "-r", str(path), *checks, *more, "-Y", show, "-T", "fields", *given],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return [line.split("\t") for line in done.stdout.splitlines()]


@pytest.mark.skipif(not TSHARK, reason="tshark is not installed")
@pytest.mark.parametrize("variant", ["DCTCP", "ECN", "Reno"])
def test_tshark_finds_nothing_wrong(captured: Ran, variant: str) -> None:
    flows = captured.table("flows").filter(pl.col("variant") == variant)
    assert flows["retransmitted_pkts"].sum() > 0, "the queue is short enough for losses"
    for flow in flows.iter_rows(named=True):
        path = file(captured, variant, flow["src"])
        rows = tshark(path, "tcp.checksum.status", "ip.checksum.status")
        assert len(rows) > 200
        assert {tuple(row) for row in rows} == {("1", "1")}, "1 is good"
        # At the sender's own interface what it sends again is all that is out of sequence.
        assert tshark(path, "frame.number", show="tcp.analysis.lost_segment || tcp.analysis.ack_lost_segment") == []
        again = tshark(path, "frame.number", show="tcp.analysis.retransmission || tcp.analysis.out_of_order")
        assert len(again) == flow["retransmitted_pkts"]


@pytest.mark.skipif(not TSHARK, reason="tshark is not installed")
def test_without_losses_the_window_alone_is_remarked_on(tmp_path: Path) -> None:
    ran = run(tmp_path, marking(packets=1_000, record={**QUIET, "pcap": ["h1"]}))
    path = file(ran, "DCTCP", "h1")
    remarks = tshark(path, "frame.number", show="tcp.analysis.flags && !tcp.analysis.window_full")
    assert remarks == []
    streams = tshark(path, "tcp.stream", "tcp.completeness")
    # SYN, SYN-ACK, ACK, data, FIN.
    assert streams[-1] == ["0", "31"]


def segments(ran: Ran, variant: str, node: str) -> list[Any]:
    return [packet for packet in PcapNgReader(str(file(ran, variant, node))) if TCP in packet]


def test_scapy_reads_options_flags_and_checksums(captured: Ran) -> None:
    flows = captured.table("flows").filter((pl.col("variant") == "DCTCP") & (pl.col("retransmitted_pkts") > 0))
    packets = segments(captured, "DCTCP", flows["src"][0])
    syn, answer, ack = packets[:3]
    assert (syn[TCP].flags, answer[TCP].flags, ack[TCP].flags) == ("SEC", "SAE", "A")
    assert (syn[TCP].dport, syn[IP].dst) == (5001, "10.0.0.5")
    options = dict(syn[TCP].options)
    assert (options["MSS"], options["SAckOK"], options["WScale"]) == (1448, b"", 1)
    assert ack[TCP].seq == (syn[TCP].seq + 1) % 2**32 == answer[TCP].ack
    assert max(packet[IP].len for packet in packets) == 1_500
    for packet in packets:
        # Scapy computes what is absent.
        again = packet[IP].copy()
        del again.chksum, again[TCP].chksum
        assert bytes(IP(bytes(again))) == bytes(packet[IP])[: packet[IP].len]
    reported = [dict(packet[TCP].options)["SAck"] for packet in packets if "SAck" in dict(packet[TCP].options)]
    assert reported, "losses are reported"
    assert all(len(edges) in (2, 4, 6) for edges in reported)


def test_dctcp_echoes_each_mark(captured: Ran) -> None:
    """RFC 8257 3.2 with an ACK for each packet: as many ACKs with ECE as packets with CE."""
    for flow in captured.table("flows").filter(pl.col("variant") == "DCTCP").iter_rows(named=True):
        client = f"10.0.0.{flow['src'][1:]}"
        seen = [one for one in segments(captured, "DCTCP", "aggregator") if client in (one[IP].src, one[IP].dst)]
        marked = [one for one in seen if one[IP].tos & 3 == 3]
        echoed = [one for one in seen if one[TCP].sport == 5001 and "E" in one[TCP].flags and "S" not in one[TCP].flags]
        assert len(marked) == len(echoed) > 5
        assert any("C" in one[TCP].flags and "S" not in one[TCP].flags for one in seen), "the window was cut"


def test_classic_ecn_echoes_until_cwr(captured: Ran) -> None:
    """RFC 3168 6.1.3: from a mark on every ACK has ECE, until CWR arrives."""
    echoes, repeated = {}, 0
    for one in segments(captured, "ECN", "aggregator"):
        if "S" in one[TCP].flags or "F" in one[TCP].flags:
            continue
        if one[TCP].dport == 5001:
            if len(one[TCP].payload) > 0:
                held = echoes.get(one[TCP].sport, False) and "C" not in one[TCP].flags
                echoes[one[TCP].sport] = held or one[IP].tos & 3 == 3
                repeated += held and one[IP].tos & 3 != 3
        elif one[TCP].dport in echoes:
            assert ("E" in one[TCP].flags) == echoes[one[TCP].dport]
    assert repeated > 10


def test_reno_does_not_speak_ecn(captured: Ran) -> None:
    packets = segments(captured, "Reno", "h1")
    assert packets[0][TCP].flags == "S"
    assert all(packet[IP].tos == 0 and not packet[TCP].flags & "EC" for packet in packets)


@pytest.mark.parametrize("senders", [1, 2])
def test_results_are_those_of_udp_after_the_handshake(tmp_path: Path, senders: int) -> None:
    """100 packets of 1500 B either way.

    The handshake takes 100 us and four times 48 ns, its ACK in front of the data 41.6 ns; in each of six rounds an
    ACK of 52 B is earlier than one of 64 B, by 9.6 ns on each of two links.
    """
    found = []
    for packets, mss_bytes in (("udp", 1_436), ("tcp", 1_448)):
        data = marking(
            packets=200,
            topology={"kind": "star", "senders": senders, "queue_capacity_pkts": 200},
            traffic={"kind": "incast", "sru_bytes": 100 * mss_bytes},
            transport={**TRANSPORT, "packets": packets, "mss_bytes": mss_bytes},
            record={**QUIET, "events": True},
        )
        folder = tmp_path / packets
        folder.mkdir()
        found.append(run(folder, data))
    udp, tcp = found
    more = tcp.table("flows")["fct_ns"] - udp.table("flows")["fct_ns"]
    assert all(value == pytest.approx(100_118, abs=2) for value in more)
    for column in ("data_pkts", "marks_level2", "retransmitted_pkts", "timeouts"):
        assert tcp.table("flows")[column].to_list() == udp.table("flows")[column].to_list()
    columns = ["flow_id", "event", "value", "second_value"]
    assert tcp.table("events").select(columns).rows() == udp.table("events").select(columns).rows()
    assert (udp.table("flows")["marks_level2"].sum() > 0) == (senders > 1)


def test_variants_may_differ_in_their_packets(tmp_path: Path) -> None:
    """Threads and jobs change no byte."""
    tcp = {**DCTCP, "name": "TCP", "transport": {"packets": "tcp", "mss_bytes": 1_448}}
    data = marking(
        topology={"kind": "leaf_spine", "leaves": 2, "spines": 2, "hosts_per_leaf": 2},
        traffic={"kind": "incast", "sru_bytes": 200_000, "sources": ["h2", "h3", "h4"], "destination": "h1"},
        transport={**TRANSPORT, "packets": "udp"},
        variants=[DCTCP, tcp],
    )
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
    one, two = (run(folder, data, use_cache=False, threads=threads) for threads, folder in enumerate(folders, 1))
    assert one.bytes() == two.bytes()
    assert [row["flows_completed"] for row in one.runs] == [3, 3]
    packets = one.table("flows").group_by("variant", maintain_order=True).agg(pl.col("data_pkts").min())
    # 200 kB in segments of 1436 and of 1448 bytes.
    assert dict(packets.iter_rows()) == {"DCTCP": 140, "TCP": 139}


def spreading(ways: int) -> list[dict[str, Any]]:
    """Entries by which leaf1 spreads connections to h3 over so many spines, and ACKs come back by the first."""

    def towards(switch: str, host: str, *peers: str, first: int = 0) -> list[dict[str, Any]]:
        group = {"table": "groups", "match": {"hdr.ipv4.dst": [f"{host}.ipv4", 32]}, "action": "spread"}
        hops = [
            {
                "switch": switch,
                "table": "hops",
                "match": {"meta.hop": first + number},
                "action": "forward",
                "params": {
                    "mac": f"{peer}.mac" if peer == host else f"mac({peer}, {switch})",
                    "port": f"port({switch}, {peer})",
                },
            }
            for number, peer in enumerate(peers)
        ]
        return [{"switch": switch, **group, "params": {"first": first, "count": len(peers)}}, *hops]

    rows = [*towards("leaf1", "h3", *("spine1", "spine2")[:ways]), *towards("leaf2", "h3", "h3")]
    rows += [*towards("leaf1", "h1", "h1", first=8), *towards("leaf2", "h1", "spine1", first=8)]
    for spine in ("spine1", "spine2"):
        rows += [*towards(spine, "h3", "leaf2"), *towards(spine, "h1", "leaf1", first=8)]
    return rows


@pytest.mark.parametrize(("packets", "ways", "complete"), [("tcp", 2, 20), ("tcp", 1, 20), ("udp", 2, 0)])
def test_a_program_of_tcp_alone_sees_connections(tmp_path: Path, packets: str, ways: int, complete: int) -> None:
    """Connections differ in the client's port, by which the program spreads them; it drops UDP."""
    program = {"program": str(PROGRAM), "routes": "none", "entries": spreading(ways)}
    data = marking(
        topology={"kind": "leaf_spine", "leaves": 2, "spines": 2, "hosts_per_leaf": 2},
        switch=program,
        traffic={"kind": "bulk", "sources": "h1", "destinations": "h3", "size_bytes": 100_000, "flows_per_pair": 20},
        transport={**TRANSPORT, "packets": packets},
        stop_ns=20_000_000,
    )
    ran = run(tmp_path, data)
    assert ran.runs[0]["flows_completed"] == complete
    ports = ran.table("ports").filter((pl.col("switch") == "leaf1") & pl.col("peer").str.starts_with("spine"))
    sent = dict(ports.select("peer", "tx_pkts").iter_rows())
    # SYN, ACK and 70 segments of each connection at least, on each way that the program has.
    least = {1: (20 * 72, 0), 2: (5 * 72, 5 * 72)}[ways] if complete else (0, 0)
    assert sent["spine1"] >= least[0]
    assert (sent["spine2"] >= least[1]) if least[1] else sent["spine2"] == 0


@pytest.fixture(scope="module", params=["udp", "tcp"])
def six(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """An incast over IPv6 through a router of IPv6 that marks."""
    record = {**QUIET, "pcap": ["h1", "aggregator"], "pcap_snap_bytes": 2_000}
    transport = {**TRANSPORT, "packets": request.param, "ip": 6, "recovery": "sack"}
    program = {"program": str(PROGRAM.with_name("router6.p4"))}
    return run(tmp_path_factory.mktemp("six"), marking(packets=60, switch=program, transport=transport, record=record))


def test_flows_go_over_ipv6(six: Ran) -> None:
    """Routes find the table of IPv6 addresses; packets have 1500 bytes, right checksums and marks that are echoed."""
    assert six.runs[0]["flows_completed"] == SENDERS
    assert any("hdr.ipv6.dst_addr" in note for note in six.outcome.notes)
    assert six.table("flows")["marks_level2"].sum() > 10
    packets = [one for one in PcapNgReader(str(file(six, "DCTCP", "h1"))) if IPv6 in one]
    assert {(one[IPv6].src, one[IPv6].dst) for one in packets} == {("fd00::a00:1", "fd00::a00:5"), SWAPPED}
    assert max(one[IPv6].plen for one in packets) == 1_460
    for one in packets:
        again, layer = one[IPv6].copy(), TCP if TCP in one else UDP
        del again[layer].chksum
        assert bytes(IPv6(bytes(again))) == bytes(one[IPv6])[: 40 + one[IPv6].plen]
    labels = {one[IPv6].fl for one in packets}
    assert len(labels) == 1, "RFC 6437: one label for a flow"


@pytest.mark.skipif(not TSHARK, reason="tshark is not installed")
def test_tshark_finds_nothing_wrong_over_ipv6(six: Ran) -> None:
    fields = ("tcp.checksum.status", "udp.checksum.status")
    checks = ["-o", "udp.check_checksum:TRUE"]
    rows = tshark(file(six, "DCTCP", "aggregator"), *fields, show="ipv6", more=checks)
    assert len(rows) > 1_000
    assert {"".join(row) for row in rows} == {"1"}
