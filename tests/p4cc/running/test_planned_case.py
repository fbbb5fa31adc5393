"""What a run's key hashes of its switches."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from p4cc.running.planned_case import texts_of
from p4cc.running.prepared import prepare
from p4cc.running.request import RunRequest
from tests.p4cc.scenarios import scenario, write

if TYPE_CHECKING:
    from pathlib import Path


def test_the_text_of_a_plan_is_complete_whatever_its_names_are(tmp_path: Path) -> None:
    prepared = prepare(RunRequest(write(tmp_path, scenario()), out=tmp_path / "out"))
    (plan,) = prepared.programs().plan(prepared.cases[0]).plan.switches
    assert len(plan.entities) > 1
    plans = [plan, replace(plan, switch="entities=()"), *(replace(plan, entities=plan.entities[:n]) for n in (0, 1))]
    assert list(texts_of(plans)) == [repr(one) for one in plans]
