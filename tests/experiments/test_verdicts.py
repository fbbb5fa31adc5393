"""`experiments/verdicts.json` against the experiments and the pages: nothing changes without its history."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from p4cc.errors import UserError
from p4cc.reproduce.figure import Figure
from p4cc.reproduce.markup import linked
from p4cc.reproduce.measure import Measured
from p4cc.reproduce.page import MARKER, digest_of_body
from p4cc.reproduce.report import INDEX, index_of
from p4cc.reproduce.run import ReproduceRequest, figures_of, reproduce
from p4cc.reproduce.study import StudyFile, find_study, known_studies
from p4cc.reproduce.sums import sums_of, total
from p4cc.reproduce.table import number
from p4cc.reproduce.verdict import judge, record
from p4cc.reproduce.verdict_file import FILE, Made, Results, questions, read_verdicts, write_verdicts
from p4cc.running.request import RunRequest
from p4cc.scenario.claims import Claim, CombineMeasure, Expectation
from p4cc.scenario.stated import Change

if TYPE_CHECKING:
    from collections.abc import Callable

    from p4cc.reproduce.verdict import ClaimRecord
    from p4cc.reproduce.verdict_file import Entry
    from p4cc.scenario.claims import Reproduction

PAGES = Path(__file__).resolve().parents[2] / "docs" / "reproduction"
HELD = read_verdicts(FILE)
NAMES = list(HELD["studies"])
CHEAP = [("rfb_ss", "2"), ("rfb_ss", "3"), ("rfb_ss", "4"), ("powertcp", "incast"), ("powertcp", "fairness")]
"""Figures of a few seconds: every run of the tests makes some of them again."""
AGAIN = 2
FOUR = 4
"""Digits of a number that a page gave."""
MADE = Made(version="0", commit="none", day="2026-11-27", digits=17)


@pytest.fixture(scope="module")
def studies() -> dict[str, tuple[StudyFile, list[Figure]]]:
    """All studies with their figures."""
    return {name: (study, figures_of(study)) for name, study in known_studies().items()}


def every_of(study: StudyFile, figures: list[Figure]) -> list[Reproduction]:
    """What a study measures, figure by figure."""
    return [*(figure.reproduction for figure in figures), *study.study.over_all]


def judged(entry: Entry, asked: Claim | Expectation, of: Reproduction) -> ClaimRecord:
    """The record that a number has now, with the measured value of the file."""
    few = "" if isinstance(asked, Expectation) or asked.not_comparable else entry["reason"]
    return judge(asked, Measured(entry["measured"], few=few), of.figure, of.history)


@pytest.mark.parametrize("name", NAMES)
def test_the_file_is_of_the_experiments(name: str, studies: dict[str, tuple[StudyFile, list[Figure]]]) -> None:
    """The remedy: an entry in the number's `history`, then `p4cc reproduce --all --json`."""
    study, figures = studies[name]
    held = HELD["studies"][name]["records"]
    now = questions(study, figures, dict(HELD["defaults"]))
    shown = {key.partition(".")[0] for key in held}
    # A statement on a percentile of too few values has none, and its study says so.
    gone = {one.number for one in study.study.withdrawn}
    for of in every_of(study, figures):
        for asked in (*of.claims, *of.expectations):
            key = f"{of.figure}.{asked.name}"
            undecided = isinstance(asked, Expectation) and key in gone
            assert key in held or undecided or of.figure not in shown, f"{key} has no verdict"
            if key not in held:
                continue
            entry, found = held[key], judged(held[key], asked, of)
            assert entry["asked"] == now[key], f"{key}: band, measure, filter, grid, base or default changed silently"
            assert entry["history"] == len(found["history"]), f"{key}: its history is not that of the file"
            assert entry["verdict"] == found["verdict"], f"{key}: another verdict"
            for part in ("paper", "at", "reading", "counts_as"):
                assert entry[part] == found[part], f"{key}: another {part}"
            band = found["band"]
            assert band is not None
            assert entry["band"] == [band["min"], band["max"]]
    assert held.keys() <= now.keys()


