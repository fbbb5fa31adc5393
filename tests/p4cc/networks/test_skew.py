"""Uniform and skewed traffic through the whole path: traces of the same bytes, pods, utilisation, claims, figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pydantic import TypeAdapter

from p4cc.errors import UserError
from p4cc.reproduce.measure import FigureRuns, Measured, measure
from p4cc.scenario.claims import Measure
from p4cc.scenario.load import validate
from p4cc.scenario.yaml import read_document
from tests.p4cc.scenarios import Ran, run, skewed

FIGURES: list[dict[str, Any]] = [
    {"kind": "pod_matrix", "file": "matrix.png", "column": "bytes", "over": "pattern"},
    {"kind": "paired_fct", "file": "paired.png", "variant": "HPCC", "over": "pattern", "of": "skewed", "to": "uniform"},
    {"kind": "pod_pair", "file": "pair.png", "src_pod": 0, "dst_pod": 1, "over": "pattern"},
    {"kind": "by_size", "file": "by_size.png", "over": "pattern", "bins": 5},
    {"kind": "depths", "file": "depths.png"},
]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Two senders, two patterns, two seeds."""
    record = {"windows_interval_ns": None, "queues_interval_ns": None, "queue_histogram_interval_ns": 1_000}
    return run(tmp_path_factory.mktemp("skew"), skewed(record=record, figures=FIGURES), figures=True)


def _runs(ran: Ran) -> dict[tuple[str, str, int], dict[str, Any]]:
    return {(one["variant"], one["pattern"], one["seed"]): one for one in ran.runs}


def test_every_sender_meets_the_same_two_traces_of_the_same_bytes(ran: Ran) -> None:
    flows = ran.table("flows")
    what = ["src", "dst", "size_bytes", "start_ns"]
    for seed in (1, 2):
        traces = {
            (variant, pattern): flows.filter(
                (pl.col("variant") == variant) & (pl.col("pattern") == pattern) & (pl.col("seed") == seed)
            ).select(what)
            for variant in ("HPCC", "DCQCN")
            for pattern in ("uniform", "skewed")
        }
        assert traces["HPCC", "skewed"].equals(traces["DCQCN", "skewed"])
        sums = [int(traces["HPCC", pattern]["size_bytes"].sum()) for pattern in ("uniform", "skewed")]
        assert abs(sums[1] / sums[0] - 1) <= 0.05
        # The pairs that talk are as many as hosts at most; everybody talks to everybody in the other trace.
        pairs = [traces["HPCC", pattern].select("src", "dst").unique().height for pattern in ("uniform", "skewed")]
        assert pairs[1] <= 8 < pairs[0]
    assert all(one["outcome"] == "finished" for one in ran.runs)


def test_what_stands_in_the_summary_follows_from_the_tables(ran: Ran) -> None:
    flows, cells, links = ran.table("flows"), ran.table("pod_pairs"), ran.table("links")
    for (variant, pattern, seed), one in _runs(ran).items():
        mine = (pl.col("variant") == variant) & (pl.col("pattern") == pattern) & (pl.col("seed") == seed)
        assert one["offered_bytes"] == flows.filter(mine)["size_bytes"].sum() == cells.filter(mine)["bytes"].sum()
        uplinks = links.filter(mine & pl.col("link").str.starts_with("h"))
        assert uplinks.height == 8
        carried = int(uplinks["bytes"].sum())
        assert one["u1_run"] == pytest.approx(8e9 * carried / (8 * 100e9 * one["end_ns"]))
        # Payload with 64 B or more before each 1000 B, and ACKs.
        assert 1.06 < carried / one["offered_bytes"] < 1.25
        # No run ends before its busiest link could.
        assert one["finish_ns"] >= one["busiest_drain_ns"]
        # Uplinks carry little more than the load while flows start.
        assert 0 < one["u1_generation"] < 0.5


def test_figures_are_drawn(ran: Ran) -> None:
    for figure in FIGURES:
        assert (ran.outcome.folder / figure["file"]).read_bytes().startswith(b"\x89PNG")


def _measure(ran: Ran, how: dict[str, Any]) -> Measured:
    document = read_document(ran.outcome.folder.parent / "scenario.yaml")
    frame = pl.DataFrame(ran.runs, infer_schema_length=None)
    runs = FigureRuns(validate(document, document.plain()), frame, ["pattern"], ran.outcome.folder)
    return measure(runs, TypeAdapter[Measure](Measure).validate_json(json.dumps(how)), {})


