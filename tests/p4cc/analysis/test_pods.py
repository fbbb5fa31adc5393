"""Figures by pod, of links and of ranks, worked out by hand on made-up tables."""

from __future__ import annotations

import math

import polars as pl
import pytest

from p4cc.analysis.cells import without_largest
from p4cc.analysis.links import depths, outcome, utilisation, with_paused_share
from p4cc.analysis.paired import parts, ratio_of_medians
from p4cc.analysis.pods import busiest_drain_ns, gini, pod_pairs, skew, with_pods
from p4cc.scenario.figures import Window

PODS = (("a1", "a2"), ("b1", "b2"), ("c1",))


def _flows(*rows: tuple[str, str, int, int | None]) -> pl.DataFrame:
    """Source, destination, bytes, completion time; the slowdown is a hundredth of the time."""
    frame = pl.DataFrame(rows, schema=["src", "dst", "size_bytes", "fct_ns"], orient="row")
    slowdown = pl.col("fct_ns") / 100
    return with_pods(frame.with_columns(slowdown=slowdown, slowdown_rate_only=2 * slowdown), PODS)


def test_cells_hold_bytes_shares_and_percentiles_of_complete_flows() -> None:
    flows = _flows(
        ("a1", "b1", 300, 100),
        ("a2", "b2", 100, 300),
        ("a1", "b1", 100, None),
        ("a1", "c1", 500, 700),
        ("a1", "a2", 9, 5),
    )
    cells = pod_pairs(flows, PODS)
    assert cells.height == 9
    cell = cells.row(by_predicate=(pl.col("src_pod") == 0) & (pl.col("dst_pod") == 1), named=True)
    # What leaves pod 0 is 1000 B; half goes to pod 1. int(2 * 0.5) is the second of two times.
    assert (cell["flows"], cell["flows_completed"], cell["bytes"], cell["uplink_share"]) == (3, 2, 500, 0.5)
    assert (cell["fct_p50_ns"], cell["slowdown_p95"], cell["slowdown_rate_only_p50"]) == (300.0, 3.0, 6.0)
    empty = cells.row(by_predicate=(pl.col("src_pod") == 1) & (pl.col("dst_pod") == 0), named=True)
    assert (empty["flows"], empty["fct_p95_ns"], empty["is_full"]) == (0, None, True)
    assert cells.filter(pl.col("is_full")).height == 4
    assert cells.filter((pl.col("src_pod") == 0) & (pl.col("dst_pod") == 0))["uplink_share"].to_list() == [None]


def test_skew_is_over_pairs_that_carry_anything_and_cells_of_full_pods() -> None:
    flows = _flows(("a1", "b1", 900, 1), ("b1", "a1", 50, 1), ("b1", "a2", 40, 1), ("b2", "c1", 10, 1))
    found = skew(flows, pod_pairs(flows, PODS))
    assert (found["offered_bytes"], found["active_pairs"]) == (1_000, 4)
    # A tenth of four pairs is one pair, rounded up.
    assert found["top_pairs_share"] == 0.9
    # Ranks 1 to 4 of 10, 40, 50, 900: 2 * (10 + 80 + 150 + 3600) / 4000 - 5/4.
    assert found["gini_pair_bytes"] == pytest.approx(0.67)
    assert (found["empty_pod_pairs"], found["empty_pod_share"]) == (2, 0.5)
    assert busiest_drain_ns(flows, dict.fromkeys(("a1", "a2", "b1", "b2", "c1"), 1_000_000_000)) == 7_200.0


def test_shares_of_nothing_are_none() -> None:
    flows = _flows(("a1", "b1", 900, 1)).clear()
    found = skew(flows, pod_pairs(flows, PODS))
    assert (found["offered_bytes"], found["gini_pair_bytes"], found["top_pairs_share"]) == (0, None, None)


def test_gini_has_its_ends() -> None:
    assert (gini([]), gini([0, 0]), gini([5, 5, 5, 5])) == (0.0, 0.0, 0.0)
    assert gini([0] * 99 + [7]) == pytest.approx(0.99)


def test_utilisation_is_of_uplinks_and_of_what_switches_send() -> None:
    names = ["h1:0->s:1", "s:1->h1:0", "h2:0->s:2", "s:2->h2:0"]
    links = pl.DataFrame({"link": names, "rate_bps": [8_000_000_000] * 4, "bytes": [2_000, 400, 0, 600]})
    at = pl.DataFrame({"time_ns": [1_000] * 4, "link": names, "bytes": [500, 100, 300, 0]})
    windows = [Window(name="first", end_ns=1_000), Window(name="late", end_ns=9_000)]
    found = utilisation(links, at, {"h1", "h2"}, windows, 4_000)
    # 8 Gb/s are a byte a nanosecond.
    assert (found["u1_first"], found["u2_first"]) == (0.4, 0.05)
    assert (found["u1_run"], found["u2_run"]) == (0.25, 0.125)
    assert math.isnan(found["u1_late"])
    assert math.isnan(found["u2_late"])


def test_depths_have_the_mean_of_bytes_and_percentiles_of_bins() -> None:
    histogram = pl.DataFrame(
        {"depth_bytes": [0, 3_000, 9_000], "samples": [60, 39, 1], "sum_bytes": [0, 130_000, 9_500]}
    )
    assert depths(histogram) == {"queue_mean_bytes": 1_395.0, "queue_p50_bytes": 0.0, "queue_p99_bytes": 9_000.0}
    assert depths(histogram.clear()) == {}


def test_shares_of_time_paused_and_outcomes() -> None:
    pauses = with_paused_share(pl.DataFrame({"paused_ns": [250, 0]}), 1_000)
    assert pauses["paused_share"].to_list() == [0.25, 0.0]
    run = {"flows_completed": 3, "flows_finite": 4, "deadlocks": 0, "stalled_ns": None}
    assert outcome(run) == "not finished"
    assert outcome({**run, "stalled_ns": 5}) == "stalled"
    assert outcome({**run, "deadlocks": 1, "stalled_ns": 5}) == "deadlock"
    assert outcome({**run, "flows_completed": 4}) == "finished"


def test_paired_times_are_cut_at_the_ranks() -> None:
    hundred = pl.Series([*range(99, -1, -1), None, None])
    assert [part.size for part in parts(hundred)] == [20, 20, 20, 20, 15, 5]
    doubled = pl.Series([2 * one for one in range(50)])
    assert ratio_of_medians(hundred, doubled, 6) == pytest.approx(97 / 96)
    assert ratio_of_medians(pl.Series([-1]), doubled, 1) is None


def test_a_cell_is_looked_at_with_and_without_its_largest_flow() -> None:
    """Twenty flows: the value at index int(20 * 0.95) is the largest; of nineteen it is that at index 18."""
    small = [("a1", "b1", 10 + place, 100 + place) for place in range(19)]
    flows = _flows(("a2", "b2", 5_000, 90_000), *small, ("b1", "a1", 7, 70), ("b1", "c1", 7, None))
    rows = without_largest(flows.with_columns(start_ns=pl.lit(0)), "fct_ns")
    assert rows.rows() == [
        (0, 1, 20, 5_000 + sum(range(10, 29)), 5_000, 90_000.0, 118.0, 90_000 / 118),
        (1, 0, 1, 7, 7, 70.0, None, None),
    ]
