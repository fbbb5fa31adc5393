"""Packet spraying: one flow uses all equal paths, and each of its packets arrives unchanged; with ECMP it uses one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.p4cc.scenarios import run, skewed

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("program", "used"), [("ecn_red", 1), ("ecn_red_spray", 2)])
def test_a_flow_takes_one_path_or_all(tmp_path: Path, program: str, used: int) -> None:
    variant: dict[str, Any] = {
        "name": "fixed",
        "program": f"p4src/v1model/{program}.p4",
        "rate_control": {"name": "fixed", "rate_mbps": 1_000},
    }
    traffic = {"kind": "bulk", "sources": ["h1"], "destinations": ["h5"], "size_bytes": 100_000, "priority": 3}
    data = skewed(traffic=traffic, variants=[variant], sweep={}, seeds=[1], measure=[])
    ran = run(tmp_path, data)
    links = ran.table("links")
    up = [
        row["bytes"]
        for row in links.iter_rows(named=True)
        if row["link"].startswith("leaf1") and "spine" in row["link"]
    ]
    carried = [count for count in up if count > 50 * 64]
    # 100 packets of 1000 B; at 1 Gb/s none overtakes another, so none is sent twice.
    assert len(carried) == used, dict(links.select("link", "bytes").iter_rows())
    assert 100_000 < sum(carried) < 115_000
    assert min(carried) > (20_000 if used > 1 else 100_000)
    assert ran.runs[0]["outcome"] == "finished"
