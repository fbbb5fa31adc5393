"""Homa in Python compared with ns-3's (experiments/homa/README.md): the output of ns-3 is kept as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from p4cc.running.request import RunRequest
from p4cc.running.runner import run_scenario
from tests.p4cc.scenarios import ROOT, Ran

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FOLDER = ROOT / "experiments/homa"
MESSAGE = ["src", "dst", "size_bytes", "start_ns"]


def highest(scenario: str, folder: Path) -> pl.DataFrame:
    """Our messages with the classes of ns-3."""
    request = RunRequest(scenario=FOLDER / f"{scenario}.yaml", out=folder / "out", variants=("highest",), quiet=True)
    flows = Ran(run_scenario(request)).table("flows")
    assert flows["fct_ns"].null_count() == 0
    return flows


def with_ns3(flows: pl.DataFrame, scenario: str, output: str) -> pl.DataFrame:
    """Each message with our completion time and that of ns-3, `judge_ns`."""
    # Lines of the table, in its order.
    times_ns = [int(line) for line in (FOLDER / f"ns3/{output}.txt").read_text(encoding="utf-8").split()]
    judge = pl.read_csv(FOLDER / f"{scenario}.csv").with_columns(pl.Series("judge_ns", times_ns))
    both = flows.join(judge, on=MESSAGE)
    assert len(both) == len(flows) == len(judge)
    return both


@pytest.mark.parametrize("scenario", ["incast", "sizes"])
def test_messages_to_one_host_end_as_in_ns3(scenario: str, tmp_path: Path) -> None:
    """The order is the same. Times have the band of a number in a table: 10 % each way."""
    both = with_ns3(highest(scenario, tmp_path), scenario, scenario)
    order = [both.sort(pl.col("start_ns") + pl.col(time))["src"].to_list() for time in ("fct_ns", "judge_ns")]
    assert order[0] == order[1]
    assert ((both["fct_ns"] / both["judge_ns"] - 1).abs() < 0.1).all()


def above_ns3(both: pl.DataFrame) -> list[float]:
    """Median, 99th percentile, mean, and slowdown's two percentiles, above those of ns-3, in percent."""
    slowdown = both.select(
        fct_ns=pl.col("fct_ns") / pl.col("ideal_fct_ns"), judge_ns=pl.col("judge_ns") / pl.col("ideal_fct_ns")
    )

    def ratios(numbers: pl.DataFrame) -> Iterator[float]:
        for share in (0.5, 0.99):
            at = numbers.select(pl.col("fct_ns", "judge_ns").quantile(share, interpolation="linear"))
            yield at["fct_ns"][0] / at["judge_ns"][0]

    means = both.select(pl.col("fct_ns", "judge_ns").mean())
    every = [*ratios(both), means["fct_ns"][0] / means["judge_ns"][0], *ratios(slowdown)]
    return [100 * (ratio - 1) for ratio in every]


@pytest.mark.parametrize(
    ("scenario", "ns3", "changed"),
    [
        ("poisson50", [16.6, 28.4, 17.5, 10.9, 67.3], [1.6, 0.3, 0.3, 1.2, 1.6]),
        ("poisson80", [52.7, 23.1, 33.2, 40.8, 141.1], [3.3, -0.5, 0.5, 4.5, -0.4]),
    ],
)
def test_messages_among_hosts_deviate_as_stated(
    scenario: str, ns3: list[float], changed: list[float], tmp_path: Path
) -> None:
    """The rows of docs/algorithms/receivers.md and judges.md, in percent with a tenth."""
    flows = highest(scenario, tmp_path)
    assert above_ns3(with_ns3(flows, scenario, scenario)) == pytest.approx(ns3, abs=0.06)
    assert above_ns3(with_ns3(flows, scenario, f"{scenario}_as_ours")) == pytest.approx(changed, abs=0.06)
