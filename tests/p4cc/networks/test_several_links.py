"""Hosts with several links: goodput, spreading, faults, pauses, captures, threads and base round-trip times."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from scapy.layers.inet import IP
from scapy.utils import rdpcap

from p4cc.errors import UserError
from p4cc.running.prepared import prepare
from p4cc.running.request import RunRequest
from tests.p4cc.scenarios import RENO, run, scenario, write

if TYPE_CHECKING:
    from pathlib import Path

    from p4cc.planning.network import NetworkPlan
    from tests.p4cc.scenarios import Ran

GBPS = 1_000_000_000
LINE = {"name": "line", "rate_control": {"name": "fixed"}}
BESIDE = {"windows_interval_ns": None, "queues_interval_ns": None}


def link(a: str, b: str, rate_bps: int = GBPS) -> dict[str, Any]:
    return {"a": a, "b": b, "rate_bps": rate_bps, "delay_ns": 1_000, "queue_capacity_pkts": 1_000}


TWO_WAYS = {
    "kind": "custom",
    "hosts": [{"name": "h1"}, {"name": "h2"}],
    "switches": [{"name": "a"}, {"name": "b"}],
    "links": [link(host, switch) for host in ("h1", "h2") for switch in ("a", "b")],
}
"""Two hosts, each with a link to both of two switches that nothing else joins."""


def bulk(**changes: Any) -> dict[str, Any]:
    return {"kind": "bulk", "sources": ["h1"], "destinations": ["h2"], "size_bytes": 1_000_000, **changes}


def planned(folder: Path, data: dict[str, Any]) -> NetworkPlan:
    prepared = prepare(RunRequest(write(folder, data)))
    return prepared.programs().plan(prepared.cases[0]).plan


def ran(folder: Path, traffic: list[dict[str, Any]], *, threads: int = 1, **changes: Any) -> Ran:
    data: dict[str, Any] = {
        "topology": TWO_WAYS,
        "transport": {"kind": "rdma", "rto_ns": 1_000_000},
        "variants": [LINE],
        "traffic": traffic,
        "record": BESIDE,
        **changes,
    }
    folder.mkdir(exist_ok=True)
    return run(folder, scenario(**data), threads=threads)


def times(of: Ran) -> list[int]:
    return of.table("flows").sort("flow_id")["fct_ns"].to_list()


def carried(of: Ran, *starts: str) -> list[int]:
    """Bytes of the links that begin with these names."""
    rows = dict(of.table("links").select("link", "bytes").iter_rows())
    return [sum(count for link, count in rows.items() if link.startswith(start)) for start in starts]


def test_two_links_carry_two_flows_in_the_time_of_one(tmp_path: Path) -> None:
    alone = times(ran(tmp_path / "alone", [bulk(via="a")]))
    both = times(ran(tmp_path / "both", [bulk(name="one", via="a"), bulk(name="two", via="b")]))
    one = times(ran(tmp_path / "one", [bulk(name="one", via="a"), bulk(name="two", via="a")]))
    assert both == alone * 2
    # 1,000 packets of 1,064 B at 1 Gb/s, the last of them once more, and 2 us there; its ACK
    # of 64 B and 2 us back.
    assert alone == [1_001 * 8_512 + 2_000 + 2 * 512 + 2_000]
    assert max(one) - alone[0] == 1_000 * 8_512


def test_flows_are_spread_by_their_numbers_and_the_seed_changes_that(tmp_path: Path) -> None:
    traffic = [bulk(flows_per_pair=40, size_bytes=10_000)]
    seen: list[list[int]] = []
    for seed in (0, 1):
        program = {"program": "p4src/v1model/ecn_dual.p4", "ecmp_seed": seed}
        shares = carried(ran(tmp_path / str(seed), traffic, switch=program), "h1:0->a", "h1:1->b")
        assert sum(shares) == 400 * 1_064
        assert min(shares) > 100 * 1_064, shares
        seen.append(shares)
    assert seen[0] != seen[1]


def test_acks_come_back_by_the_receivers_choice_and_no_host_forwards(tmp_path: Path) -> None:
    of = ran(tmp_path, [bulk(flows_per_pair=40, size_bytes=10_000)])
    back = carried(of, "h2:0->a", "h2:1->b")
    assert sum(back) == 400 * 64
    assert min(back) > 0
    # What a switch sends a host, it had from the other host.
    assert carried(of, "a:1->h1") == carried(of, "h2:0->a")


PACED = {"kind": "rdma", "rto_ns": 1_000_000}
WINDOWS = {"iw": 10, "rwnd": 256}


@pytest.mark.parametrize(
    ("sender", "transport"),
    [
        (LINE, PACED),
        (LINE, {**PACED, "reads": True, "segment_bytes": 16_000}),
        (RENO, WINDOWS),
        (RENO, {**WINDOWS, "packets": "tcp"}),
    ],
    ids=["paced", "reads", "windows", "tcp"],
)
def test_with_one_link_down_the_other_carries_on(
    tmp_path: Path, sender: dict[str, Any], transport: dict[str, Any]
) -> None:
    setup: dict[str, Any] = {"variants": [sender], "transport": transport}
    # All links between the hosts and a switch fail: what was sent to it is sent again over the other.
    faults = [{"between": [host, "a"], "down_ns": 2_000_000} for host in ("h1", "h2")]
    with_fault = ran(tmp_path / "fault", [bulk(via="a")], faults=faults, **setup)
    without = ran(tmp_path / "none", [bulk(via="a")], **setup)
    assert carried(without, "h1:1->b") == [0]
    assert carried(with_fault, "h1:1->b")[0] > 700 * 1_064
    assert times(without)[0] < times(with_fault)[0] < times(without)[0] + 5_000_000


def test_flows_return_when_the_link_does(tmp_path: Path) -> None:
    faults = [{"between": [host, "a"], "down_ns": 2_000_000, "up_ns": 4_000_000} for host in ("h1", "h2")]
    of = ran(tmp_path, [bulk(via="a")], faults=faults)
    # For 2 ms of some 9 it sends over the other, 235 packets at 1 Gb/s.
    assert 200 * 1_064 < carried(of, "h1:1->b")[0] < 300 * 1_064
    assert times(of)[0] < 15_000_000


LEAVES = {"kind": "leaf_spine", "leaves": 4, "spines": 2, "hosts_per_leaf": 2, "dual_tor": True, "host_rate_bps": GBPS}


def test_the_switches_routes_follow_a_far_link_after_their_time(tmp_path: Path) -> None:
    traffic = [bulk(destinations=["h3"], flows_per_pair=8, size_bytes=250_000)]
    fault = {"between": ["h3", "leaf3"], "down_ns": 1_000_000}
    followed = ran(
        tmp_path / "followed", traffic, topology=LEAVES, faults=[{**fault, "reroute_ns": 2_000_000}], stop_ns=10**9
    )
    ignored = ran(tmp_path / "ignored", traffic, topology=LEAVES, faults=[fault], stop_ns=10**9)
    assert None not in times(followed)
    assert None in times(ignored)
    # Spines send half of the flows to the leaf with the dead link for 2 ms.
    lost = dict(followed.table("links").select("link", "lost_pkts").iter_rows())
    assert sum(count for link, count in lost.items() if link.startswith("leaf3:") and "h3" in link) > 0


def test_reroutes_are_of_links_of_hosts_with_several(tmp_path: Path) -> None:
    faults = [{"between": ["leaf1", "spine1"], "down_ns": 1, "reroute_ns": 1}]
    with pytest.raises(UserError, match="neither 'leaf1' nor 'spine1' is a host with several links"):
        ran(tmp_path, [bulk()], topology=LEAVES, faults=faults)


RAILS = {
    "kind": "rail",
    "units": 2,
    "servers_per_unit": 2,
    "rails": 2,
    "spines": 2,
    "nvswitch_rate_bps": 3_600 * GBPS,
}


@pytest.mark.parametrize(("topology", "size_bytes"), [(LEAVES, 20_000), (RAILS, 200_000)], ids=["dual_tor", "rails"])
def test_threads_give_the_same_bytes(tmp_path: Path, topology: dict[str, Any], size_bytes: int) -> None:
    size = {"kind": "fixed", "bytes": size_bytes}
    traffic = [{"kind": "poisson", "load": 0.4, "size": size, "end_ns": 3_000_000 if topology is LEAVES else 300_000}]
    one, two = (ran(tmp_path / str(threads), traffic, topology=topology, threads=threads) for threads in (1, 2))
    assert one.bytes() == two.bytes()
    assert not [note for note in two.outcome.notes if "one thread" in note]


def test_each_interface_is_paused_for_itself(tmp_path: Path) -> None:
    hosts = ["h1", "h2", "h3"]
    topology = {
        **TWO_WAYS,
        "hosts": [{"name": host} for host in hosts],
        "links": [link("h1", "a"), link("h1", "b"), link("h3", "b"), link("h2", "a"), link("h2", "b")],
    }
    # Two hosts send to one over switch b, which pauses both; over a nobody meets.
    traffic = [
        bulk(name="one", via="b", priority=3),
        bulk(name="two", sources=["h3"], priority=3),
        bulk(name="free", via="a", priority=3),
    ]
    switch = {"program": "p4src/v1model/ecn_red.p4", "ecn_profile": "rfc3168", "buffer": {"bytes": 200_000}}
    of = ran(tmp_path, traffic, topology=topology, switch=switch)
    paused = of.table("pauses").filter(pl.col("paused_ns") > 0).filter(pl.col("node").str.starts_with("h"))
    assert paused.select("node", "port").unique().sort("node").rows() == [("h1", 1), ("h3", 0)]
    free = of.table("flows").filter(pl.col("class") == "free")["fct_ns"].to_list()
    assert free == times(ran(tmp_path / "alone", [bulk(via="a", priority=3)]))


def test_each_interface_is_captured_for_itself(tmp_path: Path) -> None:
    record = {**BESIDE, "pcap": ["h1"]}
    of = ran(tmp_path, [bulk(name="one", via="a"), bulk(name="two", via="b", size_bytes=10_000)], record=record)
    files = sorted(of.outcome.folder.rglob("h1*.pcapng"))
    assert [path.name for path in files] == ["h1-0.pcapng", "h1-1.pcapng"]
    for path, to, back in zip(files, ("h1:0->a:1", "h1:1->b:1"), ("a:1->h1:0", "b:1->h1:1"), strict=True):
        frames = rdpcap(str(path))
        # Data leaves first; ACKs may come by either link.
        from_h1 = sum(frame[IP].len for frame in frames if frame[IP].src == frames[0][IP].src)
        assert [from_h1, sum(frame[IP].len for frame in frames) - from_h1] == carried(of, to, back)


def test_a_flow_alone_has_slowdown_one_inside_a_server_and_over_a_rail(tmp_path: Path) -> None:
    topology = {
        "kind": "rail", "units": 1, "servers_per_unit": 2, "rails": 2, "spines": 1,
        "nvswitch_rate_bps": 3_600 * GBPS,
    }  # fmt: skip
    # Times are whole nanoseconds, of some 4 us inside the server.
    for destination in ("h2", "h3", "h4"):
        of = ran(tmp_path / destination, [bulk(destinations=[destination])], topology=topology)
        assert of.table("flows")["slowdown"].to_list() == pytest.approx([1.0], abs=5e-4), destination


def test_receivers_that_grant_are_refused_at_hosts_with_several_links(tmp_path: Path) -> None:
    transport = {"kind": "rdma", "rto_ns": 1_000_000, "recovery": "selective_repeat"}
    variants = [{**LINE, "receiver": {"name": "ndp"}}]
    with pytest.raises(UserError, match="some host has several"):
        ran(tmp_path, [bulk()], transport=transport, variants=variants)


def test_each_pair_has_its_base_round_trip(tmp_path: Path) -> None:
    topology = {**LEAVES, "leaves": 2, "dual_tor": False, "fabric_rate_bps": 4 * GBPS}
    changes: dict[str, Any] = {
        "topology": topology,
        "switch": {"program": "p4src/v1model/int_hpcc.p4", "timestamp_unit": "ns", "qdepth_unit": "bytes_80B"},
        "transport": {"kind": "rdma", "rto_ns": 10_000_000, "base_rtt": "pair"},
        "variants": [{"name": "HPCC", "rate_control": {"name": "hpcc"}}],
        "traffic": [bulk()],
        "record": BESIDE,
    }
    plan = planned(tmp_path, scenario(**changes))
    pairs = json.loads(plan.spec_json)["pair_rtts"]
    # Payloads of 1,000 B take 8 us at 1 Gb/s and 2 us at 4 Gb/s; each link 1 us, both ways.
    near, far = 4_000 + 16_000, 8_000 + 16_000 + 4_000
    assert pairs == {"groups": [["h1", "h2"], ["h3", "h4"]], "rtt_ns": [[near, far], [far, near]]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("p4cc.planning.network.MAX_PAIR_GROUPS", 1)
        with pytest.raises(UserError, match=r"transport\.base_rtt: .*the limit is 1 g"):
            planned(tmp_path, scenario(**changes))
    changes["transport"]["base_rtt"] = "longest"
    assert "pair_rtts" not in json.loads(planned(tmp_path, scenario(**changes)).spec_json)


def test_a_senders_first_window_is_that_of_its_pair(tmp_path: Path) -> None:
    """HPCC starts with rate times T: 10 and 14 payloads' times at 1 Gb/s."""
    topology = {**LEAVES, "leaves": 2, "dual_tor": False, "fabric_rate_bps": 4 * GBPS}
    for base_rtt, windows in (("pair", [2.5, 3.5]), ("longest", [3.5, 3.5])):
        of = ran(
            tmp_path / base_rtt,
            [bulk(name="near"), bulk(name="far", sources=["h2"], destinations=["h3"])],
            topology=topology,
            switch={"program": "p4src/v1model/int_hpcc.p4", "timestamp_unit": "ns", "qdepth_unit": "bytes_80B"},
            transport={"kind": "rdma", "rto_ns": 10_000_000, "base_rtt": base_rtt},
            variants=[{"name": "HPCC", "rate_control": {"name": "hpcc"}}],
            record={**BESIDE, "windows_interval_ns": 1_000},
        )
        first = of.table("windows").sort("time_ns").group_by("flow_id", maintain_order=True).first().sort("flow_id")
        assert first["cwnd_segments"].to_list() == windows, base_rtt
