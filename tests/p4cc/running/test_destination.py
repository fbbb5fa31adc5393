"""Results that another file made are not replaced: the run goes to a folder of its own, and the last line says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

import p4cc
from p4cc.cli import app
from p4cc.errors import UserError
from p4cc.running.destination import destination_of
from p4cc.running.request import RunRequest
from p4cc.running.result_folder import FILE, MANIFEST, read_manifest
from p4cc.running.runner import run_scenario
from p4cc.running.sweep import parse_over, sweep
from tests.p4cc.scenarios import scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

IDENTITY = {"kind": "run", "scenario": "base", "settings": "as written"}


def base(k_pkts: int) -> dict[str, Any]:
    """A scenario of the name that all here have."""
    data = scenario(stop_ns=200_000)
    data["name"] = "base"
    data["switch"]["thresholds"] = {"k_rule": "fixed", "k_pkts": k_pkts, "k_dc_pkts": 40}
    return data


def written(path: Path, k_pkts: int) -> Path:
    """The file of such a scenario."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(base(k_pkts)), encoding="utf-8")
    return path


def lines(path: Path, *more: str) -> list[str]:
    """What `p4cc run` prints."""
    done = CliRunner().invoke(app, ["run", str(path), "--no-figures", *more])
    assert done.exit_code == 0, done.output
    return done.stdout.splitlines()


def contents(folder: Path) -> Mapping[str, bytes]:
    """The files of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("here")
def test_two_files_of_one_name_keep_their_results() -> None:
    first, second = written(Path("first_idea.yaml"), 20), written(Path("second_idea.yaml"), 10)
    assert lines(first)[-1] == "wrote results/base"
    before = contents(Path("results/base"))
    said = "results/base-second_idea: results/base holds results of first_idea.yaml"
    assert lines(second)[-1] == f"wrote {said}"
    assert contents(Path("results/base")) == before
    assert lines(second)[-1] == f"unchanged {said}"
    assert lines(first)[-1] == "unchanged results/base"
    # A file that was edited replaces its own.
    written(second, 15)
    assert lines(second)[-1] == f"wrote {said}"
    written(first, 21)
    assert lines(first)[-1] == "wrote results/base"
    assert sorted(path.name for path in Path("results").iterdir() if path.name[0] != ".") == [
        "base",
        "base-second_idea",
    ]


@pytest.mark.usefixtures("here")
def test_a_file_of_the_same_name_in_another_folder_is_another_file() -> None:
    one, other, third = (written(Path(place) / "base.yaml", 20) for place in ("a", "b", "c"))
    folders = [run_scenario(RunRequest(path, figures=False, quiet=True)).folder for path in (one, other, third, other)]
    assert folders[0] == Path("results/base")
    assert folders[1] == folders[3]
    assert len(set(folders)) == 3


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("of", [dict, p4cc.Scenario.model_validate])
def test_two_scenarios_of_python_keep_their_results(of: Callable[[dict[str, Any]], Any]) -> None:
    one, other = p4cc.run(of(base(20)), quiet=True), p4cc.run(of(base(10)), quiet=True)
    assert one.folder == Path("results/base")
    assert other.folder.name.startswith("base-python-")
    again = [p4cc.run(of(base(k_pkts)), quiet=True).folder for k_pkts in (10, 20)]
    assert again == [other.folder, one.folder]
    held = [json.loads((folder / "scenario.json").read_text(encoding="utf-8")) for folder in again]
    assert [data["switch"]["thresholds"]["k_pkts"] for data in held] == [10, 20]
    # A folder that is named takes what its name stands for.
    named = [p4cc.run(of(base(k_pkts)), quiet=True, out="mine").folder for k_pkts in (10, 20)]
    assert named == [Path("mine")] * 2


@pytest.mark.usefixtures("here")
def test_results_stay_where_they_are_when_another_folder_becomes_free() -> None:
    first, second = written(Path("first.yaml"), 20), written(Path("second.yaml"), 10)
    for path in (first, second):
        run_scenario(RunRequest(path, figures=False, quiet=True))
    for file in Path("results/base").iterdir():
        file.unlink() if file.is_file() else [inner.unlink() for inner in file.iterdir()]
    assert run_scenario(RunRequest(second, figures=False, quiet=True)).folder == Path("results/base-second")


@pytest.mark.usefixtures("here")
def test_a_folder_that_is_asked_for_is_refused_not_replaced() -> None:
    first, second = written(Path("first.yaml"), 20), written(Path("second.yaml"), 10)
    run_scenario(RunRequest(first, out=Path("out"), figures=False, quiet=True))
    before = contents(Path("out"))
    with pytest.raises(UserError, match=r"file: first\.yaml, not second\.yaml"):
        run_scenario(RunRequest(second, out=Path("out"), figures=False, quiet=True))
    assert contents(Path("out")) == before
    run_scenario(RunRequest(second, out=Path("out"), figures=False, quiet=True, force=True))
    assert contents(Path("out")) != before


@pytest.mark.usefixtures("here")
def test_sweeps_of_two_files_keep_their_results() -> None:
    from p4cc.running.sweep import SweepRequest

    over = (parse_over("switch.thresholds.k_dc_pkts=40,50"),)
    paths = written(Path("first.yaml"), 20), written(Path("second.yaml"), 10)
    one, other = (sweep(SweepRequest(RunRequest(path, quiet=True), over, figure=None)) for path in paths)
    assert one.folder.name.startswith("base-sweep-")
    assert other.folder == one.folder.with_name(f"{one.folder.name}-second")
    assert (one.aside, other.aside) == ("", f"{one.folder} holds results of first.yaml")


def test_manifests_that_do_not_name_a_file_are_the_scenarios(here: Path) -> None:
    folder = here / "results" / "base"
    folder.mkdir(parents=True)
    (folder / MANIFEST).write_text(json.dumps({"format": "p4cc results 1", "identity": IDENTITY, "files": {}}))
    found = destination_of(folder, here / "any.yaml", IDENTITY, is_asked_for=False)
    assert (found.folder, found.aside) == (folder, "")


def test_the_file_is_named_from_the_folder_of_results_on(here: Path) -> None:
    path = written(Path("a/base.yaml"), 20)
    outcome = run_scenario(RunRequest(path, figures=False, quiet=True))
    manifest = read_manifest(here / outcome.folder)
    assert manifest is not None
    assert manifest.identity[FILE] == "../a/base.yaml"
