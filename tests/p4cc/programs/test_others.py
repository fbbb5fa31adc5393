"""Programs of others, unchanged, from copies outside of this project: what their own documents expect comes out."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from pathlib import Path

import polars as pl
import pytest
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether

from p4cc.running.request import RunRequest
from p4cc.running.runner import run_scenario
from tests.p4cc.scenarios import Ran

SCENARIOS = Path(__file__).parent / "others"
COPIES = {
    "tutorials": "P4CC_TUTORIALS",
    "p4-learning": "P4CC_P4_LEARNING",
    "sonic-pins": "P4CC_SONIC_PINS",
    "onos": "P4CC_ONOS",
}
"""How names of scenarios begin, and which environment variable names a copy of their repository."""


def needs(copy: str) -> pytest.MarkDecorator:
    """Skips a test where there is no copy."""
    variable = COPIES[copy]
    return pytest.mark.skipif(variable not in os.environ, reason=f"{variable} names no copy of {copy}")


tutorials = needs("tutorials")
learning = needs("p4-learning")
sonic = needs("sonic-pins")
onos = needs("onos")


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Ran:
    """The run of the scenario that a test is named after, in the folder of the copy."""
    name = request.node.originalname.removeprefix("test_")
    scenario = SCENARIOS / f"{name}.yaml"
    text = scenario.read_text(encoding="utf-8")
    monkeypatch.chdir(next(os.environ[variable] for copy, variable in COPIES.items() if f"\nname: {copy}-" in text))
    return Ran(run_scenario(RunRequest(scenario=scenario, out=tmp_path / "out", figures=False, quiet=True)))


def received(ran: Ran) -> list[tuple[str, bytes]]:
    """Packets that no flow took: host and bytes."""
    rows = ran.table("packets_received").select("host", "bytes").rows()
    return [(host, bytes.fromhex(data)) for host, data in rows]


@tutorials
def test_basic(out: Ran) -> None:
    assert out.runs[0]["flows_completed"] == out.runs[0]["flows_finite"] > 0


@tutorials
def test_ecn(out: Ran) -> None:
    peaks = {row["variant"]: row["peak_queue_pkts"] for row in out.runs}
    assert peaks["DCTCP"] < peaks["Reno"] / 2


@tutorials
def test_mri(out: Ran) -> None:
    assert out.runs[0]["flows_completed"] == 2
    # The last switch's record is the first one; s1 has the queue before the slow link.
    records = out.table("headers").filter(pl.col("header") == "switch_t")
    most = {(row["index"], row["field"]): row["value"] for row in records.sort("value").to_dicts()}
    assert (most[0, "swid"], most[1, "swid"]) == (2, 1)
    assert most[0, "qdepth"] < 5 < 30 < most[1, "qdepth"]


@tutorials
def test_qos(out: Ran) -> None:
    # Expedited forwarding for UDP, voice admit for TCP.
    assert [Ether(data)[IP].tos >> 2 for _, data in received(out)] == [46, 44]


@tutorials
def test_multicast(out: Ran) -> None:
    # The exercise's group has ports 1 to 3, so that h4 gets nothing.
    assert Counter(host for host, _ in received(out)) == {"h2": 2, "h3": 1}


@tutorials
def test_load_balance(out: Ran) -> None:
    counts = Counter(host for host, _ in received(out))
    assert counts.keys() == {"h2", "h3"}
    assert counts.total() == 200
    assert min(counts.values()) > 80


@tutorials
def test_link_monitor(out: Ran) -> None:
    probes = [data for _, data in received(out)]
    assert {data[14] for data in probes} == {5}
    # Each hop adds 18 bytes, the last one in front: bottom and switch, port, bytes since the last probe,
    # two times.
    rates_gbps: list[float] = []
    for hop in [data[15 + 4 * 18 :][:18] for data in probes]:
        bits = 8 * int.from_bytes(hop[2:6], "big")
        time_us = int.from_bytes(hop[12:18], "big") - int.from_bytes(hop[6:12], "big")
        assert (hop[0] & 0x7F, hop[1]) == (1, 4)
        rates_gbps.append(bits / time_us / 1_000 if time_us else 0.0)
    # The flow sends from 5 ms to 15 ms; a probe each ms tells of the time since the one before.
    assert len(rates_gbps) == 20
    assert max(rates_gbps[1:5] + rates_gbps[17:]) < 0.01
    assert 0.9 < min(rates_gbps[7:15]) <= max(rates_gbps) < 1.05


@tutorials
def test_firewall(out: Ran) -> None:
    flows = out.table("flows").select("src", "dst", pl.col("finish_ns").is_not_null().alias("done"))
    assert set(flows.rows()) == {("h1", "h3", True), ("h4", "h2", False)}


@learning
def test_heavy_hitter(out: Ran) -> None:
    # The filter's threshold is 1,000 packets of a flow.
    ports = Counter(Ether(data)[TCP].sport for _, data in received(out))
    assert ports[4001] == 100
    assert ports[4000] in (1_000, 1_001)


@learning
def test_l2_learning_digest(out: Ran) -> None:
    # h2 is learnt 0.5 ms after its first answer at 1 ms: of 20 frames to it 16 are flooded. h1 is known by
    # then.
    assert Counter(host for host, _ in received(out)) == {"h1": 10, "h2": 20, "h3": 16, "h4": 16}
    learnt = out.table("control").filter(pl.col("name") == "learnt")
    assert learnt.select("switch", "value").rows() == [("s1", 1.0), ("s1", 2.0)]


@learning
def test_l2_learning_cpu(out: Ran) -> None:
    assert out.runs[0]["flows_completed"] == 6
    # Each of four switches learns each of six hosts once, and 100 us later nothing more is flooded.
    learnt = out.table("control").filter(pl.col("name") == "learnt")
    assert Counter(learnt["switch"]) == dict.fromkeys(("s1", "s2", "s3", "s4"), 6)
    flooded = out.table("packets_received")
    last_ns, end_ns = flooded.select(pl.col("time_ns").max()).item(), out.runs[0]["end_ns"]
    assert 100_000 < last_ns < learnt.select(pl.col("time_ns").max()).item() + 110_000 < end_ns / 10


@learning
def test_ecmp(out: Ran) -> None:
    assert len(received(out)) == 400
    shares = out.table("ports").filter((pl.col("switch") == "s1") & pl.col("peer").str.starts_with("s"))
    assert shares["tx_pkts"].sum() == 400
    assert shares["tx_pkts"].min() == 100


@learning
def test_flowlet(out: Ran) -> None:
    # How many packets came after one that was sent later, by the gaps of the flow and the delay of the long
    # path.
    overtaken: defaultdict[tuple[int, int], int] = defaultdict(int)
    highest: defaultdict[tuple[int, int], int] = defaultdict(int)
    for gap_ns, delay_ns, data in out.table("packets_received").select("period_ns", "delay_ns", "bytes").rows():
        run, number = (gap_ns // 1_000_000, delay_ns // 1_000_000), Ether(bytes.fromhex(data))[TCP].seq
        overtaken[run] += number < highest[run]
        highest[run] = max(highest[run], number)
    assert overtaken.pop((250, 400)) > 50
    assert overtaken == {(50, 150): 0, (50, 400): 0, (250, 150): 0}
    ports = out.table("ports").filter((pl.col("switch") == "s1") & pl.col("peer").str.starts_with("s"))
    for (gap_ns, _), shares in ports.group_by("period_ns", "delay_ns"):
        spread = sorted(shares["tx_pkts"])
        assert sum(spread) == 400
        assert spread[0] > 70 if gap_ns == 250_000_000 else spread[:3] == [0, 0, 0]


@learning
def test_fast_reroute(out: Ran) -> None:
    # The switch knows of its link after 20 us, two packets; without an alternate it waits 10 ms for a next
    # hop.
    counts = Counter(out.table("packets_received").select("alternates", "host").rows())
    assert counts == {(True, "h4"): 2998, (False, "h4"): 1998}
    sent = out.table("ports").filter(pl.col("alternates") & (pl.col("switch") == "s2"))
    ways = dict(sent.select("peer", "tx_pkts").rows())
    assert ways == {"h2": 0, "s1": 1002, "s4": 1000, "s3": 998}


@sonic
def test_middleblock(out: Ran) -> None:
    assert [row["flows_completed"] for row in out.runs] == [4, 4]
    # The program gives each packet one selector: groups take one way. Next hops of their own take both.
    up = out.table("ports").filter((pl.col("switch") == "leaf1") & pl.col("peer").str.starts_with("spine"))
    ways = {(groups, peer): sent for groups, peer, sent in up.select("groups", "peer", "tx_pkts").rows()}
    assert ways[True, "spine2"] == 0 < ways[True, "spine1"]
    assert ways[False, "spine1"] == ways[False, "spine2"] > 1_000


@learning
def test_congestion_aware(out: Ran) -> None:
    last = {(row["feedback"], row["seed"]): (row["goodput_bps_last"], row["jain_last"]) for row in out.runs}
    for seed in (1, 2, 3):
        # ECMP leaves one of four paths empty and puts two flows on another; those that share one are moved.
        assert last[False, seed][0] < 30e6
        assert last[False, seed][1] < 0.8
        assert last[True, seed][0] > 35e6
        assert last[True, seed][1] > 0.95


@tutorials
def test_flowcache(out: Ran) -> None:
    # 2.5 ms pass until a switch knows what to do: 3 packets of s1, and 6 of s2 with those that come through
    # the controller.
    told = Counter(out.table("control").select("switch", "name").rows())
    expected = {"packet_in": (6, 12), "cached": (2, 2), "idle": (2, 2)}
    assert told == {
        (switch, name): both[at] for name, both in expected.items() for at, switch in enumerate(("s1", "s2"))
    }
    counted = out.table("program_counters").group_by("switch", "counter").agg(pl.col("packets").max())
    assert {row[1:] for row in counted.rows()} == {
        (f"{place}Counter", number)
        for place in ("MyIngress.ingressPktOut", "MyEgress.egressPktIn")
        for number in (6, 12)
    }
    # Entries mark and count down; packets of the controller go as they came.
    packets = [Ether(data)[IP] for _, data in received(out)]
    assert Counter((packet.tos >> 2, packet.ttl) for packet in packets) == {(5, 62): 28, (5, 63): 6, (0, 64): 6}
    # Silent from 19 ms on, and again from 5.019 s on.
    idle = out.table("control").filter((pl.col("name") == "idle") & (pl.col("switch") == "s1"))
    assert [time_ns // 1_000_000 for time_ns in idle["time_ns"]] == [3_019, 8_019]


@onos
def test_fabric(out: Ran) -> None:
    assert out.runs[0]["flows_completed"] == 32
    leaf = out.table("ports").filter(pl.col("switch") == "leaf1").select("port", "peer", "tx_pkts")
    ways = [sent for _, peer, sent in leaf.rows() if peer.startswith("spine")]
    assert min(ways) > 1_000
    # The program's own counter of each port agrees.
    counted = out.table("program_counters").filter(pl.col("switch") == "leaf1")
    assert dict(counted.group_by("index").agg(pl.col("packets").max()).rows()) == {
        port: sent for port, _, sent in leaf.rows()
    }


@tutorials
def test_calc(out: Ran) -> None:
    # 1000 and 24 by +, -, &, | and ^; the sixth operation is unknown, and its packet is dropped.
    answers = [int.from_bytes(data[26:30], "big") for _, data in received(out)]
    assert answers == [1024, 976, 1000 & 24, 1000 | 24, 1000 ^ 24]


@tutorials
def test_basic_tunnel(out: Ran) -> None:
    # Both packets are for h3; the one with the tunnel's header goes by the header's id, to h2.
    assert [(host, data[12:14].hex()) for host, data in received(out)] == [("h3", "0800"), ("h2", "1212")]


@tutorials
def test_source_routing(out: Ran) -> None:
    packets = [Ether(data) for _, data in received(out)]
    # Two switches and three, each of which counts TTL down and leaves IPv4's checksum as it was.
    assert [packet[IP].ttl for packet in packets] == [62, 61]
    assert set(out.table("packets_received")["cause"]) == {"damaged"}


@tutorials
def test_p4runtime(out: Ran) -> None:
    assert out.runs[0]["flows_completed"] == 1
    sent = out.table("flows")["data_pkts"].item()
    counted = out.table("program_counters").group_by("switch", "counter", "index").agg(pl.col("packets").max())
    # ACKs come back by the other tunnel, one for each packet.
    assert set(counted.rows()) == {
        (switch, f"MyIngress.{way}TunnelCounter", tunnel, sent)
        for switch, way, tunnel in (
            ("s1", "ingress", 100),
            ("s2", "egress", 100),
            ("s2", "ingress", 200),
            ("s1", "egress", 200),
        )
    }
