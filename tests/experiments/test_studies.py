"""The studies of experiments/: all figures are there, every claim names what there is, exact numbers are exact."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from p4cc.reproduce.figure import Figure
from p4cc.reproduce.items import place
from p4cc.reproduce.markup import slug
from p4cc.reproduce.models import rise_in_rounds
from p4cc.reproduce.run import claims_of, figures_of
from p4cc.reproduce.study import known_studies
from p4cc.scenario.claims import CombineMeasure, FarthestMeasure, RoundModelMeasure, WorstRatioMeasure
from p4cc.scenario.distribution_claims import KolmogorovMeasure, Rows, ShiftMeasure
from p4cc.scenario.where import OfRuns

if TYPE_CHECKING:
    from p4cc.scenario.claims import Reproduction

FIGURES = {
    "bolt": ["join", "places", "incast", "flood", "hadoop", "fast"],
    "controller_latency": ["latency", "fixed"],
    "cubic": ["mean window 100 ms", "mean window 10 ms", "hystart", "abe"],
    "d3": [
        "supported",
        "14",
        "14 small",
        "15",
        "15 long",
        "16",
        "16 TCP",
        "grants",
        "soft",
        "changing",
        "multihop",
        "coexistence",
    ],
    "ecn_rules": ["rtt"],
    "eqds": [
        *("EQDS incast of 16", "EQDS incast of 128", "EQDS permutation"),
        *("RCCC incast of 16", "RCCC incast of 128", "RCCC permutation"),
    ],
    "gst": [
        *("1", "2", "2-rounds", "3", "4", "6", "7", "8", "9a", "9b", "9b-reno", "9-completion", "9a-deadlines"),
        *("10a", "10b", "11", "11-reno", "12", "fairness", "10-link", "10-windows", "entry", "ns2-readings"),
        "sensitivity",
        *("readings", "readings-6", "readings-11"),
    ],
    "hpcc": ["H-incast", "reaction", "fairness", "wai", "dcqcn-forms", "ns3-hpcc", "ns3-dcqcn"],
    "league": [
        name + over
        for name in ("incast", "web search", "permutation", "all-to-all")
        for over in ("", " over one transport")
    ],
    "collectives": ["ring", "halving", "all-to-all", "placement"],
    "load_balancing": ["permutation", "web search"],
    "ndp": ["htsim incast of 16", "htsim incast of 128", "htsim permutation", "htsim permutation of 1024"],
    "nscc": [
        *("htsim incast of 15", "htsim incast of 127", "htsim permutation", "htsim drops 15", "htsim drops 127"),
        *("ways", "htsim paths of flows", "htsim oblivious paths", "htsim bitmap of paths", "htsim recycled paths"),
    ],
    "pint": ["ns-3 incast of 16", "ns-3 permutation", "ns-3 WebSearch"],
    "powertcp": ["incast", "incast100", "fairness"],
    "prague": ["coupling", "pacing"],
    "rfb_ss": ["2", "2-eighth", "3", "4", "fairness"],
    "skew": [
        *("U-base", "U-hpcc-fct", "U-matrix", "U-35", "U-cells", "U-cc-uni", "U-cc-skew", "U-noend", "U-table"),
        *("U-storm", "U-bound", "U-ack"),
    ],
    "skew_next": ["tuned", "fat-tree", "leaf-spine", "spray-timer"],
    "swift": ["fan-in", "htsim permutation", "htsim incast", "htsim fan-in"],
    # The rows of docs/algorithms/reproductions.md#y-corr's reverse congestion is Y-ack.
    "timely": [
        *(
            "Y-rtt",
            "Y-inc",
            "Y-uneven",
            "Y-four",
            "Y-join",
            "Y-dctcp",
            "Y-fast",
            "Y-qsz",
            "Y-tlow",
            "Y-thigh",
            "Y-thigh-every",
            "Y-hai",
            "Y-noise",
            "Y-clos",
            "Y-clos-every",
        ),
        *("Y-inc-bg", "Y-corr", "Y-marks", "Y-stamps", "Y-ack", "Y-pace", "Y-app"),
    ],
}

REPRODUCTION = Path(__file__).resolve().parents[2] / "docs" / "reproduction"
PAGES = [page for page in sorted(REPRODUCTION.glob("*.md")) if page.name != "README.md"]


@pytest.fixture(scope="module")
def figures() -> dict[str, list[Figure]]:
    """All figures of all studies."""
    return {name: figures_of(study) for name, study in known_studies().items()}


def test_all_figures_of_the_papers_are_there(figures: dict[str, list[Figure]]) -> None:
    assert {name: [figure.name for figure in of] for name, of in figures.items()} == FIGURES


def test_what_claims_name_is_there(figures: dict[str, list[Figure]]) -> None:
    for name, of in figures.items():
        known = {f"{figure.name}.{claim.name}" for figure in of for claim in figure.reproduction.measured}
        for figure in of:
            variants = {variant.name for variant in figure.scenario.variants}
            for claim in figure.reproduction.measured:
                how = claim.measure.of if isinstance(claim.measure, FarthestMeasure) else claim.measure
                if isinstance(how, OfRuns | RoundModelMeasure | Rows):
                    assert how.variant in variants, f"{name} figure {figure.name}: {claim.name}"
                if isinstance(how, KolmogorovMeasure | ShiftMeasure):
                    assert {how.of.variant, how.to.variant} <= variants, f"{name} figure {figure.name}: {claim.name}"
                if isinstance(how, WorstRatioMeasure):
                    assert how.to_variant in variants, f"{name} figure {figure.name}: {claim.name}"
        for reproduction in known_studies()[name].study.over_all:
            for claim in reproduction.measured:
                assert isinstance(claim.measure, CombineMeasure)
                assert {claim.measure.of, claim.measure.to} <= known


def test_a_figure_names_each_number_in_other_words() -> None:
    """A page has no other name for a number: rows of one text were once taken for each other."""
    for name, study in known_studies().items():
        for of in (*(figure.reproduction for figure in figures_of(study)), *study.study.over_all):
            texts = [one.text for one in of.measured]
            assert sorted(set(texts)) == sorted(texts), f"{name}, {of.figure}"


def test_the_round_model_gives_the_numbers_of_the_rfb_ss_paper_exactly(figures: dict[str, list[Figure]]) -> None:
    """docs/algorithms/reproductions.md#r-2, #r-34: 5, 8 and 14 rounds; 2.8, 2.24 and 1.96 s; the standard's 1 round."""
    exact = 0
    for figure in figures["rfb_ss"]:
        for claim in figure.reproduction.claims:
            if isinstance(claim.measure, RoundModelMeasure):
                assert rise_in_rounds(figure.scenario, claim.measure) == claim.paper, claim.name
                exact += 1
    assert exact == 15


