"""Round-trip times, RPCs and measures of distributions: on made-up numbers, and from scenario to table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from pydantic import TypeAdapter

from p4cc.analysis import distributions
from p4cc.errors import UserError
from p4cc.reproduce import distributions as measures
from p4cc.scenario.claims import Measure
from tests.p4cc.scenarios import run, scenario

if TYPE_CHECKING:
    from pathlib import Path

    from p4cc.scenario.distribution_claims import (
        AfterPeakMeasure,
        CorrelationMeasure,
        KolmogorovMeasure,
        ReachMeasure,
        SampleMeasure,
        ShiftMeasure,
    )

TABLES = {
    "rtts": pl.DataFrame(
        {
            "variant": ["A"] * 8,
            "seed": [1] * 4 + [2] * 4,
            "flow_id": [1, 1, 2, 2] * 2,
            "time_ns": [0, 10, 0, 10] * 2,
            "rtt_ns": [10, 20, 30, 40, 10, 20, 30, 80],
            "marked": [0, 0, 1, 1, 0, 0, 1, 1],
        }
    ),
    # A depth of 0 for 30 ns, 1 for 10, 4 until the end, which is not known.
    "queues": pl.DataFrame(
        {
            "variant": ["A"] * 3,
            "seed": [1] * 3,
            "switch": ["s1"] * 3,
            "port": [1] * 3,
            "time_ns": [0, 30, 40],
            "depth_pkts": [0, 1, 4],
        }
    ),
    "windows": pl.DataFrame(
        {
            "variant": ["A"] * 4,
            "seed": [1] * 4,
            "flow_id": [1, 2, 1, 2],
            "time_ns": [0, 0, 2_000_000, 5_000_000],
            "rate_bps": [10.0, 2.0, 6.0, 8.0],
        }
    ),
}


def _measure(text: dict[str, Any]) -> Any:
    return TypeAdapter[Measure](Measure).validate_json(json.dumps(text))


def _sample(statistic: str, **more: Any) -> SampleMeasure:
    how = {"kind": "sample", "variant": "A", "table": "rtts", "column": "rtt_ns", "statistic": statistic}
    return _measure({**how, **more})


@pytest.mark.parametrize(
    ("how", "want"),
    [
        # The median over the seeds of 25 and 35, 40 and 80.
        (_sample("mean"), 30),
        (_sample("max"), 60),
        (_sample("count"), 4),
        (_sample("mean", scale=0.1, offset=1.0), 4),
        # Index int(n p) of the sorted values.
        (_sample("p50", where={"flow_id": 1}), 20),
        # By flow and seed the deviations are 5, 5 and 5, 25: means of 5 and 15.
        (_sample("std", each=["flow_id"]), 10),
    ],
)
def test_statistics_of_a_sample(how: SampleMeasure, want: float) -> None:
    assert measures.statistic(TABLES.__getitem__, how) == pytest.approx(want)


def test_a_column_that_is_not_there_is_named() -> None:
    with pytest.raises(UserError, match="no column 'rtt'"):
        measures.statistic(TABLES.__getitem__, _sample("mean", column="rtt"))


def test_the_distance_of_a_queue_counts_how_long_a_depth_held() -> None:
    how: KolmogorovMeasure = _measure(
        {
            "kind": "kolmogorov",
            "of": {"variant": "A", "table": "rtts", "column": "rtt_ns", "where": {"seed": 1, "flow_id": 1}},
            "to": {"variant": "A", "table": "queues", "column": "depth_pkts", "scale": 10, "offset": 10},
        }
    )
    # At 10 half of the samples and three quarters of the time; at 20 all of both.
    assert measures.distance(TABLES.__getitem__, how) == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("percentiles", "want"),
    # Times of 10 and 20; a depth of 0 stands for 10 in three quarters of the time, of 1 for 20 in the rest.
    [([10], 0), ([10, 60], 10), ([60, 90], 10), ([80], 0)],
)
def test_a_shift_is_the_largest_distance_of_equal_percentiles(percentiles: list[float], want: float) -> None:
    of = {"variant": "A", "table": "rtts", "column": "rtt_ns", "where": {"seed": 1, "flow_id": 1}}
    to = {"variant": "A", "table": "queues", "column": "depth_pkts", "scale": 10, "offset": 10}
    how: ShiftMeasure = _measure({"kind": "shift", "of": of, "to": to, "percentiles": percentiles})
    assert measures.shift(TABLES.__getitem__, how) == pytest.approx(want)


@pytest.mark.parametrize(("scale", "want"), [(10, 1), (5, 3)])
def test_a_shift_can_be_a_share_of_the_second_sample(scale: float, want: float) -> None:
    # At 60 % it is 20 in place of 10 or 5.
    of = {"variant": "A", "table": "rtts", "column": "rtt_ns", "where": {"seed": 1, "flow_id": 1}}
    to = {"variant": "A", "table": "queues", "column": "depth_pkts", "scale": scale, "offset": scale}
    how: ShiftMeasure = _measure({"kind": "shift", "of": of, "to": to, "percentiles": [10, 60], "relative": True})
    assert measures.shift(TABLES.__getitem__, how) == pytest.approx(want)


@pytest.mark.parametrize("percents", [[10, 60], [60, 10]])
def test_a_share_of_a_percentile_of_0_does_not_depend_on_the_order(percents: list[float]) -> None:
    ones = np.ones(2)
    none, some, both = (distributions.Sample(np.array(values), ones) for values in ([0.0, 2.0], [0.0, 1.0], [1.0, 2.0]))
    # Both are 0 at 10 %: no distance. At 60 % it is 1 of 1.
    assert distributions.largest_shift(none, some, percents, relative=True) == 1
    # 1 is no share of 0.
    assert np.isnan(distributions.largest_shift(both, some, percents, relative=True))


def test_a_shift_of_what_is_empty_is_no_number() -> None:
    ones = np.ones(3)
    assert np.isnan(
        distributions.largest_shift(distributions.Sample(ones, ones), distributions.Sample(ones[:0], ones[:0]), [50])
    )


@pytest.mark.parametrize(
    ("statistic", "want"),
    # 0 for 30 ns, 1 for 10: the last depth has no end and does not count.
    [("mean", 0.25), ("p50", 0), ("p75", 1), ("max", 1), ("std", 0.1875**0.5)],
)
def test_statistics_of_a_queue_count_how_long_a_depth_held(statistic: str, want: float) -> None:
    how = _measure(
        {"kind": "sample", "variant": "A", "table": "queues", "column": "depth_pkts", "statistic": statistic}
    )
    assert measures.statistic(TABLES.__getitem__, how) == pytest.approx(want)


@pytest.mark.parametrize(
    ("how", "want"),
    [
        ({"after_ns": 9}, 1.0),
        ({"after_ns": 10}, 0.4),
        ({"after_ns": 99}, 0.1),
        ({"share": 0.4}, 0.01),
        ({"share": 0.05}, None),
        ({"after_ns": 10, "drained_per_us": 250.0}, 0.75),
        ({"after_ns": 99, "drained_per_us": 250.0}, 0.0),
        ({"share": 0.5, "drained_per_us": 250.0}, 0.02),
    ],
)
def test_what_is_left_of_a_peak(how: dict[str, Any], want: float | None) -> None:
    queues = pl.DataFrame(
        {"variant": ["A"] * 4, "seed": [1] * 4, "time_ns": [0, 10, 20, 40], "depth_pkts": [0, 10, 4, 1]}
    )
    measure: AfterPeakMeasure = _measure(
        {"kind": "after_peak", "variant": "A", "table": "queues", "column": "depth_pkts", **how}
    )
    found = measures.after_peak({"queues": queues}.__getitem__, measure)
    assert found == (None if want is None else pytest.approx(want))


def test_distance_and_correlation_of_what_is_equal_and_what_is_not() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=500)
    ones = np.ones(500)
    sample = distributions.Sample(values, ones)
    assert distributions.kolmogorov(sample, distributions.Sample(values, 3 * ones)) == pytest.approx(0)
    assert distributions.kolmogorov(sample, distributions.Sample(values + 100, ones)) == pytest.approx(1)
    assert distributions.correlation(values, -2 * values) == pytest.approx(-1)
    assert abs(distributions.correlation(values, rng.normal(size=500))) < 0.15
    assert np.isnan(distributions.correlation(values, ones))


def test_correlation_of_two_columns() -> None:
    how: CorrelationMeasure = _measure(
        {"kind": "correlation", "variant": "A", "table": "rtts", "column": "rtt_ns", "with_column": "marked"}
    )
    first = np.corrcoef([10, 20, 30, 40], [0, 0, 1, 1])[0, 1]
    second = np.corrcoef([10, 20, 30, 80], [0, 0, 1, 1])[0, 1]
    assert measures.correlation(TABLES.__getitem__, how) == pytest.approx((first + second) / 2)


@pytest.mark.parametrize(
    ("level", "from_ns", "want"), [(6.0, 0, 0.0), (6.0, 1, 4.999999), (7.0, 1, 4.999999), (8.0, 0, None)]
)
def test_when_a_mean_over_flows_reaches_a_level(level: float, from_ns: int, want: float | None) -> None:
    """The mean is 6 at first, 4 from 2 ms on, 7 from 5 ms on."""
    how: ReachMeasure = _measure(
        {
            "kind": "reach",
            "variant": "A",
            "table": "windows",
            "column": "rate_bps",
            "level": level,
            "from_ns": from_ns,
        }
    )
    found = measures.reach(TABLES.__getitem__, how)
    assert found == (None if want is None else pytest.approx(want))


RDMA = {
    "topology": {
        "kind": "star",
        "senders": 4,
        "rate_bps": 10_000_000_000,
        "rtt_ns": 20_000,
        "queue_capacity_pkts": 10_000,
    },
    "switch": {
        "program": "p4src/v1model/ack_priority.p4",
        "ecn_profile": "rfc3168",
        "timestamp_unit": "ns",
        "buffer": {"bytes": 1 << 22},
    },
    "transport": {"kind": "rdma", "mss_bytes": 1_024, "segment_bytes": 16_384, "ack_every": 1_000},
    "variants": [{"name": "fixed", "rate_control": {"name": "fixed", "rate_mbps": 2_000}}],
}
"""Paced senders of 2 Gb/s: four of them do not fill the link."""


def test_round_trip_times_of_segments(tmp_path: Path) -> None:
    traffic = [
        {"kind": "bulk", "name": "stay", "sources": ["h1", "h2"], "priority": 3},
        {"kind": "bulk", "name": "leave", "sources": ["h3", "h4"], "close_ns": 1_000_000, "priority": 3},
    ]
    ran = run(
        tmp_path,
        scenario(
            **RDMA,
            traffic=traffic,
            stop_ns=3_000_000,
            record={"windows_interval_ns": None, "queues_interval_ns": None, "rtts": True},
            measure=[{"name": "late", "start_ns": 1_500_000, "end_ns": 3_000_000}],
        ),
    )
    (row,) = ran.runs
    rtts = ran.table("rtts")
    # Two connections of 2 Gb/s are left: 2 * 1024/1088 of it is payload, a segment more or less of 21 each.
    assert row["goodput_bps_late"] == pytest.approx(4e9 * 1_024 / 1_088, rel=1 / 21)
    assert set(rtts["class"]) == {"stay", "leave"}
    last = rtts.filter(pl.col("class") == "leave")["time_ns"].max()
    assert isinstance(last, int)
    assert 990_000 < last < 1_100_000
    # 20 us, the last packet through the switch and the ACK on two links; bursts of four senders may meet.
    assert 20_900 < row["rtt_p50_ns_late"] < 40_000
    flows = ran.table("flows").filter(pl.col("class") == "leave")
    assert all(1_000_000 <= finish < 1_100_000 for finish in flows["finish_ns"])


def test_rpcs_in_a_closed_and_an_open_loop(tmp_path: Path) -> None:
    hosts = {"clients": ["h1", "h2", "h3", "h4"], "shifts": [1, 2], "priority": 3}
    closed = {"kind": "rpc", "name": "closed", "rpcs": 5, **hosts}
    opened = {"kind": "rpc", "name": "open", "load": 0.1, **hosts}
    ran = run(tmp_path, scenario(**RDMA, traffic=[closed, opened], stop_ns=30_000_000))
    (row,) = ran.runs
    rounds = ran.table("rounds")
    count = rounds.group_by("label").len()
    found = dict(zip(count["label"].to_list(), count["len"].to_list(), strict=True))
    assert found["closed"] == 4 * 2 * 5
    # Of each client 10 % of 10 Gb/s in requests of 64 KiB: 1907 a second, in 30 ms from four clients 229.
    assert abs(found["open"] - 229) < 5 * 229**0.5
    # Of a request and its answer of 64 KiB three of four
    # segments are followed by a gap of the pace of 2 Gb/s.
    whole = rounds.filter(pl.col("label") == "closed")["latency_ns"].to_list()
    assert all(latency > 2 * (0.75 * 65_536 * 8 / 2) for latency in whole)
    assert row["latency_p50_ns"] > 400_000


@pytest.mark.parametrize(
    ("traffic", "message"),
    [
        ({"kind": "rpc", "clients": ["h1", "h2"], "shifts": [2]}, "'h1' would send requests to itself"),
        ({"kind": "rpc", "clients": ["h1", "h2"], "servers": ["h3"]}, "1 servers for 2 clients"),
        ({"kind": "rpc", "load": 0.1, "mean_gap_ns": 5.5}, "give either load or mean_gap_ns"),
        ({"kind": "bulk", "size_bytes": 5, "close_ns": 10}, "close_ns requires flows without size_bytes"),
    ],
)
def test_what_makes_no_sense_is_named(tmp_path: Path, traffic: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        run(tmp_path, scenario(**RDMA, traffic=traffic))
