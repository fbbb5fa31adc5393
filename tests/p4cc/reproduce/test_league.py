"""League tables of studies: one claim for each variant of a scenario, and a table of them with what leads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pydantic import ValidationError

from p4cc.errors import UserError
from p4cc.reproduce.few import few_values
from p4cc.reproduce.league import leagues_of
from p4cc.reproduce.measure import Measured
from p4cc.reproduce.run import figures_of
from p4cc.reproduce.study import read_study
from p4cc.reproduce.table import FEW, markdown
from p4cc.reproduce.verdict import record
from p4cc.scenario.claims import Reproduction
from p4cc.scenario.flow_claims import FlowPercentileMeasure
from tests.p4cc.scenarios import scenario

FCT = {"name": "fct", "text": "p99", "unit": "ms", "measure": {"kind": "value", "variant": "*", "column": "fct_p99_ns"}}


def _reproduction(**changes: Any) -> Reproduction:
    return Reproduction.model_validate_json(json.dumps({"figure": "one", "each_variant": [FCT], **changes}))


def _study(folder: Path, *, each: dict[str, Any] | None = None, **changes: Any) -> Path:
    data = scenario()
    data["variants"] = [{**data["variants"][0], "name": name} for name in ("A", "B+win", "C | d")]
    data["reproduces"] = {"figure": "one", "each_variant": [{**FCT, "better": "less", **(each or {})}]}
    (folder / "one.yaml").write_text(json.dumps(data), encoding="utf-8")
    league = {"title": "All beside all", "figures": ["one"]}
    study = {"name": "some", "title": "some", "source": "us", "figures": [{"file": "one.yaml"}], "leagues": [league]}
    path = folder / "reproduce.yaml"
    path.write_text(json.dumps(study | changes), encoding="utf-8")
    return path


def test_a_number_of_each_variant_becomes_a_claim_of_every_one() -> None:
    made = _reproduction().of(["A", "B+win"])
    assert [(one.name, one.text, one.unit) for one in made.numbers] == [
        ("fct_a", "p99: A", "ms"),
        ("fct_b_win", "p99: B+win", "ms"),
    ]
    assert [getattr(one.measure, "variant", None) for one in made.numbers] == ["A", "B+win"]


def test_variants_that_differ_in_signs_only_are_refused() -> None:
    with pytest.raises(ValueError, match="two claims are named fct_b_win"):
        _reproduction().of(["B+win", "B win"])


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"each_variant": []}, "no number is claimed"),
        ({"each_variant": [FCT, FCT]}, "two claims are named fct"),
        ({"each_variant": [{**FCT, "measure": {**FCT["measure"], "variant": "A"}}]}, "for every variant"),  # type: ignore[dict-item]
        ({"each_variant": [{**FCT, "measure": {"kind": "model_peak"}}]}, "for every variant"),
    ],
)
def test_what_is_no_number_of_each_variant(changes: dict[str, Any], cause: str) -> None:
    with pytest.raises(ValidationError, match=cause):
        _reproduction(**changes)


@pytest.mark.parametrize(("better", "leaders"), [("less", {"A", "C | d"}), ("more", {"B+win"}), (None, set[str]())])
def test_the_table_names_what_leads(tmp_path: Path, better: str | None, leaders: set[str]) -> None:
    study = read_study(_study(tmp_path, each={"better": better}))
    figures = figures_of(study)
    found = {"fct_a": Measured(2.0), "fct_b_win": Measured(3.0), "fct_c_d": Measured(2.0)}
    records = {"one": record("title", figures[0].reproduction, found)}
    (league,) = leagues_of(study.study, figures, records)
    assert league.columns[0].heading == "p99 (ms)"
    assert league.columns[0].leaders == leaders
    text = markdown(list(records.values()), [league])
    assert "| A | **2** |" in text or "A" not in leaders
    assert "| C \\| d | " in text
    assert "p99: A" not in text, "a claim that the table holds is listed again"


def test_what_did_not_happen_leads_nothing(tmp_path: Path) -> None:
    study = read_study(_study(tmp_path))
    figures = figures_of(study)
    found = {"fct_a": Measured(None), "fct_b_win": Measured(3.0), "fct_c_d": Measured(None)}
    records = {"one": record("title", figures[0].reproduction, found)}
    (league,) = leagues_of(study.study, figures, records)
    assert league.columns[0].leaders == {"B+win"}
    assert "| A | - |" in markdown(list(records.values()), [league])


def test_a_figure_that_did_not_run_has_no_column(tmp_path: Path) -> None:
    study = read_study(_study(tmp_path))
    assert leagues_of(study.study, figures_of(study), {}) == []


def test_a_league_of_figures_that_there_are_not(tmp_path: Path) -> None:
    league = {"title": "All", "figures": ["two"]}
    with pytest.raises(UserError, match="no figure 'two'") as caught:
        figures_of(read_study(_study(tmp_path, leagues=[league])))
    assert caught.value.remedy == "figures: one"


def test_a_percentile_of_few_flows_is_marked_and_the_mark_explained(tmp_path: Path) -> None:
    flows = pl.DataFrame({"variant": "A", "seed": [1] * 120 + [2] * 99, "size_bytes": 1_000, "slowdown": 1.0})
    how = FlowPercentileMeasure(kind="flow_percentile", variant="A", percent=99)
    few = few_values(pl.DataFrame(), lambda _: flows, how)
    assert few == "no data: 99 values, and a p99 needs 100"
    assert few_values(pl.DataFrame(), lambda _: flows.filter(pl.col("seed") == 1), how) == ""

    study = read_study(_study(tmp_path))
    (figure,) = figures_of(study)
    measured = {claim.name: Measured(1.5, few=few) for claim in figure.reproduction.measured}
    records = {"one": record("t", figure.reproduction, measured)}
    text = markdown(list(records.values()), leagues_of(study.study, [figure], records))
    assert "1.5*" in text
    assert FEW in text
