"""What hosts add: kernels that take time, bursts of segmentation offload, applications that limit themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from p4cc.errors import UserError
from tests.p4cc.scenarios import run, scenario

if TYPE_CHECKING:
    from pathlib import Path

STAR = {"kind": "star", "senders": 2, "rate_bps": 10_000_000_000, "rtt_ns": 20_000, "queue_capacity_pkts": 1_000}
ENDLESS = {
    "topology": STAR,
    "switch": {"ecn_profile": "rfc3168", "thresholds": {"k_rule": "fixed", "k_pkts": 65, "k_dc_pkts": 65}},
    "traffic": {"kind": "bulk"},
    "variants": [{"name": "DCTCP", "congestion_avoidance": {"name": "dctcp"}}],
    "stop_ns": 5_000_000,
}


def round_trips(folder: Path, **transport: int) -> pl.Series:
    """Round-trip times in us of two DCTCP connections that share a link."""
    record = {"windows_interval_ns": None, "queues_interval_ns": None, "rtts": True}
    given = {"recovery": "sack", "rwnd": 1_000, **transport}
    folder.mkdir()
    ran = run(folder, scenario(**ENDLESS, transport=given, record=record))
    return ran.table("rtts").filter(pl.col("time_ns") > 1_000_000)["rtt_ns"] / 1e3


def test_kernels_and_bursts_show_in_round_trip_times(tmp_path: Path) -> None:
    plain = round_trips(tmp_path / "plain")
    kernel = round_trips(tmp_path / "kernel", host_delay_exp_ns=50_000)
    bursts = round_trips(tmp_path / "bursts", tso_bytes=65_536)
    # The threshold of 65 packets is 78 us of queue; kernels add some 50 us at each end.
    assert 70 < float(plain.median()) < 120  # pyright: ignore[reportArgumentType]
    assert float(kernel.quantile(0.99)) > 2 * float(plain.quantile(0.99))  # pyright: ignore[reportArgumentType]
    assert float(bursts.std()) > 1.2 * float(plain.std())  # pyright: ignore[reportArgumentType]


def test_an_application_that_limits_itself_asks_at_a_constant_rate(tmp_path: Path) -> None:
    asks = {"kind": "rounds", "sru_bytes": 1_000, "rounds": 100, "mean_gap_ns": 20_000.0, "service_jitter_ns": 0}
    traffic = {**asks, "client": "h1", "servers": "aggregator", "gap": "constant"}
    ran = run(tmp_path, scenario(topology=STAR, traffic=traffic, stop_ns=5_000_000))
    starts = ran.table("rounds")["start_ns"].cast(pl.Int64)
    assert starts.to_list() == [20_000 * (number + 1) for number in range(100)]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"traffic": {"kind": "rounds", "sru_bytes": 5, "rounds": 2, "gap": "constant"}}, "give mean_gap_ns"),
        ({"transport": {"tso_bytes": 0}}, "transport.tso_bytes: .*greater than or equal to 1"),
        ({"transport": {"host_delay_exp_ns": -1}}, "transport.host_delay_exp_ns: .*greater than or equal to 0"),
    ],
)
def test_what_makes_no_sense_is_named(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        run(tmp_path, scenario(**{**ENDLESS, **changes}))
