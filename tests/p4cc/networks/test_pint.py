"""HPCC by PINT, from switches that measure to senders that decode (docs/algorithms/hpcc.md#pint)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from tests.p4cc.networks.test_fabric import HPCC, fabric
from tests.p4cc.scenarios import run

if TYPE_CHECKING:
    from pathlib import Path

SHARE = 0.25


def test_the_byte_steers_as_records_do_and_a_share_of_packets_carries_it(tmp_path: Path) -> None:
    pint = {"program": "p4src/v1model/pint.p4", "rate_control": {"name": "hpcc_pint", "r_min_mbps": 1_000}}
    some = {**pint, "name": "SOME", "transport": {"pint_share": SHARE}}
    ran = run(tmp_path, fabric(variants=[HPCC, {**pint, "name": "PINT"}, some]))
    rows = {row["variant"]: row for row in ran.runs}
    for row in rows.values():
        assert (row["flows_completed"], row["drops"], row["pauses"]) == (7, 0, 0)
    assert rows["PINT"]["finish_ns"] == pytest.approx(rows["HPCC"]["finish_ns"], rel=0.05)
    # Packets of 14 + 64 + 1000 B, and one byte in all of them or in a share: 3,500 draws.
    down = ran.table("ports").filter(pl.col("port") == 8)
    sizes = {row["variant"]: row["tx_bytes"] / row["tx_pkts"] for row in down.to_dicts()}
    assert sizes["PINT"] == 1_079
    assert sizes["SOME"] - 1_078 == pytest.approx(SHARE, abs=0.04)
    assert (
        ran.bytes() == run(tmp_path, fabric(variants=[HPCC, {**pint, "name": "PINT"}, some]), use_cache=False).bytes()
    )
