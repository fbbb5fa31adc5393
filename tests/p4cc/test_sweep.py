"""`p4cc sweep` through the command line: settings, the best of them, what is refused, runs kept."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from p4cc.errors import UserError
from p4cc.sweep import Over, best_settings, parse_over
from tests.p4cc.scenarios import ROOT, skewed, write

P4CC = str(Path(sys.executable).with_name("p4cc"))


def _sweep(path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [P4CC, "sweep", str(path), "--out", str(path.parent / "out" / "sweep"), *arguments]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False, stdin=subprocess.DEVNULL
    )


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


def test_a_table_for_people_and_a_path_of_the_switch(tmp_path: Path) -> None:
    path = write(tmp_path, skewed(seeds=[1], sweep={}))
    done = _sweep(path, "--variant", "DCQCN", "--over", "switch.red.p_max=0.05,1.0", "--metric", "finish_ns")
    assert done.returncode == 0, done.stderr
    assert "switch.red.p_max=" in done.stdout
    assert "DCQCN" in done.stdout
    assert f"wrote {path.parent / 'out' / 'sweep'}" in done.stdout.replace("\n", "")


@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        (("--over", "eta"), ("'eta' is not PARAM=a,b,c", "remedy")),
        (("--over", "eat=1"), ("no variant has all of eat", "eta")),
        (("--over", "eta=1", "--over", "p_max=1"), ("no variant has all of eta, p_max",)),
        (("--over", "eta=0.9", "--metric", "speed"), ("no metric 'speed'", "slowdown_p99")),
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


def test_settings_that_leave_flows_unfinished_are_not_compared() -> None:
    rows = pl.DataFrame(
        {
            "eta": [0.1, 0.5, 0.9],
            "unfinished": [2.0, 0.0, 0.0],
            "slowdown_mean": [1.0, 3.0, 2.0],
            "goodput_bps": [9.0, 5.0, 5.0],
        }
    )
    mean, goodput = best_settings(rows, "HPCC", [], ["eta"], ["slowdown_mean", "goodput_bps"])
    assert (mean["best"], mean["value"], mean["worst"], mean["left_out"]) == ({"eta": 0.9}, 2.0, {"eta": 0.5}, 1)
    # Of settings that are as good the first is named.
    assert goodput["best"] == {"eta": 0.5}
