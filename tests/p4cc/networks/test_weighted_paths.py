"""Weighted ECMP: flows follow the capacity of links of different rates, through P4Runtime and the program's hash."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.p4cc.scenarios import run, scenario

if TYPE_CHECKING:
    from pathlib import Path

    from tests.p4cc.scenarios import Ran

FAST, SLOW = 40_000_000_000, 10_000_000_000


def two_spines(folder: Path, flow_bytes: int = 3_000, slow_bps: int = SLOW, **switch: Any) -> Ran:
    """Flows from one leaf to the other over two spines, of which the far link of one alone is slow."""
    folder.mkdir()
    ends = [("h1", "leaf1"), ("h2", "leaf2")]
    fabric = [("leaf1", "slow"), ("leaf1", "fast"), ("fast", "leaf2"), ("slow", "leaf2")]
    rates = {("slow", "leaf2"): slow_bps}
    links = [
        {"a": a, "b": b, "rate_bps": rates.get((a, b), FAST), "delay_ns": 1_000, "queue_capacity_pkts": 10_000}
        for a, b in (*ends, *fabric)
    ]
    nodes = {
        "hosts": [{"name": "h1"}, {"name": "h2"}],
        "switches": [{"name": name} for name in ("leaf1", "leaf2", "fast", "slow")],
    }
    return run(
        folder,
        scenario(
            topology={"kind": "custom", **nodes, "links": links},
            switch={"program": "p4src/v1model/ecn_dual.p4", **switch},
            traffic={
                "kind": "poisson",
                "load": 0.3,
                "sources": ["h1"],
                "destinations": ["h2"],
                "size": {"kind": "fixed", "bytes": flow_bytes},
                "end_ns": 3_000_000,
            },
            stop_ns=4_000_000,
        ),
    )


def shares(folder: Path, slow_bps: int = SLOW, **switch: Any) -> float:
    """Share of the fast spine of what goes from one leaf to the other."""
    out = two_spines(folder, slow_bps=slow_bps, **switch)
    carried = dict(out.table("links").select("link", "bytes").iter_rows())
    (fast,) = [count for link, count in carried.items() if link.startswith("leaf1:") and "fast" in link]
    (slow,) = [count for link, count in carried.items() if link.startswith("leaf1:") and "slow" in link]
    return fast / (fast + slow)


def test_shares_are_those_of_capacities(tmp_path: Path) -> None:
    # Some 1,500 flows: four standard deviations of a binomial are 0.04 and 0.05.
    assert shares(tmp_path / "weighted", ecmp_weights="capacity") == pytest.approx(0.8, abs=0.04)
    assert shares(tmp_path / "equal") == pytest.approx(0.5, abs=0.05)


def test_very_uneven_links_fit_a_program_s_groups(tmp_path: Path) -> None:
    assert shares(tmp_path / "uneven", ecmp_weights="capacity", slow_bps=1_000_000_000) == pytest.approx(
        31 / 32, abs=0.03
    )


def test_slowdowns_by_rate_alone_are_of_the_fastest_path(tmp_path: Path) -> None:
    found = two_spines(tmp_path / "long", flow_bytes=300_000).table("flows")["slowdown_rate_only"].drop_nulls()
    assert len(found) > 10
    assert min(found) >= 1, "over the fast spine"