def test_shares_near_their_whole_say_so(studies: dict[str, tuple[StudyFile, list[Figure]]]) -> None:
    """The bands of these are of what is missing to the whole (docs/reproduction/README.md#rules)."""
    for name, (study, figures) in studies.items():
        for of in every_of(study, figures):
            for claim in of.claims:
                how = claim.measure.model_dump()
                of_seeds = how["kind"] == "flow_share" or how.get("seeds") == "share_above_0"
                whole = 100 if claim.unit == "%" else 1
                if of_seeds or claim.unit == "%" or str(how.get("column")).startswith("jain"):
                    near = whole / 2 < claim.paper <= whole
                    assert not near or claim.whole == whole, f"{name}: {of.figure}.{claim.name} is a share"


def test_a_statement_does_not_repeat_numbers_that_count(
    studies: dict[str, tuple[StudyFile, list[Figure]]],
) -> None:
    """What only combines numbers that count, or measures as one of them does, is an expectation of p4cc's own."""
    found: set[str] = set()
    for name, (study, figures) in studies.items():
        every = every_of(study, figures)
        counted = {f"{of.figure}.{claim.name}" for of in every for claim in of.claims if not claim.derived}
        for of in every:
            measured = [claim.measure for claim in of.claims if not claim.derived]
            for one in of.expectations:
                how = one.measure
                both = (how.of, how.to) if isinstance(how, CombineMeasure) else ()
                parts = {part if "." in part else f"{of.figure}.{part}" for part in both}
                if one.at and (how in measured or (parts and parts <= counted)):
                    found.add(f"{name}.{of.figure}.{one.name}")
    assert not found


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_the_commits_of_a_page_are_in_the_repository(page: Path) -> None:
    git = ["git", "-C", str(PAGES)]
    done = subprocess.run([*git, "rev-parse", "--is-shallow-repository"], capture_output=True, text=True, check=False)
    if done.stdout.strip() != "false":
        pytest.skip("no repository with its history")
    for commit in re.findall(r"commit `([0-9a-f]{7,40})`", page.read_text(encoding="utf-8")):
        found = subprocess.run([*git, "merge-base", "--is-ancestor", commit, "HEAD"], capture_output=True, check=False)
        assert found.returncode == 0, f"{commit} is no ancestor of this commit"


def test_every_study_with_a_page_is_in_the_file_and_the_sums_are_of_its_records(
    studies: dict[str, tuple[StudyFile, list[Figure]]],
) -> None:
    assert set(NAMES) == {page.stem for page in PAGES.glob("*.md")} - {"README"}
    for name, held in HELD["studies"].items():
        assert held["sums"] == sums_of(held["records"].values(), studies[name][0].study.items).facts(), name
    assert HELD["sums"] == total([held["sums"] for held in HELD["studies"].values()])


@pytest.mark.parametrize("name", NAMES)
def test_a_page_says_what_the_file_says(name: str, studies: dict[str, tuple[StudyFile, list[Figure]]]) -> None:
    """The remedy: `p4cc reproduce NAME --report-to docs/reproduction`; a page is not edited."""
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    facts = json.loads(text.partition("\n")[0].removeprefix(MARKER).removesuffix(" -->"))
    held = HELD["studies"][name]
    assert {key: facts[key] for key in held["sums"]} == held["sums"]
    study, figures = studies[name]
    rows = text.splitlines()
    for of in every_of(study, figures):
        for asked in (*of.claims, *of.expectations):
            entry = held["records"].get(f"{of.figure}.{asked.name}")
            if entry is None:
                continue
            found = judged(entry, asked, of)
            ours = number(entry["measured"]) + (
                f" {asked.unit}" if asked.unit and entry["measured"] is not None else ""
            )
            said = str(found["verdict"])
            ends = f"| **{said}** |" if said in ("outside", "not met") else f"| {said} |"
            begins = f"| {linked(asked.text, PAGES)} "
            mine = [row for row in rows if row.startswith(begins)]
            assert any(linked(ours, PAGES) in row and row.endswith(ends) for row in mine), f"{of.figure}.{asked.name}"


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_as_it_was_written(name: str) -> None:
    """No word of a page is edited. The remedy is that of the test above."""
    first, _, body = (PAGES / f"{name}.md").read_text(encoding="utf-8").partition("\n")
    facts = json.loads(first.removeprefix(MARKER).removesuffix(" -->"))
    assert facts["digest"] == digest_of_body(body), "edited after p4cc wrote it"


