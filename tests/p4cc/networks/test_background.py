"""Background traffic by quantity, by the load of a link, and in closed loops (docs/algorithms/traffic.md#quantity)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from p4cc.errors import UserError
from p4cc.planning.network import NetworkPlan
from p4cc.running.prepared import prepare
from p4cc.running.request import RunRequest
from tests.p4cc.scenarios import Ran, run, scenario, write

if TYPE_CHECKING:
    from pathlib import Path

SIZES = {"kind": "uniform", "min_bytes": 2_000, "max_bytes": 30_000}
LOOP = {"kind": "closed_loop", "size": SIZES, "outstanding": 3, "think_ns": 40_000, "total_flows": 400}
STAR = {"kind": "star", "senders": 4, "queue_capacity_pkts": 400}
LEAVES = {
    "kind": "leaf_spine",
    "leaves": 2,
    "spines": 2,
    "hosts_per_leaf": 2,
    "fabric_rate_bps": 10**10,
    "queue_capacity_pkts": 400,
}


def planned(folder: Path, data: dict[str, Any]) -> NetworkPlan:
    prepared = prepare(RunRequest(write(folder, data), out=folder / "out"))
    return prepared.programs().plan(prepared.cases[0]).plan


def by_source(ran: Ran, seed: int = 1) -> dict[str, pl.DataFrame]:
    flows = ran.table("flows").filter(pl.col("seed") == seed)
    return {str(src): group for (src,), group in flows.group_by("src", maintain_order=True)}


def test_the_next_flow_starts_a_think_time_after_one_has_ended(tmp_path: Path) -> None:
    ran = run(tmp_path, scenario(topology=STAR, traffic=LOOP))
    for group in by_source(ran).values():
        assert group.height == 100
        starts = sorted(group["start_ns"].to_list())
        ends = sorted(group["finish_ns"].to_list())
        # Three start at random within 10 us, and then each end lets one start.
        assert all(start <= 10_000 for start in starts[:3])
        assert {start - end for start, end in zip(starts[3:], ends, strict=False)} == {40_000}


@pytest.mark.parametrize("think", ["constant", "exponential"])
def test_a_closed_loop_keeps_little_s_law(tmp_path: Path, think: str) -> None:
    """N = X (T + Z): flows outstanding, flows started in a time, mean completion and think time."""
    ran = run(tmp_path, scenario(topology=STAR, traffic={**LOOP, "think": think, "total_flows": 4_000}))
    for group in by_source(ran).values():
        starts, ends = group["start_ns"].sort(), group["finish_ns"].sort()
        # Until the last flow starts all three are outstanding.
        until_ns = int(starts[-1])
        done = group.filter(pl.col("finish_ns") <= until_ns)
        thought_ns = [start - end for start, end in zip(starts[3:], ends, strict=False)]
        if think == "exponential":
            # Starts are in another order than the ends that they follow, but their sums are the same.
            assert sum(thought_ns) / len(thought_ns) == pytest.approx(40_000, rel=0.15)
        cycle_ns = int(done["fct_ns"].sum()) / done.height + sum(thought_ns) / len(thought_ns)
        assert done.height / until_ns * cycle_ns == pytest.approx(3, rel=0.02)


@pytest.mark.parametrize(
    "traffic",
    [
        {"kind": "closed_loop", "size": SIZES, "outstanding": 5, "total_bytes": 1_234_567},
        {"kind": "poisson", "size": SIZES, "load": 0.1, "total_bytes": 1_234_567},
    ],
    ids=lambda one: one["kind"],
)
def test_what_is_offered_is_the_quantity(tmp_path: Path, traffic: dict[str, Any]) -> None:
    ran = run(tmp_path, scenario(topology=STAR, traffic=traffic, seeds=[1, 2]))
    flows = ran.table("flows")
    sums = flows.group_by("seed").agg(pl.col("size_bytes").sum(), pl.col("acked_bytes").sum()).sort("seed")
    assert sums["size_bytes"].to_list() == sums["acked_bytes"].to_list() == [1_234_567] * 2
    one, two = (flows.filter(pl.col("seed") == seed)["size_bytes"].to_list() for seed in (1, 2))
    assert one != two
    if traffic["kind"] == "closed_loop":
        shares = flows.filter(pl.col("seed") == 1).group_by("src").agg(pl.col("size_bytes").sum()).sort("src")
        assert shares["size_bytes"].to_list() == [308_642, 308_642, 308_642, 308_641]


def test_a_quantity_cuts_an_open_loop_short_and_changes_nothing_before(tmp_path: Path) -> None:
    traffic: dict[str, Any] = {"kind": "poisson", "size": SIZES, "flows_per_s": 200_000, "end_ns": 3_000_000}
    columns = ["flow_id", "src", "dst", "size_bytes", "start_ns"]
    (tmp_path / "whole").mkdir()
    whole = run(tmp_path / "whole", scenario(topology=STAR, traffic=traffic)).table("flows").sort("flow_id")
    assert whole.height > 450
    some = (
        run(tmp_path, scenario(topology=STAR, traffic={**traffic, "total_flows": 250})).table("flows").sort("flow_id")
    )
    assert some.select(columns).equals(whole.head(250).select(columns))
    # The time is over first.
    more = run(tmp_path, scenario(topology=STAR, traffic={**traffic, "total_flows": 100_000})).table("flows")
    assert more.height == whole.height


def test_a_closed_loop_never_has_more_outstanding(tmp_path: Path) -> None:
    ran = run(tmp_path, scenario(topology=STAR, traffic={**LOOP, "think_ns": 0, "destinations": ["aggregator", "h1"]}))
    for source, group in by_source(ran).items():
        assert source not in group["dst"].to_list()
        begun = [(start, 1) for start in group["start_ns"].to_list()]
        # Where one ends at the nanosecond at which the next starts, the end comes first.
        ended = [(end, -1) for end in group["finish_ns"].to_list()]
        outstanding, most = 0, 0
        for _, change in sorted(begun + ended):
            outstanding += change
            most = max(most, outstanding)
        assert most == 3


def test_every_sender_meets_the_same_loop(tmp_path: Path) -> None:
    variants = [{"name": name, "congestion_avoidance": {"name": name}} for name in ("reno", "dctcp")]
    flows = run(tmp_path, scenario(topology=STAR, traffic=LOOP, variants=variants)).table("flows")
    columns = ["flow_id", "src", "dst", "size_bytes"]
    one, other = (flows.filter(pl.col("variant") == name).select(columns) for name in ("reno", "dctcp"))
    assert one.equals(other)


@pytest.mark.parametrize(
    ("topology", "link", "sources", "share"),
    [
        (STAR, ["s1", "aggregator"], ["h1", "h2", "h3", "h4"], 1.0),
        (STAR, ["h2", "s1"], ["h1", "h2", "h3", "h4"], 0.25),
        # Two of the three others are at the other leaf, over either spine.
        (LEAVES, ["leaf1", "spine1"], ["h1", "h2"], 1 / 3),
        (LEAVES, ["leaf1", "spine1"], ["h1", "h2", "h3", "h4"], 1 / 6),
        (LEAVES, ["spine2", "leaf2"], ["h1", "h2"], 1 / 3),
    ],
)
def test_the_gap_follows_from_a_link_s_load(
    tmp_path: Path, topology: dict[str, Any], link: list[str], sources: list[str], share: float
) -> None:
    size = {"kind": "fixed", "bytes": 10_000}
    traffic: dict[str, Any] = {"kind": "poisson", "size": size, "load": 0.4, "load_link": link, "sources": sources}
    if topology is LEAVES:
        traffic["destinations"] = ["h*"]
    (arrivals,) = json.loads(planned(tmp_path, scenario(topology=topology, traffic=traffic)).spec_json)["arrivals"]
    # 10 Gb/s, of which each source gives its part: 8 m n s / (C rho).
    assert arrivals["mean_gap_ns"] == pytest.approx(8 * 10_000 * len(sources) * share / (10 * 0.4))


def test_a_link_carries_the_load_that_was_asked_for(tmp_path: Path) -> None:
    size = {"kind": "fixed", "bytes": 15_000}
    traffic = {"kind": "poisson", "size": size, "load": 0.3, "load_link": ["leaf1", "spine2"], "total_flows": 6_000}
    traffic |= {"sources": ["h1", "h2"], "destinations": ["h*"]}
    ran = run(tmp_path, scenario(topology=LEAVES, traffic=traffic))
    flows = ran.table("flows")
    span_ns = max(flows["start_ns"].to_list())
    away = flows.filter(pl.col("dst").is_in(["h3", "h4"]))
    # Each of two equal paths is to carry 30 % of 10 Gb/s: of 4,000 flows, a deviation of 2 %.
    assert int(away["size_bytes"].sum()) * 8 / span_ns / 2 == pytest.approx(3.0, rel=0.06)


def test_foreground_and_background_are_apart(tmp_path: Path) -> None:
    traffic = [
        {"kind": "incast", "name": "foreground", "sru_bytes": 20_000, "start_ns": 1_000_000},
        {**LOOP, "name": "background"},
    ]
    ran = run(tmp_path, scenario(topology=STAR, traffic=traffic))
    flows, (found,) = ran.table("flows"), ran.runs
    for label, count in (("foreground", 4), ("background", 400)):
        of_label = flows.filter(pl.col("class") == label)
        assert found[f"{label}.completed"] == of_label.height == count
        assert found[f"{label}.fct_mean_ns"] == pytest.approx(int(of_label["fct_ns"].sum()) / count)
        assert found[f"{label}.fct_p99_ns"] <= of_label["fct_ns"].max()
    assert set(ran.table("traffic")["class"]) == {"foreground", "background"}


@pytest.mark.parametrize(
    ("traffic", "message"),
    [
        ({"kind": "closed_loop", "size": SIZES}, "give exactly one of total_flows and total_bytes"),
        ({**LOOP, "total_bytes": 9}, "give either total_flows or total_bytes"),
        ({**LOOP, "think_ns": 0, "think": "exponential"}, "exponential think times need a mean"),
        (
            {"kind": "poisson", "size": SIZES, "mean_gap_ns": 1e4, "load_link": ["s1", "h1"]},
            "load_link is the link that load refers to",
        ),
        (
            {"kind": "poisson", "size": SIZES, "load": 0.5, "load_link": ["s1", "h1"], "destinations": ["h1"]},
            "'h1' has no other host to send to",
        ),
    ],
)
def test_what_contradicts_itself_is_refused(tmp_path: Path, traffic: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        run(tmp_path, scenario(topology=STAR, traffic=traffic))


def test_threads_do_not_change_a_closed_loop(tmp_path: Path) -> None:
    traffic = {**LOOP, "sources": ["h1", "h2"], "destinations": ["h3", "h4"]}
    data = scenario(topology=LEAVES, traffic=traffic)
    one = run(tmp_path, data, use_cache=False).bytes()
    assert run(tmp_path, data, use_cache=False, threads=2).bytes() == one
