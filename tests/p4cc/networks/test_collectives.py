"""Collectives end to end (docs/algorithms/traffic.md#collectives): alpha-beta arithmetic, groups, what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from p4cc.errors import UserError
from tests.p4cc.scenarios import run, scenario

if TYPE_CHECKING:
    from pathlib import Path

RATE_BPS = 10_000_000_000
HOSTS = ["h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8"]
STAR = {"kind": "star", "senders": 8, "queue_capacity_pkts": 400}
DCQCN = [{"name": "DCQCN", "rate_control": {"name": "dcqcn"}}]


def job(tmp_path: Path, **item: Any) -> Any:
    traffic = {"kind": "collective", "operation": "all_reduce", "ranks": HOSTS, "size_bytes": 8_000_000, **item}
    tmp_path.mkdir(exist_ok=True)
    senders = {"variants": DCQCN, "transport": {"kind": "rdma"}}
    return run(tmp_path, scenario(topology=STAR, traffic=traffic, stop_ns=2_000_000_000, **senders))


def completion_ns(tmp_path: Path, **item: Any) -> int:
    return job(tmp_path, **item).table("collectives")["completion_ns"].item()


@pytest.mark.parametrize(
    ("schedule", "operation", "steps", "share"),
    [
        ("ring", "all_reduce", 14, 14 / 8),
        ("ring", "all_gather", 7, 7 / 8),
        ("ring", "reduce_scatter", 7, 7 / 8),
        ("halving_doubling", "all_reduce", 6, 14 / 8),
        ("halving_doubling", "all_gather", 3, 7 / 8),
    ],
)
def test_an_uncongested_network_gives_alpha_and_beta(
    tmp_path: Path, schedule: str, operation: str, steps: int, share: float
) -> None:
    # A link carries a rank's data packets, of 1,000 B of payload, and its ACKs: 64 B of headers each.
    payload_bps = RATE_BPS * 1_000 / (1_000 + 64 + 64)
    # A step of nearly nothing crosses two links of 25 us, each with a packet of 65 B.
    alpha_ns = 2 * (25_000 + 65 * 8 * 1e9 / RATE_BPS)
    given = {"schedule": schedule, "operation": operation}
    small, large = (completion_ns(tmp_path / str(size), size_bytes=size, **given) for size in (8, 8_000_000))
    assert small == pytest.approx(steps * alpha_ns, rel=0.01)
    assert large == pytest.approx(steps * alpha_ns + share * 8_000_000 * 8e9 / payload_bps, rel=0.01)


def test_bandwidths_are_those_of_nccls_tests(tmp_path: Path) -> None:
    row = job(tmp_path).table("collectives").row(0, named=True)
    assert row["algorithm_bps"] == pytest.approx(8e9 * 8_000_000 / row["completion_ns"])
    assert row["bus_bps"] == pytest.approx(row["algorithm_bps"] * 14 / 8)
    assert row["straggler"] in HOSTS


@pytest.mark.parametrize("variant", ["DCQCN", "Reno"])
def test_pieces_wait_for_what_they_need(tmp_path: Path, variant: str) -> None:
    traffic = {
        "kind": "collective", "operation": "all_to_all", "ranks": HOSTS, "group_size": 4, "group_stride": 2,
        "size_bytes": 40_000, "iterations": 3, "compute_ns": 70_000, "window": 2,
    }  # fmt: skip
    senders = {"variants": DCQCN, "transport": {"kind": "rdma"}} if variant == "DCQCN" else {}
    runs = [
        run(tmp_path, scenario(topology=STAR, traffic=traffic, **senders), use_cache=False, threads=threads)
        .table("collective_steps")
        for threads in (1, 2)
    ]  # fmt: skip
    assert runs[0].equals(runs[1])
    rows = runs[0].with_columns(pl.col("sent_ns", "received_ns").cast(pl.Int64))
    assert set(rows["job"]) == {"collective/0", "collective/1"}
    assert set(rows.filter(pl.col("job") == "collective/1")["src"]) == {"h2", "h4", "h6", "h8"}
    assert rows.height == 2 * 3 * 3 * 4
    assert rows["received_ns"].null_count() == 0
    assert set(rows["bytes"]) == {10_000}
    came = {(one["dst"], one["iteration"], one["step"]): one["received_ns"] for one in rows.iter_rows(named=True)}
    for one in rows.iter_rows(named=True):
        host, iteration, step = one["src"], one["iteration"], one["step"]
        if step >= 2:
            assert one["sent_ns"] >= came[host, iteration, step - 2]
        if iteration > 0:
            assert one["sent_ns"] >= max(came[host, iteration - 1, before] for before in range(3)) + 70_000


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schedule": "pairwise"}, "use pairwise with all_to_all"),
        ({"operation": "all_to_all", "schedule": "ring"}, "use pairwise with all_to_all"),
        ({"window": 2}, "give window only with all_to_all"),
        ({"group_stride": 2}, "group_stride requires group_size"),
        ({"group_size": 3}, "8 hosts are not a multiple of 3 ranks"),
        ({"deadline": {"offset_ns": 5}}, "cannot have a deadline"),
        ({"ranks": HOSTS[:3], "schedule": "halving_doubling"}, "3 ranks are not a power of two"),
        ({"ranks": ["h1"]}, "1 ranks"),
        ({"iterations": 100_000}, "steps of all ranks and iterations"),
        ({"operation": "all_to_all", "window": 8}, "8 is out of range"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        job(tmp_path, **change)
