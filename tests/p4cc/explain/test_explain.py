"""`p4cc explain` against runs whose cause is known."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from typer.testing import CliRunner

from p4cc.analysis.recorded import read_results
from p4cc.cli import app
from p4cc.errors import UserError
from p4cc.explain.causes import Cause
from p4cc.explain.explained import explain
from p4cc.explain.settings import Settings
from tests.p4cc.explain.cases import MADE, Made, windows
from tests.p4cc.scenarios import Ran, run

if TYPE_CHECKING:
    from pathlib import Path


def _judged(made: Made, frame: pl.DataFrame) -> pl.DataFrame:
    return frame.filter(pl.col("class") == made.label) if made.label else frame


def _measure(made: Made, ran: Ran) -> float:
    """What the cause spoils, larger for the better."""
    flows = _judged(made, ran.table("flows"))
    if made.improves == "srtt":
        return 1 / float(ran.table("windows")["srtt_ns"].drop_nulls().tail(200).median() or 1)  # pyright: ignore[reportArgumentType]
    end = pl.col("finish_ns").fill_null(int(ran.runs[0]["end_ns"]))
    rates = flows.select(pl.col("acked_bytes") / (end - pl.col("start_ns")))
    return float(rates.to_series().min() or 0)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("made", MADE, ids=lambda made: made.name)
def test_each_cause_is_found_and_its_cure_helps(made: Made, tmp_path: Path) -> None:
    for folder in ("ill", "cured"):
        (tmp_path / folder).mkdir()
    ill = run(tmp_path / "ill", made.scenario)
    (told,) = explain(read_results(ill.outcome.folder), made.slow)
    verdicts = [one for one in told.verdicts if not made.label or one.flow.label == made.label]
    assert verdicts, "its flows are slow"
    worst = verdicts[0]
    assert worst.bound is made.cause, {cause.key: share for cause, share in worst.shares.items()}
    assert abs(sum(worst.shares.values()) - 1) < 1e-6
    if made.link:
        assert worst.link == made.link
    cured = run(tmp_path / "cured", made.scenario, *(f"{key}={json.dumps(value)}" for key, value in made.cure.items()))
    before, after = _measure(made, ill), _measure(made, cured)
    assert after >= made.by * before, f"the cure helps: {before} to {after}"


def test_groups_of_a_collective_wait_as_the_whole_does() -> None:
    settings = Settings(
        is_paced=True,
        mss_bytes=1_000,
        rwnd_segments=None,
        iw_segments=1,
        cwnd_min=None,
        r_min_bps=None,
        r_min_share=None,
        waiting_labels=frozenset({"collective", "rpc"}),
    )
    assert all(map(settings.may_wait, ("collective", "collective/3", "rpc.request")))
    assert not any(map(settings.may_wait, ("bulk", "collectives", "goal/1")))


def test_there_are_three_of_each_cause() -> None:
    causes = [made.cause for made in MADE]
    assert len(MADE) == 33
    assert {causes.count(cause) for cause in set(causes)} == {3}


def _told(folder: Path, *options: str) -> str:
    done = CliRunner().invoke(app, ["explain", str(folder), *options])
    assert done.exit_code == 0, done.output
    return done.output


def test_a_sweep_is_explained_run_by_run_with_its_own_settings(tmp_path: Path) -> None:
    data = windows(sweep={"transport.rwnd": [4, 400]}, seeds=[1, 2])
    folder = run(tmp_path, data).outcome.folder
    told = explain(read_results(folder))
    assert [(one.point["rwnd"], one.seed, one.slow) for one in told] == [(4, 1, 1), (4, 2, 1), (400, 1, 0), (400, 2, 0)]
    text = _told(folder)
    assert "DCTCP, rwnd=4, seed 1: 1 of 1 flow slow" in text
    assert "1 flow bounded by receiver window" in text
    assert "DCTCP, rwnd=400, seed 2: none of 1 flow is slow" in text
    plain = json.loads(_told(folder, "--json"))
    first = plain["runs"][0]
    assert (first["rwnd"], first["bounded_by"]) == (4, {"receiver": 1})
    assert first["slow_flows"][0]["shares"]["receiver"] > 0.8
    assert set(plain["causes"]) == {cause.key for cause in Cause}


def test_what_was_not_recorded_is_said_and_not_guessed(tmp_path: Path) -> None:
    nothing = {"windows_interval_ns": None, "queues_interval_ns": None}
    ran = run(tmp_path, windows(transport={"rwnd": 4}, record=nothing))
    (told,) = explain(read_results(ran.outcome.folder))
    assert told.verdicts[0].bound is Cause.UNKNOWN, "a window of 4 and a slow start look alike in totals"
    for key in ("record.windows_interval_ns", "record.queues_interval_ns"):
        assert any(key in note for note in told.notes), told.notes


def test_pauses_by_totals_and_by_frames_agree(tmp_path: Path) -> None:
    made = next(one for one in MADE if one.name == "pause-frames")
    ran = run(tmp_path, made.scenario)
    results = read_results(ran.outcome.folder)
    (exact,) = explain(results)
    assert not any("record.pauses" in note for note in exact.notes)
    record: dict[str, Any] = (results.run.scenario.model_extra or {})["record"]
    record["pauses"] = False
    (by_totals,) = explain(results)
    assert any("record.pauses" in note for note in by_totals.notes)
    by_flow = {one.flow.flow_id: one.shares[Cause.PAUSE] for one in by_totals.verdicts}
    for one in exact.verdicts:
        assert by_flow[one.flow.flow_id] == pytest.approx(one.shares[Cause.PAUSE], abs=0.1)


def test_a_timeout_counts_as_long_as_it_lasted(tmp_path: Path) -> None:
    made = next(one for one in MADE if one.name == "timeout-link-down")
    ran = run(tmp_path, {**made.scenario, "record": {**made.scenario["record"], "events": True}})
    (told,) = explain(read_results(ran.outcome.folder))
    first = ran.table("events").filter(pl.col("event") == "timeout")["time_ns"].to_list()[0]
    (verdict,) = told.verdicts
    waited = verdict.shares[Cause.TIMEOUT] * (verdict.flow.end_ns - verdict.flow.start_ns)
    # From the failure, one way and a bin after it, to the timer.
    assert waited == pytest.approx(first - 500_000, abs=150_000)


def test_no_matching_run_is_one_error(tmp_path: Path) -> None:
    folder = run(tmp_path, windows()).outcome.folder
    done = CliRunner().invoke(app, ["explain", str(folder), "--variant", "Reno"])
    assert "has no runs of 'Reno'" in str(done.exception)
    recorded = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    recorded["cases"] = []
    (folder / "run.json").write_text(json.dumps(recorded), encoding="utf-8")
    done = CliRunner().invoke(app, ["explain", str(folder)])
    assert isinstance(done.exception, UserError)
    assert "has no run of a case" in str(done.exception)
    assert "None" not in str(done.exception)


def test_a_folder_without_flows_is_refused(tmp_path: Path) -> None:
    folder = run(tmp_path, windows()).outcome.folder
    (folder / "flows.parquet").unlink()
    with pytest.raises(UserError, match="holds no flows"):
        explain(read_results(folder))
    done = CliRunner().invoke(app, ["explain", str(folder.parent)])
    assert isinstance(done.exception, UserError)
