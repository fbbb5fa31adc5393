"""Lossless fabrics through the whole path: controller, P4 programs, pauses, RDMA-like flows, results."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from p4cc.errors import UserError
from tests.p4cc.scenarios import ROOT, Ran, run, scenario

if TYPE_CHECKING:
    from pathlib import Path

TIMELY = {"name": "TIMELY", "program": "p4src/v1model/ack_priority.p4", "rate_control": {"name": "timely"}}
HPCC = {"name": "HPCC", "program": "p4src/v1model/int_hpcc.p4", "rate_control": {"name": "hpcc"}}
DCQCN = {"name": "DCQCN", "rate_control": {"name": "dcqcn"}}


def fabric(**changes: Any) -> dict[str, Any]:
    """An incast of seven at 100 Gb/s on a lossless switch; `changes` replace whole sections."""
    topology = {"kind": "star", "senders": 7, "rate_bps": 100_000_000_000, "rtt_ns": 4_000}
    return scenario(
        **{
            "topology": {**topology, "queue_capacity_pkts": 100_000},
            "switch": {
                "program": "p4src/v1model/ecn_red.p4",
                "ecn_profile": "rfc3168",
                "timestamp_unit": "ns",
                "qdepth_unit": "cells_80B",
                "buffer": {"bytes": 1 << 21},
            },
            "traffic": {"kind": "incast", "sru_bytes": 500_000, "priority": 3},
            "transport": {"kind": "rdma"},
            "variants": [HPCC, DCQCN, TIMELY],
            "record": {"windows_interval_ns": 2_000, "queues_interval_ns": 500},
            **changes,
        }
    )


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """One run of three variants on three programs."""
    return run(tmp_path_factory.mktemp("fabric"), fabric(), use_cache=False)


def by_variant(ran: Ran) -> dict[str, dict[str, Any]]:
    """Summaries by variant."""
    return {row["variant"]: row for row in ran.runs}


def test_every_variant_finishes_without_a_loss(ran: Ran) -> None:
    rows = by_variant(ran)
    assert list(rows) == ["HPCC", "DCQCN", "TIMELY"]
    for row in rows.values():
        assert (row["flows_completed"], row["drops"], row["deadlocks"], row["timeouts"]) == (7, 0, 0, 0)
    # 3.5 MB of payload in packets of 1064 B cannot take less than 298 us.
    assert all(row["finish_ns"] > 298_000 for row in rows.values())


def test_only_senders_that_react_late_are_paused(ran: Ran) -> None:
    rows = by_variant(ran)
    pauses = ran.table("pauses")
    assert rows["HPCC"]["pauses"] == 0
    assert rows["TIMELY"]["pauses"] > 0
    assert set(pauses["priority"].to_list()) == {3}
    of_timely = pauses.filter(pl.col("variant") == "TIMELY")
    assert of_timely["pauses_sent"].sum() == rows["TIMELY"]["pauses"]
    assert of_timely["paused_ns"].sum() == rows["TIMELY"]["paused_ns"] > 0


def test_reserved_telemetry_steers_and_costs_the_same_at_every_hop(tmp_path: Path) -> None:
    """docs/algorithms/int.md#hpcc-int, `hs_fixed`: 42 B more in each data packet, from the sender on."""
    fixed = {**HPCC, "program": "p4src/v1model/int_fixed.p4", "transport": {"int_room": "hs_fixed"}}
    ran = run(tmp_path, fabric(variants=[fixed]))
    (row,) = ran.runs
    assert (row["flows_completed"], row["drops"], row["pauses"]) == (7, 0, 0)
    down = ran.table("ports").filter(pl.col("port") == 8)
    assert down["tx_bytes"].item() == down["tx_pkts"].item() * (14 + 64 + 42 + 1_000)


def test_red_marks_and_telemetry_steers(ran: Ran) -> None:
    rows = by_variant(ran)
    assert rows["DCQCN"]["marks_level2"] > 0
    assert rows["HPCC"]["marks_level2"] == rows["TIMELY"]["marks_level2"] == 0
    rates = ran.table("windows").filter(pl.col("variant") == "HPCC").filter(pl.col("time_ns") > 100_000)
    # Seven flows share 95 % of 100 Gb/s.
    shares = rates.filter(pl.col("time_ns") < 250_000)["rate_bps"]
    assert shares.median() == pytest.approx(0.95e11 / 7, rel=0.15)