def test_claims_are_measured_on_flows_and_pods(ran: Ran) -> None:
    where = {"pattern": "skewed"}
    hpcc: dict[str, Any] = {"variant": "HPCC", "where": where}
    flows = ran.table("flows").filter((pl.col("variant") == "HPCC") & (pl.col("pattern") == "skewed"))
    worst = flows.group_by("seed").agg(pl.col("slowdown").max())["slowdown"].median()
    assert _measure(ran, {"kind": "flow_percentile", "percent": 100, **hpcc}).value == worst
    none = {"kind": "flow_percentile", "percent": 50, "min_bytes": 100_000, **hpcc}
    assert _measure(ran, none).value is None
    ranks = [
        _measure(ran, {"kind": "flow_rank", "variant": name, "among": ["HPCC", "DCQCN"], "where": where}).value
        for name in ("HPCC", "DCQCN")
    ]
    assert sorted(ranks, key=str) in ([1.0, 2.0], [1.0, 1.0])
    same = {"kind": "paired_fct", "variant": "HPCC", "part": 3, "over": "pattern", "of": "skewed", "to": "skewed"}
    assert _measure(ran, same).value == 1.0
    cells = {give: _measure(ran, {"kind": "pod_cells", "give": give, **hpcc}).value for give in ("min", "max", "ratio")}
    assert all(isinstance(value, float) for value in cells.values())
    assert (cells["max"] or 0) >= (cells["min"] or 0) > 0
    pods = ran.table("pod_pairs").filter((pl.col("variant") == "HPCC") & (pl.col("pattern") == "skewed"))
    inside = pl.col("src_pod") == pl.col("dst_pod")
    for part, chosen in (("inside", inside), ("between", ~inside)):
        # A p95 needs 20 flows.
        used = pods.filter(chosen & pl.col("is_full") & (pl.col("flows_completed") >= 20))
        least = used.group_by("seed").agg(pl.col("slowdown_p95").min())["slowdown_p95"].median()
        assert _measure(ran, {"kind": "pod_cells", "give": "min", "cells": part, **hpcc}).value == least is not None
    pair = {"kind": "pod_pair", "src_pod": 0, "dst_pod": 1, "column": "bytes", **hpcc}
    assert (_measure(ran, pair).value or 0) >= 0
    assert _measure(ran, {"kind": "outcome", **hpcc}).value == 1.0
    cell = {"kind": "largest_flow", "src_pod": 0, "dst_pod": 1, **hpcc}
    of = {give: _measure(ran, {**cell, "give": give}).value for give in ("flows", "largest_bytes", "p95")}
    between = flows.filter((pl.col("src_pod") == 0) & (pl.col("dst_pod") == 1))
    largest = between.group_by("seed").agg(pl.col("size_bytes").max())["size_bytes"].median()
    assert of["largest_bytes"] == largest
    assert of["flows"] == between.group_by("seed").len()["len"].median()
    decided = [_measure(ran, {"kind": "decided_cells", "at_least": factor, **hpcc}).value for factor in (1, 1e9)]
    assert decided == [4.0, 0.0]
    with pytest.raises(UserError, match="no pods 0 and 9"):
        _measure(ran, {**pair, "dst_pod": 9})


def test_a_matrix_from_a_file_is_what_is_sent(tmp_path: Path) -> None:
    (tmp_path / "pairs.txt").write_text("h1 h5 1\nh2 h6 3 small.cdf\n", encoding="utf-8")
    (tmp_path / "small.cdf").write_text("100 0\n200 100\n", encoding="utf-8")
    data = skewed(sweep={}, seeds=[1])
    data["traffic"]["pattern"] = "skewed"
    data["traffic"]["matrix"] = {"kind": "file", "file": "pairs.txt", "size": {"kind": "fixed", "bytes": 20_000}}
    flows = run(tmp_path, data).table("flows").filter(pl.col("variant") == "HPCC")
    ends = set(flows.select("src", "dst").unique().iter_rows())
    assert ends == {("h1", "h5"), ("h2", "h6")}
    assert flows.filter(pl.col("src") == "h1")["size_bytes"].unique().to_list() == [20_000]
    small = flows.filter(pl.col("src") == "h2")["size_bytes"]
    assert small.is_between(100, 200).all()


def test_bursts_come_beside_other_traffic(tmp_path: Path) -> None:
    data = skewed(sweep={}, seeds=[1])
    item = {"kind": "bursts", "senders": 5, "sru_bytes": 4_000, "load": 0.02, "end_ns": 200_000, "priority": 3}
    data["traffic"] = [data["traffic"], item]
    ran = run(tmp_path, data)
    bursts = ran.table("flows").filter((pl.col("variant") == "HPCC") & (pl.col("class") == "bursts"))
    # 2 % of 800 Gb/s for 200 us are 400 kB: 20 bursts of 20 kB, with a standard deviation of 4.5.
    assert bursts.height % 5 == 0
    assert 5 <= bursts.height // 5 <= 40
    assert all(
        group["dst"].n_unique() == 1 and group["src"].n_unique() == 5 for _, group in bursts.group_by("start_ns")
    )
    data["traffic"][1]["senders"] = 8
    with pytest.raises(UserError, match="8 senders and a receiver exceed the 8 hosts"):
        run(tmp_path, data)
