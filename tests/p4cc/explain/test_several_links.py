"""`p4cc explain` where hosts have several links: they forward nothing, and their own flows have paths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from p4cc.analysis.recorded import read_results
from p4cc.explain.causes import Cause
from p4cc.explain.explained import explain
from p4cc.explain.network import Graph
from p4cc.explain.pauses import Pauses
from tests.p4cc.scenarios import run, scenario

if TYPE_CHECKING:
    from pathlib import Path

    from p4cc.explain.explained import RunExplained

GBPS = 1_000_000_000


def graph(*pairs: tuple[str, str]) -> Graph:
    """Links of 1 Gb/s: names with h are hosts."""
    used: dict[str, int] = {}

    def port(node: str) -> int:
        used[node] = used.get(node, -1 if node.startswith("h") else 0) + 1
        return used[node]

    ends = [(a, port(a), b, port(b)) for a, b in pairs]
    both = [*ends, *((b, at_b, a, at_a) for a, at_a, b, at_b in ends)]
    names = [f"{a}:{at_a}->{b}:{at_b}" for a, at_a, b, at_b in both]
    return Graph(pl.DataFrame({"link": names, "rate_bps": [GBPS] * len(names), "bytes": [0] * len(names)}))


def stages(of: Graph, src: str, dst: str) -> list[set[str]]:
    crossing = of.crossing(src, dst)
    assert crossing is not None
    return [{str(way) for way in stage} for stage in crossing.stages]


def test_no_path_leads_through_a_host_with_several_links() -> None:
    joined = [("agg1", "leaf1"), ("agg2", "leaf2"), ("agg1", "core"), ("agg2", "core")]
    of = graph(("h1", "leaf1"), ("h2", "leaf2"), ("hd", "leaf1"), ("hd", "leaf2"), *joined)
    assert stages(of, "h1", "h2") == [
        {"h1 -> leaf1"},
        {"leaf1 -> agg1"},
        {"agg1 -> core"},
        {"core -> agg2"},
        {"agg2 -> leaf2"},
        {"leaf2 -> h2"},
    ]
    # Its own flows take the nearer of its links.
    assert stages(of, "hd", "h2") == [{"hd -> leaf2"}, {"leaf2 -> h2"}]
    assert stages(of, "h1", "hd") == [{"h1 -> leaf1"}, {"leaf1 -> hd"}]


def test_equally_near_links_are_one_stage() -> None:
    leaves = [(f"h{host}", f"leaf{leaf}") for host, leaf in ((1, 1), (1, 2), (2, 3), (2, 4))]
    of = graph(*leaves, *((f"leaf{leaf}", f"spine{spine}") for leaf in (1, 2, 3, 4) for spine in (1, 2)))
    found = stages(of, "h1", "h2")
    assert found[0] == {"h1 -> leaf1", "h1 -> leaf2"}
    assert found[-1] == {"leaf3 -> h2", "leaf4 -> h2"}
    assert [len(stage) for stage in found] == [2, 4, 4, 2]
    # Without a way there is no crossing: a server's own switch leads to no other server.
    assert graph(("h1", "nv1"), ("h2", "nv2")).crossing("h1", "h2") is None
    rails = [("h1", "nv1"), ("h1", "rail"), ("h2", "nv2"), ("h2", "rail"), ("h3", "nv1")]
    assert stages(graph(*rails), "h1", "h2") == [{"h1 -> rail"}, {"rail -> h2"}]
    assert stages(graph(*rails), "h1", "h3") == [{"h1 -> nv1"}, {"nv1 -> h3"}]


def test_pauses_of_two_links_to_one_switch_are_kept_apart() -> None:
    of = graph(("h1", "s"), ("h1", "s"), ("h2", "s"))
    frames = {"node": "s", "peer": "h1", "priority": 3, "towards": ""}
    rows = [(0, 1, 1), (100, 1, 0), (50, 2, 1), (150, 2, 0)]
    table = pl.DataFrame([{**frames, "time_ns": at, "port": port, "pause": pause} for at, port, pause in rows])
    edges = np.array([0, 50, 100, 150, 200])
    # Paused for certain is a flow while both links are.
    pauses = Pauses(None, table, 200)
    assert pauses.share(of.crossing("h1", "h2"), edges).tolist() == [0, 1, 0, 0]
    single = graph(("h1", "s"), ("h2", "s"))
    assert pauses.share(single.crossing("h1", "h2"), edges).tolist() == [1, 1, 0, 0]


def dual(folder: Path, traffic: list[dict[str, Any]], **changes: Any) -> RunExplained:
    pairs = [("h1", "a"), ("h1", "b"), ("h2", "a"), ("h2", "b"), ("h3", "a"), ("h3", "b"), ("h4", "a")]
    data = scenario(
        topology={
            "kind": "custom",
            "hosts": [{"name": f"h{number}"} for number in (1, 2, 3, 4)],
            "switches": [{"name": "a"}, {"name": "b"}],
            "links": [
                {"a": a, "b": b, "rate_bps": GBPS, "delay_ns": 1_000, "queue_capacity_pkts": 1_000} for a, b in pairs
            ],
        },
        transport={"kind": "rdma", "rto_ns": 10_000_000},
        variants=[{"name": "line", "rate_control": {"name": "fixed"}}],
        traffic=traffic,
        record={"windows_interval_ns": 10_000, "queues_interval_ns": 10_000},
        **changes,
    )
    (told,) = explain(read_results(run(folder, data).outcome.folder))
    return told


def bulk(source: str, destination: str, **changes: Any) -> dict[str, Any]:
    return {
        "kind": "bulk",
        "name": source,
        "sources": [source],
        "destinations": [destination],
        "size_bytes": 2_000_000,
        **changes,
    }


def test_flows_that_share_a_link_of_such_a_host_are_explained(tmp_path: Path) -> None:
    told = dual(tmp_path, [bulk("h1", "h2", via="b"), bulk("h3", "h2", via="b")])
    assert {one.bound for one in told.verdicts} == {Cause.COLLISION}
    assert {one.link for one in told.verdicts} == {"b -> h2"}
    assert any("hosts have several links" in note for note in told.notes), told.notes


def test_an_endless_flow_of_such_a_host_is_slow_where_its_path_is_faster(tmp_path: Path) -> None:
    traffic = [bulk("h1", "h2", via="b", size_bytes=None), bulk("h3", "h2", via="b", size_bytes=None)]
    assert dual(tmp_path, traffic, stop_ns=20_000_000).slow == 2


def test_a_pause_of_the_only_link_that_leads_there_counts(tmp_path: Path) -> None:
    # h4 is behind switch a alone, so h1 takes one of its two links; a pauses it for what three senders send
    # to h4.
    switch = {
        "program": "p4src/v1model/ecn_red.p4",
        "ecn_profile": "rfc3168",
        "buffer": {"bytes": 200_000, "lossless_priorities": [3]},
    }
    traffic = [bulk(source, "h4", priority=3) for source in ("h1", "h2", "h3")]
    told = dual(tmp_path, traffic, switch=switch)
    assert all(one.shares.get(Cause.PAUSE, 0) > 0.3 for one in told.verdicts), [one.shares for one in told.verdicts]
    assert not any("hosts have several links" in note for note in told.notes), told.notes
