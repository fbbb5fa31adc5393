"""`p4cc reproduce --all --json`: the sums of every study, and the file of verdicts among the results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from p4cc.reproduce import every_study
from p4cc.reproduce.run import ReproduceRequest
from p4cc.reproduce.study import find_study
from p4cc.reproduce.verdict_file import read_verdicts
from p4cc.running.request import RunRequest
from tests.p4cc.reproduce.test_reproduce import study


def test_all_studies_leave_their_verdicts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = find_study(str(study(tmp_path / "study")))
    monkeypatch.setattr(every_study, "known_studies", lambda: {"small": found})
    monkeypatch.chdir(tmp_path)
    sums = every_study.reproduce_all(ReproduceRequest(found, RunRequest(found.path, jobs=1, quiet=True), every=True))
    wanted = {
        "numbers": 3,
        "near": 2,
        "within": 2,
        "outside": 1,
        "not_comparable": 0,
        "absent": 0,
        "stated_met": 0,
        "stated_not_met": 0,
        "met": 0,
        "not_met": 0,
    }
    assert sums == {"studies": {"small": wanted}, "all": wanted}
    # Outside of a checkout the file stands among the results.
    held = read_verdicts(tmp_path / "results" / "verdicts.json")
    assert held["studies"]["small"]["records"].keys() == {"1.limit", "1.goodput", "2.limit"}
    assert held["studies"]["small"]["made"]["digits"] == every_study.ALL_DIGITS
    goodput = held["studies"]["small"]["records"]["1.goodput"]
    assert (goodput["paper"], goodput["band"], goodput["verdict"]) == (15, [13.5, 16.5], "outside")
    # Again, from the cache: the same bytes.
    before = (tmp_path / "results" / "verdicts.json").read_bytes()
    every_study.reproduce_all(ReproduceRequest(found, RunRequest(found.path, jobs=1, quiet=True), every=True))
    assert json.loads(before) == held
    assert (tmp_path / "results" / "verdicts.json").read_bytes() == before
