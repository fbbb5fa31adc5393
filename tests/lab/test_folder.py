"""The folder of a lab: what labs wrote goes with the next one, what others wrote stays."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from p4cc.errors import UserError
from p4cc.lab.folder import lab_folder
from p4cc.lab.plan import LabRequest

IDENTITY = {"kind": "lab", "lab": "basic", "settings": "as written"}


def lab(folder: Path, name: str = "logs/s1.log") -> str:
    """A lab that writes one file; what it says of one that was killed."""
    with lab_folder(folder, IDENTITY) as aside:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("of a lab", encoding="utf-8")
    return aside


def files(folder: Path) -> dict[str, str]:
    """What is there, manifest excepted."""
    return {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "p4cc-manifest.json"
    }


def test_a_lab_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    lab(tmp_path / "lab")
    (tmp_path / "lab" / "notes.md").write_text("mine", encoding="utf-8")
    assert lab(tmp_path / "lab", "pcaps/s1.pcap") == ""
    assert files(tmp_path / "lab") == {"notes.md": "mine", "pcaps/s1.pcap": "of a lab"}


@pytest.mark.parametrize("name", ["logs/s1.log", "logs/mine.log", "summary.json"])
def test_logs_of_others_stay(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine", encoding="utf-8")
    with pytest.raises(UserError, match="something other than results"):
        lab(tmp_path)
    assert files(tmp_path) == {name: "mine"}


@pytest.mark.parametrize("name", ["logs/s1.log", "logs/mine.log"])
def test_logs_of_others_among_those_of_a_lab_stay(tmp_path: Path, name: str) -> None:
    lab(tmp_path)
    (tmp_path / name).write_text("mine", encoding="utf-8")
    with pytest.raises(UserError, match=name):
        lab(tmp_path)
    assert files(tmp_path)[name] == "mine"


def test_what_a_killed_lab_left_is_set_aside(tmp_path: Path) -> None:
    for _ in range(2):
        child = os.fork()
        if child == 0:
            with lab_folder(tmp_path, IDENTITY):
                (tmp_path / "logs").mkdir(exist_ok=True)
                (tmp_path / "logs" / "s1.log").write_text("killed", encoding="utf-8")
                os._exit(9)
        os.waitpid(child, 0)
    assert lab(tmp_path) == str(tmp_path / "killed-2")
    killed = {f"killed-{number}/logs/s1.log": "killed" for number in (1, 2)}
    assert files(tmp_path) == {**killed, "logs/s1.log": "of a lab"}


def test_a_lab_that_did_not_start_leaves_no_folder(tmp_path: Path) -> None:
    def fail() -> None:
        with lab_folder(tmp_path / "lab", IDENTITY):
            raise UserError("no switch")

    with pytest.raises(UserError, match="no switch"):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_every_exercise_has_a_folder(tmp_path: Path) -> None:
    tutorials = [tmp_path / name / "pod-topo" / "topology.json" for name in ("basic", "ecn")]
    requests = [LabRequest(str(path), is_import=True) for path in tutorials]
    requests += [LabRequest(str(tutorials[0]), is_import=True, programs=("solution/basic.p4",))]
    requests += [LabRequest("incast.yaml"), LabRequest("incast.yaml", overrides=("seeds=[2]",))]
    folders = [str(request.folder) for request in requests]
    assert len(set(folders)) == len(folders)
    assert [folder.split("/")[2].split("-")[0] for folder in folders] == ["basic", "ecn", "basic", "incast", "incast"]
    assert folders[3] == "results/lab/incast"