@pytest.mark.parametrize("name", FIGURES)
def test_every_item_of_a_source_has_a_figure_or_a_reason(name: str, figures: dict[str, list[Figure]]) -> None:
    study = known_studies()[name]
    placed, _ = place(study.study.items, claims_of(study, figures[name]))
    assert len(placed) >= 2
    for one in placed:
        assert one.item is not None
        assert one.claims or one.item.not_reproduced or one.item.kept_by, one.item.item


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_a_page_has_the_items_of_its_study_in_their_order(page: Path) -> None:
    """The remedy: `p4cc reproduce NAME --report-to docs/reproduction`."""
    shown = re.findall(r'<a id="item-([a-z0-9-]+)"></a>', page.read_text(encoding="utf-8"))
    assert shown == [slug(item.item) for item in known_studies()[page.stem].study.items]


# ---- what counts as a number of a source, and what does not ----

SOURCES = {
    "d3": "D3 2011",
    "gst": "GST 2017",
    "prague": "RFC 9332",
    "rfb_ss": "RFB-SS",
    "skew": "the report",
    "timely": "TIMELY 2015",
}
"""How each study cites its source."""


def all_of(name: str, figures: dict[str, list[Figure]]) -> list[Reproduction]:
    """What a study measures."""
    return [*(figure.reproduction for figure in figures[name]), *known_studies()[name].study.over_all]


def test_a_yes_or_no_or_a_place_is_no_number_of_a_source(figures: dict[str, list[Figure]]) -> None:
    """A sender that finishes, a timeout and a rank were once numbers with bands of 10 %: they are statements."""
    for name in figures:
        for of in all_of(name, figures):
            for claim in of.claims:
                how = claim.measure
                assert how.kind not in ("outcome", "flow_rank", "model_peak"), f"{name}: {of.figure}.{claim.name}"
                assert getattr(how, "seeds", "") != "share_above_0", f"{name}: {of.figure}.{claim.name}"


def test_timeouts_are_those_of_the_median_run(figures: dict[str, list[Figure]]) -> None:
    """Limits were of the median run and timeouts of any: one statistic decides for all."""
    judged = [(of, one) for of in all_of("gst", figures) for one in (*of.claims, *of.expectations)]
    counted = [one for _, one in judged if str(getattr(one.measure, "column", "")).endswith("timeouts")]
    assert len(counted) > 20
    assert {getattr(one.measure, "seeds", "median") for one in counted} == {"median"}


@pytest.mark.parametrize("name", SOURCES)
def test_statements_cite_their_source_and_own_expectations_do_not(name: str, figures: dict[str, list[Figure]]) -> None:
    source = SOURCES[name]
    for of in all_of(name, figures):
        for claim in of.claims:
            assert claim.at.startswith(source), f"{of.figure}.{claim.name}"
        for one in of.expectations:
            where = f"{of.figure}.{one.name}"
            assert not one.at or one.at.startswith(source), where
            assert one.at or not one.band.source.startswith(source), f"{where} is of the source: say where in `at`"


def test_no_number_that_is_shown_has_the_source_beside_it(figures: dict[str, list[Figure]]) -> None:
    """`(the paper: 16)` in a text was a comparison without a verdict."""
    for name in figures:
        for of in all_of(name, figures):
            for one in of.numbers:
                beside = "the paper:" in one.text or "the source:" in one.text
                assert not beside or of.why_apart(one.name), f"{name}: {of.figure}.{one.name}"
