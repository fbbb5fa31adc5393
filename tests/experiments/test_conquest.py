"""Snapshots of a queue at 100 Gb/s: marks and drops hit the flows that fill it, and hardly anything else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from experiments.conquest.accuracy import judge
from p4cc.bundled import EXPERIMENTS
from p4cc.running.request import RunRequest
from p4cc.running.runner import run_scenario
from tests.p4cc.scenarios import Ran

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = EXPERIMENTS / "conquest"


def _run(scenario: str, folder: Path, *overrides: str) -> Ran:
    request = RunRequest(
        scenario=FOLDER / f"{scenario}.yaml", out=folder / scenario, overrides=overrides, figures=False, quiet=True
    )
    return Ran(run_scenario(request))


def _requests(ran: Ran, variant: str) -> dict[str, Any]:
    """What became of the requests of one variant."""
    flows = ran.table("flows").filter((pl.col("class") == "requests") & (pl.col("variant") == variant))
    (row,) = flows.select(
        p99_ns=pl.col("fct_ns").quantile(0.99),
        lost=pl.col("retransmitted_pkts").sum(),
        marked=pl.col("marks_level2").sum(),
    ).to_dicts()
    return row


def test_requests_are_spared(tmp_path: Path) -> None:
    ran = {name: _run(name, tmp_path, "seeds=[1]") for name in ("tail_drop", "any_flow", "large_flow")}
    tail, every, large = (_requests(ran[name], "Reno") for name in ("tail_drop", "any_flow", "large_flow"))
    assert large["lost"] == 0 < every["lost"] < tail["lost"]
    assert large["p99_ns"] < tail["p99_ns"] / 4
    assert _requests(ran["any_flow"], "DCTCP")["marked"] > 1_000
    assert _requests(ran["large_flow"], "DCTCP")["marked"] == 0
    bursts = ran["large_flow"].table("flows").filter((pl.col("class") != "requests") & (pl.col("variant") == "DCTCP"))
    assert bursts["marks_level2"].min() > 0  # pyright: ignore[reportOptionalOperand, reportOperatorIssue]


def test_marks_are_right(tmp_path: Path) -> None:
    ran = _run("accuracy", tmp_path)
    marks = judge(ran.outcome.folder / "pcap" / "DCTCP-seed-1")
    # The paper: 90 % precision with less than 65 KB.
    assert marks.precision > 0.9
    assert marks.recall > 0.9


def test_without_the_port_nothing_is_looked_at(tmp_path: Path) -> None:
    entry = 'switch.entries.0.match={"intr.egress_port": "port(self, h1)"}'
    ran = _run("large_flow", tmp_path, "seeds=[1]", entry, "stop_ns=1ms")
    assert ran.table("flows")["marks_level2"].sum() == 0
    assert pytest.approx(0) == sum(row["marks_level2"] for row in ran.runs)
