"""What reports are made of, where they go, and what they refuse; without a browser."""

from __future__ import annotations

import base64
import gzip
import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from p4cc.cli import app
from p4cc.errors import UserError
from p4cc.explain import explained
from p4cc.figures.counts import spread
from p4cc.report import runs, slow_flows
from p4cc.report.reduce import envelope, largest_in_bins, short, spread_over
from p4cc.report.write import report_of, report_text, write_report
from p4cc.running.request import RunRequest
from p4cc.running.result_folder import REPORT, Claim, read_manifest, results_into
from p4cc.running.runner import run_scenario
from tests.p4cc.scenarios import run, scenario, write
from tests.report.reports import HOSTILE, swept

if TYPE_CHECKING:
    from pathlib import Path

    from tests.p4cc.scenarios import Ran

LIMIT_BYTES = 5_000_000


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return swept(tmp_path_factory.mktemp("swept"))


def held(text: str) -> dict[str, Any]:
    """The data that a page carries."""
    found = re.search(r'<script type="text/plain" id="held">([^<]*)</script>', text)
    assert found is not None
    return json.loads(gzip.decompress(base64.b64decode(found[1])))


def test_the_report_of_a_folder_is_always_the_same_and_small(ran: Ran) -> None:
    text = report_text([ran.outcome.folder])
    assert text == report_text([ran.outcome.folder])
    assert len(text) < LIMIT_BYTES
    assert HOSTILE not in text
    assert f"p4cc run --again {ran.outcome.folder}" in text
    policy = text.split('http-equiv="Content-Security-Policy" content="')[1].split('"')[0]
    assert policy.startswith("default-src 'none'; img-src data: blob:; ")
    assert "http" not in policy


def test_values_of_a_swept_figure_are_those_of_the_file_that_a_run_draws(ran: Ran) -> None:
    chart = next(one for one in held(report_text([ran.outcome.folder]))["blocks"] if one["title"] == HOSTILE)
    line = next(one for one in chart["views"][0]["data"] if one["mode"] == "lines+markers")
    drawn = spread(pl.DataFrame(ran.runs, infer_schema_length=None), "senders", "goodput_bps", 1e-9)
    medians = drawn.filter(pl.col("variant") == "Reno")["median"].to_list()
    assert line["x"] == [2, 4]
    assert line["y"] == pytest.approx(medians, rel=1e-6)
    of_seeds = [[value for _, value in runs] for runs in line["meta"]["samples"]]
    assert [float(np.median(values)) for values in of_seeds] == pytest.approx(medians, rel=1e-6)


def test_sections_show_the_interval_that_the_scenario_asks_for(tmp_path: Path) -> None:
    """The mean over all seeds with its ends, which a page does not compute anew for some of them."""
    data = scenario(topology={"kind": "star", "senders": 8, "queue_capacity_pkts": 20}, seeds=[1, 2, 3], interval="t")
    ran = run(tmp_path, data)
    blocks = held(report_text([ran.outcome.folder]))["blocks"]
    chart = next(one for one in blocks if one["title"] == "How many")
    bar = next(one for one in chart["views"][0]["data"] if one["customdata"] == ["Reno, dropped"])
    drops = [float(row["drops"]) for row in ran.runs if row["variant"] == "Reno"]
    half = 4.303 * np.std(drops, ddof=1) / np.sqrt(3)
    assert half > 0
    assert bar["y"] == pytest.approx([np.mean(drops)])
    assert bar["error_y"]["array"] == pytest.approx([half], rel=1e-6)
    assert "samples" not in bar["meta"]
    assert any("Student's t" in note for note in chart["notes"])
    sizes = next(one for one in blocks if one["title"] == "Slowdown by size of flow")
    assert "mean over all seeds" in sizes["caption"]
    assert any("Student's t" in note for note in sizes["notes"])


def test_run_writes_a_report_that_is_listed_and_goes_with_the_results(tmp_path: Path) -> None:
    path = write(tmp_path, scenario())
    out = tmp_path / "out"
    outcome = run_scenario(RunRequest(path, out=out, figures=False, quiet=True, report=report_of))
    assert outcome.report == out / REPORT
    manifest = read_manifest(out)
    assert manifest is not None
    assert REPORT in manifest.owned(out)
    assert (out / REPORT).read_text(encoding="utf-8") == report_text([out])
    run_scenario(RunRequest(path, out=out, figures=False, quiet=True))
    assert not (out / REPORT).exists()
    said = CliRunner().invoke(app, ["run", str(path), "--out", str(out), "--report", "--no-figures"])
    assert said.output.splitlines()[-1] == f"wrote {out / REPORT}"


def test_a_report_is_listed_and_replaced_and_nothing_else_is(tmp_path: Path) -> None:
    folder = run(tmp_path, scenario()).outcome.folder
    assert write_report([folder], None) == folder / REPORT
    assert write_report([folder], None) == folder / REPORT
    (folder / REPORT).write_text("mine", encoding="utf-8")
    with pytest.raises(UserError, match="not as p4cc wrote it") as refused:
        write_report([folder], None)
    assert "--force" in refused.value.remedy
    assert (folder / REPORT).read_text(encoding="utf-8") == "mine"
    write_report([folder], None, force=True)
    assert run(tmp_path, scenario()).outcome.folder == folder