def test_the_same_seed_gives_the_same_bytes(ran: Ran, tmp_path: Path) -> None:
    again = run(tmp_path, fabric(), use_cache=False)
    assert again.bytes() == ran.bytes()


def test_acks_share_the_queue_of_data_where_the_transport_says_so(tmp_path: Path) -> None:
    variants = [{**TIMELY, "transport": {"ack_class": 3}}, {**TIMELY, "name": "own queue"}]
    ran = run(tmp_path, fabric(variants=variants), use_cache=False)
    queues = ran.table("port_queues").filter(pl.col("enqueued_pkts") > 0)
    used = set(queues.select("variant", "priority").iter_rows())
    assert used == {("TIMELY", 3), ("own queue", 3), ("own queue", 7)}


def test_dctcp_runs_on_paced_packets_with_one_threshold(tmp_path: Path) -> None:
    # Seven windows of one BDP wait with 300 kB behind them; a curve as steep as it gets marks above 60 kB.
    red = {"k_min_bytes": 60_000, "k_max_bytes": 60_080, "p_max": 1.0, "scale_with_rate": False}
    switch = {**fabric()["switch"], "red": red}
    variants = [{"name": "DCTCP", "rate_control": {"name": "dctcp_rate"}}]
    ran = run(tmp_path, fabric(switch=switch, variants=variants), use_cache=False)
    (row,) = ran.runs
    assert (row["flows_completed"], row["drops"], row["pauses"]) == (7, 0, 0)
    assert row["marks_level2"] > 0
    # Cut to what the link carries, and no lower than its share.
    rates = ran.table("windows").filter((pl.col("time_ns") > 100_000) & (pl.col("time_ns") < 250_000))["rate_bps"]
    assert 0.3e11 / 7 < fmean(rates.to_list()) < 2e11 / 7


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"variants": [{"name": "x"}]}, "give either congestion_avoidance, or rate_control"),
        ({"variants": [{"name": "x", "congestion_avoidance": {"name": "reno"}}]}, "transport is for paced senders"),
        (
            {"variants": [{"name": "x", "rate_control": {"name": "hpc"}}]},
            'did you mean "hpcc"?',
        ),
        ({"transport": {"kind": "rdma", "recovery": "sack"}}, "'go_back_n', 'go_back_0' or 'selective_repeat'"),
        ({"transport": {"kind": "rdma", "mss_bytes": 0}}, "transport.mss_bytes"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message.replace("?", r"\?")):
        run(tmp_path, fabric(**changes))


def test_the_experiment_is_a_valid_scenario() -> None:
    from p4cc.scenario.load import validate
    from p4cc.scenario.yaml import read_document

    document = read_document(ROOT / "experiments/hpcc/incast.yaml")
    assert [variant.name for variant in validate(document, document.plain()).variants][:2] == ["HPCC", "DCQCN"]


def test_a_variant_has_a_class_and_codepoints_of_its_own(tmp_path: Path) -> None:
    """Senders that live by losses go beside paced ones through the same switches, in a class that does not pause."""
    windows = {"name": "GST", "congestion_avoidance": {"name": "dctcp"}, "slow_start": {"name": "gst"}}
    thresholds = {"k_rule": "fixed", "k_pkts": 10, "k_dc_pkts": 30}
    own = {"program": "p4src/v1model/ecn_dual.p4", "ecn_profile": "gst", "priority": 0, "thresholds": thresholds}
    changes: dict[str, Any] = {"transport": {"rwnd": 1_000}, "paced": {"kind": "rdma"}}
    ran = run(tmp_path, fabric(**changes, variants=[TIMELY, windows | own]), use_cache=False)
    queues = ran.table("port_queues").filter(pl.col("enqueued_pkts") > 0)
    used = set(queues.select("variant", "priority").iter_rows())
    assert used == {("TIMELY", 3), ("TIMELY", 7), ("GST", 0)}
    assert by_variant(ran)["GST"]["marks_level1"] > 0, "the lower threshold marks with its own codepoints alone"


def test_codepoints_of_a_variant_that_do_not_fit_are_named_there(tmp_path: Path) -> None:
    windows = {"name": "GST", "congestion_avoidance": {"name": "dctcp"}, "slow_start": {"name": "gst"}}
    with pytest.raises(UserError, match=r"\$\.variants\[0\]\.ecn_profile"):
        run(tmp_path, scenario(variants=[windows | {"ecn_profile": "rfc3168"}]))