def test_the_index_is_of_the_pages() -> None:
    assert (PAGES / INDEX).read_text(encoding="utf-8") == index_of(PAGES)


def test_a_sample_of_the_numbers_comes_out_again(tmp_path: Path) -> None:
    """Which figures: the seed is P4CC_SAMPLE, or the file itself."""
    seed = os.environ.get("P4CC_SAMPLE", hashlib.sha256(FILE.read_bytes()).hexdigest())
    for name, figure in random.Random(seed).sample(CHEAP, AGAIN):
        study = find_study(name)
        run = RunRequest(study.path, tmp_path / name / figure, jobs=1, quiet=True)
        request = ReproduceRequest(study, run, only=(figure,))
        held = HELD["studies"][name]
        shown: Callable[[float | None], str] = repr if held["made"]["digits"] > FOUR else number
        for one in reproduce(request).records:
            for key, value in one["measured"].items():
                entry = held["records"].get(f"{figure}.{key}")
                if entry is not None:
                    assert shown(value) == shown(entry["measured"]), f"{name} {figure}.{key}, seed {seed}"


# ---- a change without its history ----


def results_of(study: StudyFile, figures: list[Figure]) -> Results:
    """The study's records with the numbers that the file has."""
    held = HELD["studies"][study.study.name]["records"]

    def values(of: Reproduction) -> dict[str, Measured]:
        known = {one.name: held.get(f"{of.figure}.{one.name}") for one in of.measured}
        return {name: Measured(None if entry is None else entry["measured"]) for name, entry in known.items()}

    records = {of.figure: record("title", of, values(of)) for of in every_of(study, figures)}
    return Results(study, figures, records, MADE)


def changed(figures: list[Figure], change: Callable[[Figure], dict[str, Any]]) -> list[Figure]:
    """The figures, of which the first is changed."""
    first = figures[0]
    parts = change(first)
    scenario = parts.get("scenario", first.scenario)
    return [Figure(first.entry, first.path, scenario, parts.get("reproduction", first.reproduction)), *figures[1:]]


def of_claims(kind: str, **update: Any) -> Callable[[Figure], dict[str, Any]]:
    """Changes the first claim or expectation."""

    def change(figure: Figure) -> dict[str, Any]:
        first, *rest = getattr(figure.reproduction, kind)
        claims = [first.model_copy(update=update), *rest]
        return {"reproduction": figure.reproduction.model_copy(update={kind: claims})}

    return change


def of_measure(**update: Any) -> Callable[[Figure], dict[str, Any]]:
    """Changes the first claim's measure."""

    def change(figure: Figure) -> dict[str, Any]:
        measure = figure.reproduction.claims[0].measure.model_copy(update=update)
        return of_claims("claims", measure=measure)(figure)

    return change


def of_scenario(**update: Any) -> Callable[[Figure], dict[str, Any]]:
    """Changes the scenario: its base or its grid."""
    return lambda figure: {"scenario": figure.scenario.model_copy(update=update)}


