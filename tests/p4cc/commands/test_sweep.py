"""`p4cc sweep` through the command line: the whole trade-off, its front and best settings, what is refused."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from p4cc.analysis.tradeoff import METRICS, best_settings, pareto_front, with_front
from p4cc.errors import UserError
from p4cc.running.sweep import Over, parse_over
from tests.command_line import p4cc
from tests.p4cc.scenarios import skewed, write


def _sweep(path: Path, *arguments: str, columns: int = 80) -> subprocess.CompletedProcess[str]:
    out = path.parent / "out" / "sweep"
    return p4cc("sweep", path, "--out", out, *arguments, env={**os.environ, "COLUMNS": str(columns)})


def test_the_best_setting_of_each_metric_for_each_kind_of_traffic(tmp_path: Path) -> None:
    path = write(tmp_path, skewed(seeds=[1]))
    done = _sweep(path, "--over", "eta=0.3,0.95", "--over", "max_stage=0,5", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    # DCQCN has no eta: HPCC alone is swept.
    rows: list[dict[str, Any]] = found["settings"]
    assert len(rows) == 8
    assert {row["variant"] for row in rows} == {"HPCC"}
    assert {(row["pattern"], row["eta"], row["max_stage"]) for row in rows} == {
        (pattern, eta, stage) for pattern in ("uniform", "skewed") for eta in (0.3, 0.95) for stage in (0, 5)
    }
    for best in found["best"]:
        group = [row for row in rows if row["pattern"] == best["pattern"]]
        values = [row[best["metric"]] for row in group]
        better = max if best["metric"] == "goodput_bps" else min
        assert best["value"] == better(values)
        assert any(
            row[best["metric"]] == best["value"] and all(row[name] == value for name, value in best["best"].items())
            for row in group
        )
    # To aim at a third of the link costs time for everyone.
    mean = {(row["pattern"], row["eta"], row["max_stage"]): row["slowdown_mean"] for row in rows}
    assert mean["uniform", 0.3, 0] > mean["uniform", 0.95, 0]
    again = _sweep(path, "--over", "eta=0.3,0.95", "--over", "max_stage=0,5", "--json")
    assert again.stdout == done.stdout


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """HPCC under uniform and skewed traffic with four settings and two seeds: the folder, and what was printed."""
    path = write(tmp_path_factory.mktemp("sweep"), skewed())
    done = _sweep(path, "--over", "eta=0.3,0.95", "--over", "max_stage=0,5")
    assert done.returncode == 0, done.stderr
    return path.parent / "out" / "sweep", done.stdout


def test_every_setting_stands_in_a_table_with_its_spread_and_the_front(swept: tuple[Path, str]) -> None:
    folder, _ = swept
    rows = pl.read_parquet(folder / "settings.parquet")
    assert rows.height == 8
    runs = {
        (one["pattern"], one["eta"], one["max_stage"], one["seed"]): one["goodput_bps"]
        for one in json.loads((folder / "HPCC" / "summary.json").read_text(encoding="utf-8"))["runs"]
    }
    for row in rows.to_dicts():
        low, high = sorted(runs[row["pattern"], row["eta"], row["max_stage"], seed] for seed in (1, 2))
        assert (row["goodput_bps_low"], row["goodput_bps_high"], row["goodput_bps_seeds"]) == (low, high, 2)
        assert row["goodput_bps"] == pytest.approx((low + high) / 2)
        assert row["queue_p99_bytes"] is None
        assert row["queue_p99_bytes_seeds"] == 0
    for pattern in ("uniform", "skewed"):
        group = rows.filter(pl.col("pattern") == pattern).to_dicts()
        for row in group:
            beaten = any(
                other["slowdown_p99"] <= row["slowdown_p99"]
                and other["goodput_bps"] >= row["goodput_bps"]
                and (other["slowdown_p99"], other["goodput_bps"]) != (row["slowdown_p99"], row["goodput_bps"])
                for other in group
            )
            assert row["on_front"] is not beaten


def test_the_table_says_what_its_columns_are(swept: tuple[Path, str]) -> None:
    folder, _ = swept
    schema: Any = pq.read_schema(folder / "settings.parquet")  # pyright: ignore[reportUnknownMemberType]
    assert (schema.metadata or {})[b"objectives"] == b"slowdown_p99,goodput_bps"
    texts: dict[str, dict[bytes, bytes]] = {field.name: field.metadata or {} for field in schema}
    assert all(text[b"description"] for text in texts.values())
    assert texts["goodput_bps_low"][b"unit"] == b"bit/s"
    assert texts["eta"][b"description"] == b"swept: variants.0.rate_control.eta"
    assert b"queue_histogram_interval_ns" in texts["queue_p99_bytes"][b"null"]
    assert pl.read_parquet_schema(folder / "settings.parquet")["queue_p99_bytes"] == pl.Float64


def test_what_is_printed_fits_80_columns_in_units_for_people(swept: tuple[Path, str]) -> None:
    folder, text = swept
    lines = [line.rstrip() for line in text.splitlines()]
    assert max(len(line) for line in lines if not line.startswith("wrote")) <= 80
    assert "…" not in text
    headings = [line for line in lines if "goodput Gb/s" in line]
    assert len(headings) == 2
    assert headings[0].split() == ["eta", "max_stage", "slowdown_p99", "range", "goodput", "Gb/s", "range"]
    rows = [
        line.removeprefix("*").split() for line in lines if line.removeprefix("*").strip().startswith(("0.3 ", "0.95 "))
    ]
    assert len(rows) == 8
    for _, _, _, slowdowns, goodput, rates in rows:
        low, high = map(float, rates.split(".."))
        assert low <= float(goodput) <= high < 1000
        assert ".." in slowdowns
    marked = sum(line.startswith("* ") for line in lines)
    assert marked == pl.read_parquet(folder / "settings.parquet")["on_front"].sum() > 0
    assert "in settings.parquet also: slowdown_mean" in text
    fewest = pl.read_parquet(folder / "settings.parquet")["flows"].min()
    assert isinstance(fewest, int)
    assert (f"slowdown_p99: of {fewest} flows in a run" in text) == (0 < fewest < 100)
    assert "best goodput_bps: " in text
    assert f"wrote {folder / 'tradeoff.png'}" in lines
    assert (folder / "tradeoff.png").read_bytes().startswith(b"\x89PNG")


def test_the_figure_is_listed_in_the_folder_and_takes_the_formats_of_run(tmp_path: Path) -> None:
    path = write(tmp_path, skewed(seeds=[1], sweep={}))
    folder = path.parent / "out" / "sweep"
    over = ("--over", "eta=0.3,0.95", "--front", "slowdown_mean,pauses")
    done = _sweep(path, *over, "--figure", "front.svg", columns=200)
    assert done.returncode == 0, done.stderr
    drawn = (folder / "front.svg").read_bytes()
    assert b"<svg" in drawn
    # On a wide terminal more than the two metrics of the front are there.
    assert "fct_p99" in next(line for line in done.stdout.splitlines() if "slowdown_mean" in line)
    assert _sweep(path, *over, "--figure", "front.svg").returncode == 0
    assert (folder / "front.svg").read_bytes() == drawn
    assert _sweep(path, *over, "--no-figures").returncode == 0
    assert not (folder / "front.svg").exists()


def test_a_path_of_the_switch_and_metrics_without_values(tmp_path: Path) -> None:
    """Nothing finishes within 10 us: every metric of flows is null, says so, and nothing is on the front."""
    path = write(tmp_path, skewed(seeds=[1, 2], sweep={}, stop_ns=10_000, measure=[]))
    arguments = ("--variant", "DCQCN", "--over", "switch.red.p_max=0.05,1.0", "--metric", "finish_ns")
    done = _sweep(path, *arguments)
    assert done.returncode == 0, done.stderr
    (heading,) = (line for line in done.stdout.splitlines() if "finish" in line and "p_max" in line)
    assert "unfinished" in heading
    assert done.stdout.count("none of 2") == 2
    assert not any(line.startswith("* ") for line in done.stdout.splitlines())
    assert "no setting is on the front" in done.stdout
    assert "best finish_ns: no setting has a value in every seed" in done.stdout
    found = json.loads(_sweep(path, *arguments, "--json").stdout)
    assert found["objectives"] == ["finish_ns", "slowdown_p99"]
    assert [(row["finish_ns"], row["on_front"]) for row in found["settings"]] == [(None, False)] * 2
    assert [(best["best"], best["value"]) for best in found["best"]] == [(None, None)]


@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        (("--over", "eta"), ("'eta' is not PARAM=a,b,c", "remedy")),
        (("--over", "eat=1"), ("no variant has all of eat", "eta")),
        (("--over", "eta=1", "--over", "p_max=1"), ("no variant has all of eta, p_max",)),
        (("--over", "eta=0.9", "--metric", "speed"), ("no metric 'speed'", "slowdown_p99")),
        (("--over", "eta=0.9", "--front", "slowdown_p99"), ("--front", "not two metrics", "goodput_bps")),
        (("--over", "eta=0.9", "--front", "speed,pauses"), ("no metric 'speed'", "slowdown_p99")),
        (("--over", "eta=0.9", "--figure", "front.bmp"), ("--figure", "'front.bmp'", ".svg")),
        (("--over", "eta=0.9", "--figure", "../front.png"), ("--figure", "'../front.png'")),
        (("--over", "eta=0.9", "--variant", "Reno"), ("no variant 'Reno'", "HPCC, DCQCN")),
        (("--over", "eta=0.9", "--over", "eta=0.8"), ("a parameter is given twice",)),
        (("--over", "eta=7"), ("eta", "sweep")),
        (("--over", "eta=[0.9"), ("are not YAML",)),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, arguments: tuple[str, ...], texts: tuple[str, ...]) -> None:
    done = _sweep(write(tmp_path, skewed(seeds=[1])), *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    for text in texts:
        assert text in done.stderr


def test_values_are_yaml() -> None:
    assert parse_over("eta=0.9,1") == Over("eta", (0.9, 1))
    assert parse_over("update=[window, packet]") == Over("update", ("window", "packet"))
    with pytest.raises(UserError, match="0 values"):
        parse_over("eta=[]")


def _rows(**columns: list[Any]) -> pl.DataFrame:
    """Settings of one seed; a metric has a value where it is not None."""
    seeds = {f"{name}_seeds": [int(one is not None) for one in values] for name, values in columns.items()}
    return pl.DataFrame({**columns, **seeds, "seeds": 1}, strict=False)


def test_settings_that_leave_flows_unfinished_are_not_compared() -> None:
    rows = _rows(
        eta=[0.1, 0.5, 0.9],
        unfinished=[2.0, 0.0, 0.0],
        slowdown_mean=[1.0, 3.0, 2.0],
        goodput_bps=[9.0, 5.0, 5.0],
    )
    mean, goodput = best_settings(rows, "HPCC", [], ["eta"], ["slowdown_mean", "goodput_bps"])
    assert (mean["best"], mean["value"], mean["worst"], mean["left_out"]) == ({"eta": 0.9}, 2.0, {"eta": 0.5}, 1)
    # Of settings that are as good the first is named.
    assert goodput["best"] == {"eta": 0.5}
    assert with_front(rows, [], ("slowdown_mean", "goodput_bps"))["on_front"].to_list() == [False, False, True]


VALUES = st.one_of(st.none(), st.integers(-3, 3).map(float))


@given(
    st.lists(st.tuples(VALUES, VALUES, st.sampled_from([0.0, 1.0])), min_size=1, max_size=8),
    st.sampled_from([("slowdown_p99", "goodput_bps"), ("finish_ns", "pauses"), ("goodput_bps", "jain_index")]),
)
def test_the_front_is_what_nothing_beats(settings: list[tuple[Any, Any, float]], objectives: tuple[str, str]) -> None:
    first, second, unfinished = (list(column) for column in zip(*settings, strict=True))
    rows = _rows(**{objectives[0]: first, objectives[1]: second, "unfinished": unfinished})
    fewest = min(unfinished)
    compared = [None not in one and one[2] == fewest for one in settings]
    signs = [-1 if METRICS[name] else 1 for name in objectives]

    def beats(one: tuple[Any, Any, float], other: tuple[Any, Any, float]) -> bool:
        costs = [(sign * one[place], sign * other[place]) for place, sign in enumerate(signs)]
        return all(a <= b for a, b in costs) and any(a < b for a, b in costs)

    expected = [
        fits and not any(beats(other, one) for other, also in zip(settings, compared, strict=True) if also)
        for one, fits in zip(settings, compared, strict=True)
    ]
    assert with_front(rows, [], objectives)["on_front"].to_list() == expected


def test_the_front_of_nothing_is_empty() -> None:
    assert pareto_front([]) == []
