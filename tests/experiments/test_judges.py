"""Output of other simulators that is kept as text: the numbers of the source that studies state are its percentiles."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from p4cc.reproduce.run import figures_of
from p4cc.reproduce.study import find_study
from p4cc.scenario.claims import TableMeasure
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


PINT = find_study("pint")
PINT_FIGURES = {figure.path.stem: figure for figure in figures_of(PINT)}
NS3 = sorted((PINT.path.parent / "ns3").glob("*.txt"))
"""Lines of run, flow and completion time in ns."""


@pytest.mark.parametrize("path", NS3, ids=[path.stem for path in NS3])
def test_the_numbers_of_ns3_are_those_of_its_output(path: Path) -> None:
    case, sender = path.stem.split("_")
    lines = [[int(word) for word in line.split()] for line in path.read_text(encoding="utf-8").splitlines()]
    times_ns = pl.DataFrame(lines, schema=["run", "flow", "fct_ns"], orient="row")
    stated = [one for one in PINT_FIGURES[case].reproduction.claims if one.name.endswith(f"_{sender}")]
    assert stated
    for claim in stated:
        if isinstance(claim.measure, FlowPercentileMeasure):
            # p4cc's own percentile, of each run.
            share = claim.measure.percent / 100
            part = pl.col("fct_ns").sort().get((pl.len() * share).floor().cast(pl.UInt32))
            theirs = times_ns.group_by("run").agg(part)["fct_ns"].median()
        elif isinstance(claim.measure, TableMeasure) and claim.measure.table == "flows":
            theirs = times_ns["fct_ns"].mean()
        else:
            continue
        assert claim.paper == pytest.approx(theirs, abs=1), claim.name