def test_a_file_named_with_o_is_replaced_only_if_it_is_a_report(tmp_path: Path) -> None:
    folder = run(tmp_path, scenario()).outcome.folder
    out = tmp_path / "page.html"
    out.write_text("<html>mine</html>", encoding="utf-8")
    with pytest.raises(UserError, match="not a report of p4cc"):
        write_report([folder], out)
    assert out.read_text(encoding="utf-8") == "<html>mine</html>"
    write_report([folder], out, force=True)
    assert write_report([folder], out) == out


def test_a_run_that_is_under_way_has_a_report_that_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "slow"
    claim = Claim(folder, {"kind": "run", "scenario": HOSTILE, "settings": "as written"}, ("summary.json",))
    with results_into(claim) as partial:
        text = report_text([folder])
        assert "is not finished" in text
        assert HOSTILE not in text
        with pytest.raises(UserError, match="another p4cc writes into this folder"):
            write_report([folder], None)
        (partial / "summary.json").write_text("{}", encoding="utf-8")
    with pytest.raises(UserError, match=r"no longer holds run\.json"):
        report_text([folder])


@pytest.mark.parametrize(
    ("damage", "cause"),
    [
        ("nothing", "there is no such folder"),
        ("empty", "holds no run.json"),
        ("table", "cannot be read"),
        ("summary", "is not JSON"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, damage: str, cause: str) -> None:
    folder = tmp_path / "out"
    if damage == "empty":
        folder.mkdir()
    elif damage != "nothing":
        folder = run(tmp_path, scenario()).outcome.folder
        name = {"table": "flows.parquet", "summary": "summary.json"}[damage]
        (folder / name).write_bytes(b"PAR1 broken")
    with pytest.raises(UserError, match=re.escape(cause)) as refused:
        report_text([folder])
    assert refused.value.place
    assert refused.value.remedy


def test_an_old_figure_does_not_take_the_report_away(tmp_path: Path) -> None:
    folder = run(tmp_path, scenario()).outcome.folder
    told = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    told["scenario"]["figures"] = [{"kind": "of another version", "file": "a.png"}]
    told["host"] = told["command"] = 3
    (folder / "run.json").write_text(json.dumps(told), encoding="utf-8")
    assert "from another version of p4cc" in report_text([folder])


def test_details_of_many_runs_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "MAX_DETAILED", 4)
    record = {"windows_interval_ns": 20_000, "queues_interval_ns": 20_000}
    text = report_text([run(tmp_path, scenario(seeds=[1, 2, 3, 4, 5, 6], record=record)).outcome.folder])
    blocks = {one["title"]: one for one in held(text)["blocks"]}
    assert len(blocks["Medians and ranges"]["runs"]) == 6
    assert len(blocks["Queues over time"]["maps"]) == 4
    assert any("Of 4 of 6 runs" in note for note in blocks["Queues over time"]["notes"])
    lines = blocks["Chosen flows"]["views"][0]["data"]
    assert lines
    assert all(len(line["x"]) <= 4 * 200 + 2 for line in lines)


def test_only_runs_that_are_shown_are_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = run(tmp_path, scenario(seeds=[1, 2, 3, 4, 5, 6])).outcome.folder
    judged: list[int] = []

    def spy(*given: Any, **named: Any) -> list[explained.RunExplained]:
        told = explained.explain(*given, **named)
        judged.extend(one.seed for one in told)
        return told

    monkeypatch.setattr(slow_flows, "explain", spy)
    monkeypatch.setattr(runs, "MAX_DETAILED", 2)
    report_text([folder])
    assert judged == [1, 2]


def test_no_error_of_an_explanation_is_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = run(tmp_path, scenario()).outcome.folder

    def fails(*_: Any, **__: Any) -> list[explained.RunExplained]:
        raise UserError("is damaged")

    monkeypatch.setattr(slow_flows, "explain", fails)
    with pytest.raises(UserError, match="is damaged"):
        report_text([folder])


def test_few_samples_keep_the_extremes() -> None:
    times = np.arange(100_000, dtype=np.int64) * 10
    values = np.sin(times / 3_000.0)
    values[54_321], values[77_777] = 9.0, -9.0
    kept = envelope(times, values, 50)
    assert len(kept) <= 4 * 50 + 2
    assert {0, 54_321, 77_777, 99_999} <= set(kept.tolist())
    assert (np.diff(kept) > 0).all()
    gaps = np.full(1_000, np.nan)
    assert envelope(np.arange(1_000), gaps, 10)[-1] == 999


def test_a_depth_holds_until_the_next_sample() -> None:
    times, values = np.array([0, 10, 55]), np.array([1.0, 7.0, 2.0])
    assert largest_in_bins(times, values, 0, 100, 10).tolist() == [1, 7, 7, 7, 7, 7, 2, 2, 2, 2]
    assert largest_in_bins(times, values, 50, 100, 5).tolist() == [7, 2, 2, 2, 2]
    assert largest_in_bins(np.array([]), np.array([]), 0, 100, 3).tolist() == [0, 0, 0]


def test_numbers_are_short_and_nothing_is_none() -> None:
    assert [short(one) for one in (None, float("nan"), float("inf"), 7, 2.0, 1 / 3)] == [
        None,
        None,
        None,
        7,
        2,
        0.33333333,
    ]
    assert spread_over(10, 4) == [0, 3, 6, 9]
    assert spread_over(3, 8) == [0, 1, 2]
    assert spread_over(9, 1) == [0]
