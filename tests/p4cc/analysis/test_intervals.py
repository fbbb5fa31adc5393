"""Confidence intervals over the seeds: known values, what is resampled, and where tables and figures name them."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import p4cc
from p4cc.analysis.intervals import of_percentile, of_values, t_quantile, text
from p4cc.analysis.metrics import started_in
from p4cc.analysis.summary_table import aggregate, table
from p4cc.errors import UserError
from p4cc.figures.counts import spread
from p4cc.scenario.figures import Window
from tests.p4cc.running.test_provenance import cli
from tests.p4cc.scenarios import RENO, run, scenario

if TYPE_CHECKING:
    from pathlib import Path


def test_students_t_is_that_of_the_tables() -> None:
    # NIST/SEMATECH e-Handbook, 1.3.6.7.2: two-sided 95 %.
    known = {1: 12.706, 4: 2.776, 9: 2.262, 30: 2.042, 31: 2.040, 40: 2.021, 60: 2.000, 100: 1.984}
    assert {freedom: round(t_quantile(freedom), 3) for freedom in known} == known


def test_the_interval_of_a_mean_is_that_of_the_formula() -> None:
    found = of_values([10.0, 12.0, 11.0, 13.0, 9.0], "t")
    assert found is not None
    # s is sqrt(2.5), so the half width is 2.776 sqrt(2.5 / 5).
    assert (found.middle, found.seeds) == (11.0, 5)
    assert found.low == pytest.approx(11 - 2.776 * 0.5**0.5)
    assert found.high == pytest.approx(11 + 2.776 * 0.5**0.5)


def test_one_seed_has_no_interval_and_none_has_no_value() -> None:
    found = of_values([3.0], "t")
    assert found is not None
    assert (found.middle, found.low, found.high) == (3.0, None, None)
    assert of_values([], "bootstrap") is None


def test_the_bootstrap_covers_the_mean_of_many_seeds_and_repeats() -> None:
    random = np.random.default_rng(7)
    hits = 0
    for _ in range(100):
        values = random.normal(5, 2, 40).tolist()
        found = of_values(values, "bootstrap")
        assert found is not None
        assert found == of_values(values, "bootstrap")
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= 5 <= found.high
    assert 88 <= hits <= 100


def test_a_percentile_is_resampled_by_whole_runs() -> None:
    """Ten runs, each of one value many times: only the choice of runs can move the percentile."""
    runs = [np.full(200, float(value)) for value in range(10)]
    found = of_percentile(runs, 50)
    assert found is not None
    assert found.middle == 5
    assert found.low is not None
    assert found.high is not None
    assert found.low <= 3
    assert found.high >= 6
    one = of_percentile(runs[:1], 50)
    assert one is not None
    assert one.low is None


RUN: dict[str, Any] = {
    **dict.fromkeys(("timeouts", "drops", "pauses", "marks_level1", "marks_level2", "peak_queue_pkts"), 0),
    **dict.fromkeys(("goodput_bps", "total_goodput_bps"), 1e9),
    **dict.fromkeys(("finish_ns", "fct_p50_ns", "fct_p99_ns"), 2_000_000),
    "variant": "A",
    "flows_finite": 1,
}


@pytest.mark.parametrize(("interval", "named"), [("t", "Student's t"), ("bootstrap", "bootstrap, 2,000 resamples")])
def test_the_table_has_the_interval_and_its_name(interval: Any, named: str) -> None:
    runs = [{**RUN, "seed": seed, "slowdown_p99": 10.0 + seed} for seed in range(5)]
    (row,) = aggregate(runs, ["variant"], interval)
    assert row["slowdown_p99"] == 12.0
    if interval == "t":
        assert row["slowdown_p99_low"] == pytest.approx(12 - 2.776 * 0.5**0.5)
    out = table("title", [row], ["variant"], 200)
    assert named in str(out.caption)
    assert any("[" in str(cell) and "12.00" in str(cell) for column in out.columns for cell in column.cells)


def test_the_spread_of_figures_is_the_interval() -> None:
    runs = pl.DataFrame({"variant": ["A"] * 5, "x": [1] * 5, "y": [10.0, 12.0, 11.0, 13.0, 9.0]})
    (row,) = spread(runs, "x", "y", 2.0, "t").to_dicts()
    assert row["median"] == 22
    assert row["high"] - row["low"] == pytest.approx(4 * 2.776 * 0.5**0.5)
    (row,) = spread(runs, "x", "y", 2.0).to_dicts()
    assert (row["median"], row["low"]) == (22, pytest.approx(18.4))


def test_flows_belong_to_the_span_in_which_they_begin() -> None:
    flows = pl.DataFrame({"start_ns": [0, 10, 19, 20]})
    assert started_in(flows, Window(name="steady", start_ns=10, end_ns=20))["start_ns"].to_list() == [10, 19]


SPREAD: dict[str, Any] = {
    "topology": {"kind": "star", "senders": 4, "queue_capacity_pkts": 100},
    "traffic": {"kind": "poisson", "size": {"kind": "fixed", "bytes": 20_000}, "load": 0.4, "end_ns": 4_000_000},
    "measure": [{"name": "steady", "start_ns": 3_500_000, "end_ns": 4_000_000}],
    "seeds": [1, 2, 3],
    "interval": "t",
    "record": {"windows_interval_ns": None, "queues_interval_ns": None},
    "figures": [
        {"kind": "bar", "file": "bar.svg", "panels": [{"y": "fct_p50_ns_steady", "scale": 1e-3}]},
        {"kind": "by_size", "file": "size.svg", "bins": 2, "window": "steady"},
        {"kind": "cdf", "file": "cdf.svg", "window": "steady", "panels": [{"y": "fct_ns"}]},
    ],
}


def test_a_run_cuts_the_warm_up_names_its_intervals_and_gives_csv_and_pandas(tmp_path: Path) -> None:
    ran = run(tmp_path, scenario(variants=[RENO], **SPREAD), figures=True)
    folder = ran.outcome.folder
    flows = ran.table("flows")
    for row in ran.runs:
        own = flows.filter((pl.col("seed") == row["seed"]) & (pl.col("start_ns") >= 3_500_000))
        assert row["fct_count_steady"] == own["fct_ns"].count()
        assert row["fct_count_steady"] < row["fct_count"]
        assert row["fct_unfinished_steady"] == 0
        assert row["slowdown_mean_steady"] == pytest.approx(own["slowdown"].mean())
        assert "fct_p99_ns_steady" in row["few_values"]
    assert all((folder / figure["file"]).stat().st_size > 0 for figure in SPREAD["figures"])

    result = p4cc.load(folder)
    (found,) = result.statistics().filter(pl.col("metric") == "fct_p50_ns_steady").to_dicts()
    values = [float(row["fct_p50_ns_steady"]) for row in ran.runs]
    expected = of_values(values, "t")
    assert expected is not None
    assert (found["mean"], found["low"], found["high"]) == (expected.middle, expected.low, expected.high)
    assert (found["seeds"], found["values"], found["interval"]) == (3, 3, "t")

    done = cli("tables", str(folder), "--csv", "csv", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    names = sorted(path.stem for path in (tmp_path / "csv").glob("*.csv"))
    assert names == sorted(["runs", "statistics", *result.tables])
    again = pl.read_csv(tmp_path / "csv" / "flows.csv", infer_schema_length=None)
    assert again["fct_ns"].to_list() == flows["fct_ns"].to_list()
    listed = cli("tables", str(folder), folder=tmp_path)
    assert f"flows: {flows.height:,} rows of" in listed.stdout


def test_without_pandas_the_remedy_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = p4cc.load(run(tmp_path, scenario(variants=[RENO])).outcome.folder)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UserError, match="pandas is not installed"):
        result.to_pandas()


def test_a_figure_of_a_span_that_there_is_not_is_refused(tmp_path: Path) -> None:
    figure = {"kind": "by_size", "file": "size.png", "window": "late"}
    (tmp_path / "one.yaml").write_text(json.dumps(scenario(variants=[RENO], figures=[figure])), encoding="utf-8")
    done = cli("run", "one.yaml", folder=tmp_path)
    assert done.returncode == 2
    assert "there is no span of time 'late'" in done.stderr


def test_every_interval_has_a_name() -> None:
    assert "Student's t" in text("t")
    assert "bootstrap" in text("bootstrap")