CHANGES = {
    "the source's number": of_claims("claims", paper=2.0),
    "the reading": of_claims("claims", reading="figure"),
    "a number that is not comparable any more": of_claims("claims", not_comparable="it does not fit"),
    "what it counts as": of_claims("claims", same_as="rfb_560"),
    "a number that does not count any more": of_claims("claims", derived="1 by 1"),
    "the whole": of_claims("claims", whole=1.0),
    "the measure": of_measure(to_segments=48.0),
    "the base": of_scenario(seeds=[7]),
    "the grid": of_scenario(sweep={"transport.iw": [1, 2]}),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_silent_change_is_not_written(what: str, tmp_path: Path) -> None:
    study = find_study("rfb_ss")
    figures = figures_of(study)
    path = tmp_path / "verdicts.json"
    write_verdicts(path, [results_of(study, figures)])
    before = path.read_bytes()
    write_verdicts(path, [results_of(study, figures)])
    assert path.read_bytes() == before
    other = changed(figures, CHANGES[what])
    with pytest.raises(UserError, match="its history does not say so"):
        write_verdicts(path, [results_of(study, other)])
    assert path.read_bytes() == before


def test_a_change_with_its_history_is_written(tmp_path: Path) -> None:
    study = find_study("rfb_ss")
    figures = figures_of(study)
    path = tmp_path / "verdicts.json"
    write_verdicts(path, [results_of(study, figures)])
    first = figures[0].reproduction.claims[0]
    told = [*first.history, Change(date="2026-11-28", before="1 round", after="2 rounds", why="read again")]
    other = changed(figures, of_claims("claims", paper=2.0, history=told))
    held = write_verdicts(path, [results_of(study, other)])
    assert held["studies"]["rfb_ss"]["records"][f"2.{first.name}"]["verdict"] == "outside"


def test_a_wider_band_of_an_expectation_is_a_change(tmp_path: Path) -> None:
    study = find_study("rfb_ss")
    figures = figures_of(study)
    path = tmp_path / "verdicts.json"
    write_verdicts(path, [results_of(study, figures)])
    band = figures[0].reproduction.expectations[0].band.model_copy(update={"min": 0.0, "max": 1e9})
    with pytest.raises(UserError, match="its history does not say so"):
        write_verdicts(path, [results_of(study, changed(figures, of_claims("expectations", band=band)))])


def test_whose_bound_it_is_does_not_change_silently(tmp_path: Path) -> None:
    study = find_study("rfb_ss")
    figures = figures_of(study)
    path = tmp_path / "verdicts.json"
    write_verdicts(path, [results_of(study, figures)])
    first = figures[0].reproduction.expectations[0]
    assert not first.at
    stated = of_claims("expectations", at="RFB-SS, 4")
    with pytest.raises(UserError, match="its history does not say so"):
        write_verdicts(path, [results_of(study, changed(figures, stated))])
    told = [*first.history, Change(date="2026-11-28", before="own", after="the source's", why="it states it")]
    stated = of_claims("expectations", at="RFB-SS, 4", history=told)
    held = write_verdicts(path, [results_of(study, changed(figures, stated))])
    assert held["sums"]["stated_met"] == HELD["studies"]["rfb_ss"]["sums"]["stated_met"] + 1


def test_a_default_that_changed_changes_every_number_that_hangs_on_it(tmp_path: Path) -> None:
    study = find_study("rfb_ss")
    figures = figures_of(study)
    path = tmp_path / "verdicts.json"
    held = write_verdicts(path, [results_of(study, figures)])
    # As if the default had been another one when the file was written.
    name = next(key for key, value in held["defaults"].items() if key.startswith("Scenario.") and value is None)
    held["defaults"][name] = "something else"
    path.write_text(json.dumps(held), encoding="utf-8")
    with pytest.raises(UserError, match="its history does not say so"):
        write_verdicts(path, [results_of(study, figures)])
    # A default that the file does not know is a new option, which changes nothing.
    held["defaults"].pop(name)
    path.write_text(json.dumps(held), encoding="utf-8")
    assert write_verdicts(path, [results_of(study, figures)])["defaults"][name] is None


def test_a_number_does_not_vanish(tmp_path: Path) -> None:
    study = find_study("rfb_ss")
    figures = figures_of(study)
    path = tmp_path / "verdicts.json"
    write_verdicts(path, [results_of(study, figures)])

    def without_the_first(figure: Figure) -> dict[str, Any]:
        return {"reproduction": figure.reproduction.model_copy(update={"claims": figure.reproduction.claims[1:]})}

    with pytest.raises(UserError, match="was judged before and is missing now"):
        write_verdicts(path, [results_of(study, changed(figures, without_the_first))])
