"""Closed loops whose flows end in other ways, or run next to each other (docs/algorithms/traffic.md#closed-loop)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl

from tests.p4cc.scenarios import run, scenario

if TYPE_CHECKING:
    from pathlib import Path

SIZES = {"kind": "uniform", "min_bytes": 2_000, "max_bytes": 30_000}
LOOP = {"kind": "closed_loop", "size": SIZES, "outstanding": 3, "think_ns": 40_000, "total_flows": 200}
FABRIC = {"kind": "rdma", "mss_bytes": 1_000, "rto_ns": 2_000_000}


def thought_ns(flows: pl.DataFrame, outstanding: int) -> set[int]:
    """Times between the end of a flow and the start that it allows, of one source's flows."""
    starts, ends = sorted(flows["start_ns"]), sorted(flows["finish_ns"])
    return {start - end for start, end in zip(starts[outstanding:], ends, strict=False)}


def test_loops_next_to_each_other_are_apart(tmp_path: Path) -> None:
    one = {**LOOP, "name": "one", "sources": ["h1", "h2"]}
    other = {**LOOP, "name": "other", "sources": ["h2", "h3", "h4"], "think_ns": 70_000, "total_flows": 120}
    flows = run(tmp_path, scenario(traffic=[one, other])).table("flows")
    found = {
        (label, source): (group.height, thought_ns(group, 3))
        for (label, source), group in flows.group_by("class", "src")
    }
    assert found == {
        **{("one", source): (100, {40_000}) for source in ("h1", "h2")},
        **{("other", source): (40, {70_000}) for source in ("h2", "h3", "h4")},
    }


def test_a_loop_of_reads_goes_on_where_the_data_arrive(tmp_path: Path) -> None:
    rates: dict[str, Any] = {
        "transport": {**FABRIC, "segment_bytes": 16_000, "reads": True},
        "variants": [{"name": "TIMELY", "rate_control": {"name": "timely", "r_min_mbps": 10, "start_share": 0.2}}],
        "switch": {"program": "p4src/v1model/ack_priority.p4", "ecn_profile": "rfc3168", "timestamp_unit": "ns"},
    }
    flows = run(tmp_path, scenario(traffic=LOOP, **rates)).table("flows")
    found = {source: (group.height, thought_ns(group, 3)) for (source,), group in flows.group_by("src")}
    assert found == {f"h{number}": (50, {40_000}) for number in range(1, 5)}


def test_a_flow_that_its_sender_gives_up_lets_the_next_one_start(tmp_path: Path) -> None:
    loop = {**LOOP, "outstanding": 1, "deadline": {"offset_ns": 150_000, "exp_mean_ns": 100_000}}
    d3: dict[str, Any] = {
        "transport": FABRIC,
        "variants": [{"name": "D3", "rate_control": {"name": "d3", "quench": "on"}}],
        "switch": {"program": "p4src/v1model/d3.p4", "timestamp_unit": "ns", "d3": {"epoch_ns": 100_000_000}},
    }
    flows = run(tmp_path, scenario(traffic=loop, **d3)).table("flows")
    assert flows.height == 200
    assert flows["start_ns"].null_count() == 0
    given_up = 0
    for _, group in flows.group_by("src"):
        rows = group.sort("start_ns").to_dicts()
        assert len(rows) == 50
        for row, following in pairwise(rows):
            if row["quenched"]:
                given_up += 1
                assert row["finish_ns"] is None
                assert following["start_ns"] > row["start_ns"] + 40_000
            else:
                assert following["start_ns"] == row["finish_ns"] + 40_000
    assert 0 < given_up < 196
