"""Kinds of traffic and shapes of networks, end to end on small scenarios."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from p4cc.errors import UserError
from tests.p4cc.scenarios import RENO, run, scenario

if TYPE_CHECKING:
    from pathlib import Path

MIX: list[dict[str, Any]] = [
    {"kind": "bulk", "name": "background", "sources": "b1", "destinations": "aggregator"},
    {"kind": "incast", "total_bytes": 50_001, "start_ns": 2_000_000, "deadline": {"offset_ns": 400_000}},
    {
        "kind": "poisson",
        "name": "short",
        "size": {"kind": "uniform", "min_bytes": 1_000, "max_bytes": 9_000},
        "flows_per_s": 20_000,
        "end_ns": 4_000_000,
        "deadline": {"exp_mean_ns": 1_000_000, "min_ns": 300_000},
        "sender": {"congestion_avoidance": {"name": "dctcp"}},
    },
    {"kind": "rounds", "name": "reads", "sru_bytes": 9_000, "rounds": 3, "servers": ["h1", "h[23]"]},
]
STAR = {"kind": "star", "senders": 4, "background_hosts": 1, "queue_capacity_pkts": 100}


def test_a_mix_has_figures_of_each_label_and_of_the_whole(tmp_path: Path) -> None:
    record = {"windows_interval_ns": 100_000, "queues_interval_ns": 100_000}
    ran = run(tmp_path, scenario(topology=STAR, traffic=MIX, seeds=[1, 2], record=record))
    flows, labels = ran.table("flows"), ran.table("traffic")
    assert set(labels["class"]) == {"background", "incast", "short", "reads", "reads.request"}
    first = flows.filter(pl.col("seed") == 1)
    # 50,001 B over four senders: the byte that is left goes to the first.
    sizes = first.filter(pl.col("class") == "incast").sort("flow_id")["size_bytes"].to_list()
    assert sizes == [12_501, 12_500, 12_500, 12_500]
    algorithms = dict(first.select("class", "algorithm").unique().iter_rows())
    assert algorithms == {
        "background": "reno", "incast": "reno", "short": "dctcp", "reads": "reno", "reads.request": "reno",
    }  # fmt: skip
    assert set(flows["variant"]) == {"Reno"}
    # Each row has the algorithm of its own flow or label, the rows of the network the variant's.
    assert dict(labels.select("class", "algorithm").unique().iter_rows()) == algorithms
    of_windows = ran.table("windows").select("flow_id", "algorithm").unique()
    assert not of_windows.is_empty()
    of_flows = dict(first.select("flow_id", "algorithm").iter_rows())
    assert all(of_flows[flow] == algorithm for flow, algorithm in of_windows.iter_rows())
    for name in ("rounds", "ports", "port_queues", "counters", "queue_stats", "links"):
        assert set(ran.table(name)["algorithm"]) == {"reno"}, name
    sized = first.filter(pl.col("size_bytes") > 0)
    assert (sized["acked_bytes"] == sized["size_bytes"]).all()
    for one in ran.runs:
        assert one["rounds_completed"] == 3
        assert one["background.flows"] == one["background.completed"] + 1
        assert one["goodput_bps"] < one["total_goodput_bps"] < 10e9
        assert one["incast.deadline_flows"] == 4
        assert 0 <= one["incast.deadlines_met"] <= 4
        assert one["round_goodput_bps"] > 0
    rounds = ran.table("rounds").filter(pl.col("seed") == 1)
    assert rounds["bytes"].to_list() == [27_000] * 3
    assert (rounds["start_ns"][1:].cast(pl.Int64) == rounds["finish_ns"][:-1]).all()
    counts = flows.filter(pl.col("class") == "short").group_by("seed").len()["len"].to_list()
    # 80 flows are expected, with a standard deviation of 9.
    assert all(45 < count < 120 for count in counts)
    assert (
        counts[0] != counts[1] or flows.filter(pl.col("seed") == 1).height != flows.filter(pl.col("seed") == 2).height
    )


def test_every_variant_meets_the_same_traffic(tmp_path: Path) -> None:
    variants = [RENO, {"name": "DCTCP", "congestion_avoidance": {"name": "dctcp"}}]
    flows = run(tmp_path, scenario(topology=STAR, traffic=MIX, variants=variants)).table("flows")
    columns = ["flow_id", "src", "dst", "size_bytes", "deadline_ns"]
    reno, dctcp = (flows.filter(pl.col("variant") == name) for name in ("Reno", "DCTCP"))
    assert reno.select(columns).equals(dctcp.select(columns))
    open_loop = pl.col("class").is_in(["incast", "short"])
    assert reno.filter(open_loop)["start_ns"].equals(dctcp.filter(open_loop)["start_ns"])


def test_slowdowns_are_at_least_one_and_deadlines_are_judged_at_the_receiver(tmp_path: Path) -> None:
    traffic = {"kind": "incast", "sru_bytes": 40_000, "deadline": {"offset_ns": 400_000}}
    flows = run(tmp_path, scenario(traffic=traffic)).table("flows")
    assert (flows["slowdown"] > 1).all()
    assert (flows["slowdown_rate_only"] > flows["slowdown"]).all()
    in_time = flows["received_ns"] - flows["start_ns"] <= 400_000
    assert in_time.cast(pl.Int64).equals(flows["deadline_met"].rename("received_ns"))
    assert flows["deadline_ns"].unique().to_list() == [400_000]


def test_flow_sizes_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "sizes.cdf").write_text("1000 0\n1000 50\n3000 100\n", encoding="utf-8")
    traffic = {"kind": "poisson", "size": {"kind": "cdf", "file": "sizes.cdf"}, "load": 0.1, "end_ns": 3_000_000}
    flows = run(tmp_path, scenario(traffic=traffic)).table("flows")
    # Mean 1,500 B, so a flow every 12 us from each of four sources: 1,000 flows.
    assert 850 < flows.height < 1_150
    assert flows["size_bytes"].min() == 1_000
    assert 0.42 < (flows["size_bytes"] == 1_000).sum() / flows.height < 0.58
    assert (flows["size_bytes"] <= 3_000).all()


def test_the_geo_dumbbell_has_its_round_trip_times_and_its_windows_over_time(tmp_path: Path) -> None:
    """docs/algorithms/topologies.md#topologies, #t-geo: three
    pairs, 560, 280 and 140 ms, drop-tail 50 packets of 1 KiB."""
    ran = run(
        tmp_path,
        scenario(
            topology={
                "kind": "dumbbell",
                "pair_rtts_ns": [560_000_000, 280_000_000, 140_000_000],
                "bottleneck_rate_bps": 10_000_000,
                "access_rate_bps": 100_000_000,
                "queue_capacity_pkts": 50,
            },
            switch={"program": "p4src/v1model/ecn_dual.p4", "thresholds": {"k_rule": "never"}},
            traffic={"kind": "bulk"},
            transport={"recovery": "newreno", "mss_bytes": 1024, "iw": 1, "rwnd": 64, "rto_min_ns": 1_000_000_000},
            stop_ns=6_000_000_000,
            record={"windows_interval_ns": 10_000_000, "goodput_interval_ns": 100_000_000},
            measure=[
                {"name": "early", "end_ns": 2_000_000_000},
                {"name": "late", "start_ns": 4_000_000_000, "end_ns": 6_000_000_000},
            ],
            figures=[{"kind": "traces", "file": "geo.png", "panels": [{"y": "cwnd_segments"}, {"y": "rate_bps"}]}],
        ),
        figures=True,
    )
    windows = ran.table("windows")
    first_rtts = windows.filter(pl.col("srtt_ns") > 0).group_by("flow_id", maintain_order=True).first().sort("flow_id")
    for rtt_ns, base in zip(first_rtts["srtt_ns"], (560_000_000, 280_000_000, 140_000_000), strict=True):
        # Serialisation: 1,088 B at 10 Mb/s is 0.87 ms.
        assert base < rtt_ns < base + 3_000_000
    # The shortest round trip fills its window first; later all three send 64 segments a round trip.
    run_ = ran.runs[0]
    assert 0 < run_["jain_early"] < run_["jain_late"] < 1
    bins = (
        ran.table("goodput")
        .group_by("flow_id")
        .agg((pl.col("rate_bps").sum() * 0.1 / 8).alias("bytes"))
        .sort("flow_id")
    )
    acked = ran.table("flows").sort("flow_id")["acked_bytes"].to_list()
    assert bins["bytes"].to_list() == pytest.approx(acked, rel=0.05)
    assert (ran.outcome.folder / "geo.png").read_bytes().startswith(b"\x89PNG")


def test_a_parking_lot_s_long_flow_meets_every_bottleneck(tmp_path: Path) -> None:
    ran = run(
        tmp_path,
        scenario(
            topology={"kind": "parking_lot", "bottlenecks": 3, "bottleneck_rate_bps": 1_000_000_000},
            traffic={"kind": "bulk"},
            stop_ns=20_000_000,
            record={"queues_interval_ns": 1_000, "windows_interval_ns": None},
            switch={"program": "p4src/v1model/ecn_dual.p4", "thresholds": {"k_rule": "fixed", "k_pkts": 40}},
        ),
    )
    goodput = dict(ran.table("flows").select("src", "acked_bytes").iter_rows())
    assert goodput["l1"] < min(goodput["x1-1"], goodput["x2-1"], goodput["x3-1"])
    stats = ran.table("queue_stats").filter(pl.col("max_pkts") > 5)
    assert stats.height == 3
    for row in stats.iter_rows(named=True):
        assert row["p50_pkts"] <= row["p95_pkts"] <= row["p99_pkts"] <= row["max_pkts"] <= 150
        assert 0 < row["mean_pkts"] < row["max_pkts"]


def test_a_fat_tree_carries_traffic_between_its_pods(tmp_path: Path) -> None:
    ran = run(
        tmp_path,
        scenario(
            topology={"kind": "fat_tree", "k": 4, "hosts": 14},
            traffic={"kind": "poisson", "size": {"kind": "fixed", "bytes": 20_000}, "load": 0.05, "end_ns": 200_000},
            switch={"program": "p4src/v1model/ecn_dual.p4", "thresholds": {"k_rule": "fixed", "k_pkts": 40}},
        ),
    )
    flows = ran.table("flows")
    assert flows.height > 50
    assert (flows["fct_ns"] > 0).all()
    # The last edge switch has no host; all other switches are used: the cores too, though all hash alike.
    ports = ran.table("ports").filter(pl.col("tx_pkts") > 0)
    assert ports["switch"].n_unique() == 20 - 1
    # Each of the four cores carries its part.
    by_core = (
        ports.filter(pl.col("switch").str.starts_with("c")).group_by("switch").agg(pl.col("tx_pkts").sum())["tx_pkts"]
    )
    assert len(by_core) == 4
    assert by_core.min() > 0.1 * by_core.sum()  # pyright: ignore[reportOperatorIssue]


def test_ports_have_thresholds_of_their_own(tmp_path: Path) -> None:
    ran = run(
        tmp_path,
        scenario(
            switch={
                "program": "p4src/v1model/ecn_dual.p4",
                "thresholds": {"k_rule": "never"},
                "ports": [
                    {"to": "h?", "k_rule": "fixed", "k_pkts": 7, "k_dc_pkts": 9},
                    {"switch": "s1", "to": "aggregator", "k_rule": "halve_once", "rtt_ns": 100_000},
                ],
            },
        ),
    )
    counters = dict(ran.table("counters").select("peer", "k_pkts").iter_rows())
    # halve_once at 10 Gb/s, 100 us and 100 packets gives 8 (docs/algorithms/slow-start.md#gst-model).
    assert counters == {"h1": 7, "h2": 7, "h3": 7, "h4": 7, "aggregator": 8}


FIXED = {"kind": "fixed", "bytes": 1_000}
MISFITS: list[tuple[dict[str, Any], str]] = [
    ({"traffic": {"kind": "bulk", "sources": "x*"}}, "at traffic.sources: no host matches 'x*'"),
    (
        {"traffic": [{"kind": "bulk", "destinations": ["h1", "h2"]}]},
        "at traffic[0].destinations: 4 sources cannot be",
    ),
    ({"traffic": {"kind": "incast", "total_bytes": 3}}, "at traffic.total_bytes: 3 B divided by 4 senders"),
    ({"topology": {"kind": "fat_tree", "k": 4}}, "at traffic.destination: the topology does not define a single host"),
    (
        {"traffic": {"kind": "poisson", "size": {"kind": "cdf", "file": "absent"}, "load": 1}},
        "at traffic.size.file: no flow-size distribution 'absent'",
    ),
    (
        {"traffic": {"kind": "closed_loop", "size": FIXED, "total_flows": 3}},
        "at traffic.total_flows: 3 divided by 4 sources leaves some with nothing to send",
    ),
    (
        {"traffic": {"kind": "poisson", "size": FIXED, "load": 0.5, "load_link": ["h1", "h2"]}},
        "at traffic.load_link: no link goes from 'h1' to 'h2'",
    ),
    (
        {"traffic": {"kind": "poisson", "size": FIXED, "load": 0.5, "load_link": ["aggregator", "s1"]}},
        "at traffic.load_link: no flow of these hosts crosses the link from 'aggregator' to 's1'",
    ),
    (
        {
            "topology": {"kind": "star", "senders": 2, "link_changes": [{"a": "h1", "b": "s1", "rate_bps": 10**9}]},
            "traffic": {"kind": "poisson", "size": FIXED, "load": 0.5, "total_bytes": 10_000},
        },
        "at traffic.total_bytes: the sources' links have several rates",
    ),
    (
        {"topology": {"kind": "custom", "hosts": [{}], "switches": [{}], "links": [{}]}},
        "hosts[0].name: field required",
    ),
    (
        {"topology": {"kind": "star", "senders": 2, "link_changes": [{"a": "x"}]}},
        "link_changes[0]: no link connects 'x'",
    ),
    (
        {
            "switch": {"program": "p4src/v1model/ecn_dual.p4", "thresholds": {"k_rule": "never"}},
            "variants": [{"name": "G", "congestion_avoidance": {"name": "reno"}, "slow_start": {"name": "gst"}}],
        },
        "gst needs ECN marks, but no port marks",
    ),
]


@pytest.mark.parametrize(("changes", "message"), MISFITS)
def test_what_does_not_fit_the_network_is_named(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as caught:
        run(tmp_path, scenario(**changes))
    assert message in str(caught.value)
    assert "remedy" in str(caught.value)
    assert not (tmp_path / "out").exists()
