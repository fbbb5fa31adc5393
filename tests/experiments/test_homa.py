"""Homa in Python beside ns-3's (experiments/homa/README.md): the output of ns-3 is kept as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from p4cc.running.request import RunRequest
from p4cc.running.runner import run_scenario
from tests.p4cc.scenarios import ROOT, Ran

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = ROOT / "experiments/homa"
MESSAGE = ["src", "dst", "size_bytes", "start_ns"]


def beside_ns3(scenario: str, folder: Path, variant: str) -> pl.DataFrame:
    """Each message with our completion time and that of ns-3, `judge_ns`."""
    # Lines of the table, in its order.
    times_ns = [int(line) for line in (FOLDER / f"ns3/{scenario}.txt").read_text(encoding="utf-8").split()]
    judge = pl.read_csv(FOLDER / f"{scenario}.csv").with_columns(pl.Series("judge_ns", times_ns))
    request = RunRequest(scenario=FOLDER / f"{scenario}.yaml", out=folder / "out", variants=(variant,), quiet=True)
    flows = Ran(run_scenario(request)).table("flows")
    both = flows.join(judge, on=MESSAGE)
    assert len(both) == len(flows) == len(judge)
    return both


@pytest.mark.parametrize("scenario", ["incast", "sizes"])
def test_messages_to_one_host_end_as_in_ns3(scenario: str, tmp_path: Path) -> None:
    """The order is the same. Times have the band of a number in a table: 10 % each way."""
    both = beside_ns3(scenario, tmp_path, "highest")
    order = [both.sort(pl.col("start_ns") + pl.col(time))["src"].to_list() for time in ("fct_ns", "judge_ns")]
    assert order[0] == order[1]
    assert both["fct_ns"].null_count() == 0
    assert ((both["fct_ns"] / both["judge_ns"] - 1).abs() < 0.1).all()
