"""Output of other simulators that is kept as text: the numbers of the source that studies state are its percentiles."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from p4cc.reproduce.run import figures_of
from p4cc.reproduce.study import find_study
from p4cc.scenario.flow_claims import FlowPercentileMeasure

STUDIES = [find_study("ndp"), find_study("nscc"), find_study("eqds")]
FIGURES = {figure.path: figure for study in STUDIES for figure in figures_of(study)}
OUTPUT = sorted(path for study in STUDIES for path in (study.path.parent / "htsim").glob("*.txt"))
"""Lines of seed, flow and completion time in us."""


@pytest.mark.parametrize("path", OUTPUT, ids=[f"{path.parts[-3]}-{path.stem}" for path in OUTPUT])
def test_the_numbers_of_htsim_are_those_of_its_output(path: Path) -> None:
    times_us = pl.Series([float(line.split()[2]) for line in path.read_text(encoding="utf-8").splitlines()])
    stated = [
        one
        for one in FIGURES[path.parents[1] / f"{path.stem}.yaml"].reproduction.claims
        if isinstance(one.measure, FlowPercentileMeasure)
    ]
    assert stated
    for claim in stated:
        assert isinstance(claim.measure, FlowPercentileMeasure)
        theirs = times_us.quantile(claim.measure.percent / 100, interpolation="linear")
        assert theirs is not None
        # Its tables have a tenth of a microsecond.
        assert round(theirs, 1) * 1_000 == pytest.approx(claim.paper), claim.name
