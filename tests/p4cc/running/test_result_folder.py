"""Folders of results: nothing of the user's is removed, whatever stands there."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from p4cc.errors import UserError
from p4cc.running.result_folder import MANIFEST, Claim, read_manifest, results_into
from tests.p4cc.scenarios import run, scenario

if TYPE_CHECKING:
    from collections.abc import Mapping

WAS = {"kind": "run", "scenario": "small", "settings": "as written"}
NAMES = ("summary.json", "flows.parquet", "goodput.png")


def write(
    folder: Path, files: Mapping[str, str], *, force: bool = False, identity: dict[str, str] | None = None
) -> None:
    """Results with this content."""
    with results_into(Claim(folder, identity or WAS, NAMES, force)) as partial:
        for name, text in files.items():
            (partial / name).write_text(text, encoding="utf-8")


def contents(folder: Path) -> dict[str, str]:
    """What a folder holds, manifest excepted."""
    return {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != MANIFEST
    }


def test_results_replace_results_and_nothing_else(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    write(out, {"summary.json": "1", "goodput.png": "old"})
    (out / "notes.ipynb").write_text("mine", encoding="utf-8")
    write(out, {"summary.json": "2", "flows.parquet": "new"})
    assert contents(out) == {"summary.json": "2", "flows.parquet": "new", "notes.ipynb": "mine"}
    assert [path.name for path in out.parent.iterdir()] == ["out"]


def test_a_folder_that_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "summary.json").write_text("mine", encoding="utf-8")
    with pytest.raises(UserError, match="something other than results") as refused:
        write(tmp_path, {"summary.json": "2"})
    assert "--out" in refused.value.remedy
    assert contents(tmp_path) == {"summary.json": "mine"}


@pytest.mark.parametrize("name", ["summary.json", "goodput.png"])
def test_a_result_that_was_changed_is_the_users(tmp_path: Path, name: str) -> None:
    write(tmp_path, {"summary.json": "1", "goodput.png": "old"})
    (tmp_path / name).write_text("edited", encoding="utf-8")
    for force in (False, True):
        with pytest.raises(UserError, match=f"{name} was changed since"):
            write(tmp_path, {"summary.json": "2"}, force=force)
    assert contents(tmp_path)[name] == "edited"


def test_a_file_with_the_name_of_a_result_is_the_users(tmp_path: Path) -> None:
    write(tmp_path, {"summary.json": "1"})
    (tmp_path / "goodput.png").write_text("mine", encoding="utf-8")
    with pytest.raises(UserError, match=r"goodput\.png has the name of a result"):
        write(tmp_path, {"summary.json": "2"})
    assert contents(tmp_path) == {"summary.json": "1", "goodput.png": "mine"}


def test_a_file_that_appears_while_a_run_is_under_way_stays(tmp_path: Path) -> None:
    out = tmp_path / "out"

    def work() -> None:
        with results_into(Claim(out, WAS, NAMES)) as partial:
            (partial / "summary.json").write_text("1", encoding="utf-8")
            (out / "summary.json").write_text("mine", encoding="utf-8")

    with pytest.raises(UserError, match="appeared there") as refused:
        work()
    assert contents(out) == {"summary.json": "mine"}
    (kept,) = (path for path in tmp_path.iterdir() if path != out)
    assert str(kept) in refused.value.remedy
    assert contents(kept) == {"summary.json": "1"}


def test_results_of_other_settings_stay_unless_forced(tmp_path: Path) -> None:
    write(tmp_path, {"summary.json": "1"})
    other = {**WAS, "settings": "1a2b3c4d"}
    with pytest.raises(UserError, match="settings: as written, not 1a2b3c4d") as refused:
        write(tmp_path, {"summary.json": "2"}, identity=other)
    assert "--force" in refused.value.remedy
    assert contents(tmp_path) == {"summary.json": "1"}
    write(tmp_path, {"summary.json": "2"}, identity=other, force=True)
    assert contents(tmp_path) == {"summary.json": "2"}


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    write(old, {"summary.json": "1"})

    def fail(folder: Path) -> None:
        with results_into(Claim(folder, WAS, NAMES)) as partial:
            (partial / "summary.json").write_text("half", encoding="utf-8")
            raise KeyboardInterrupt

    for folder in (new, old):
        with pytest.raises(KeyboardInterrupt):
            fail(folder)
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    assert contents(old) == {"summary.json": "1"}


def test_a_second_call_is_kept_out(tmp_path: Path) -> None:
    with results_into(Claim(tmp_path / "out", WAS, NAMES)) as partial:
        with pytest.raises(UserError, match="another p4cc writes"):
            write(tmp_path / "out", {"summary.json": "2"})
        (partial / "summary.json").write_text("1", encoding="utf-8")
    assert contents(tmp_path / "out") == {"summary.json": "1"}


def test_what_a_killed_call_left_goes_with_the_next(tmp_path: Path) -> None:
    out = tmp_path / "out"
    child = os.fork()
    if child == 0:
        with results_into(Claim(out, WAS, NAMES)) as partial:
            (partial / "flows.parquet").write_text("half", encoding="utf-8")
            os._exit(9)
    os.waitpid(child, 0)
    (left,) = tmp_path.glob(".out-*.partial")
    (left / "flows.parquet").write_text("half", encoding="utf-8")
    write(out, {"summary.json": "1"})
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_call_killed_while_files_move_in_is_mended_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"flows.parquet": "old", "goodput.png": "old", "summary.json": "old"})
    replace, seen = Path.replace, [0]

    def dies(self: Path, target: Path) -> Path:
        seen[0] += 1
        # The manifest and one file are in place by then.
        if seen[0] == 3:
            raise KeyboardInterrupt
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", dies)
    with contextlib.suppress(KeyboardInterrupt):
        write(tmp_path, {"flows.parquet": "new", "summary.json": "new"})
    monkeypatch.undo()
    assert contents(tmp_path) == {"flows.parquet": "new", "goodput.png": "old", "summary.json": "old"}
    manifest = read_manifest(tmp_path)
    assert manifest is not None
    assert manifest.changed(tmp_path) == []
    write(tmp_path, {"summary.json": "whole"})
    assert contents(tmp_path) == {"summary.json": "whole"}


def test_places_that_cannot_take_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_text("mine", encoding="utf-8")
    with pytest.raises(UserError, match="is a file"):
        write(file, {"summary.json": "1"})
    with pytest.raises(UserError, match="cannot write"):
        write(file / "below", {"summary.json": "1"})
    write(tmp_path / "out", {"summary.json": "1"})

    def nearly_full(_: Path) -> SimpleNamespace:
        return SimpleNamespace(total=10, used=9, free=1)

    monkeypatch.setattr(shutil, "disk_usage", nearly_full)
    with pytest.raises(UserError, match="MB are free"):
        write(tmp_path / "out", {"summary.json": "2"})
    assert contents(tmp_path / "out") == {"summary.json": "1"}


@pytest.mark.parametrize(
    "held",
    [
        "{",
        "[]",
        "[" * 100_000,
        '{"format": "p4cc results 2"}',
        json.dumps({"format": "p4cc results 1", "identity": WAS, "files": {"../mine": "0"}}),
        json.dumps({"format": "p4cc results 1", "identity": WAS, "files": {"/etc/hosts": "0"}}),
        json.dumps({"format": "p4cc results 1", "identity": WAS, "files": {"flows.parquet": 1}}),
        json.dumps({"format": "p4cc results 1", "identity": [], "files": {}}),
    ],
)
def test_a_manifest_from_elsewhere_removes_nothing(tmp_path: Path, held: str) -> None:
    (tmp_path / MANIFEST).write_text(held, encoding="utf-8")
    assert read_manifest(tmp_path) is None
    with pytest.raises(UserError, match="something other"):
        write(tmp_path, {"summary.json": "1"})


def test_links_are_not_followed(tmp_path: Path) -> None:
    mine, out = tmp_path / "mine", tmp_path / "out"
    write(out, {"summary.json": "1"})
    mine.write_text("1", encoding="utf-8")
    (out / "summary.json").unlink()
    (out / "summary.json").symlink_to(mine)
    with pytest.raises(UserError, match="was changed"):
        write(out, {"summary.json": "2"})
    assert mine.read_text(encoding="utf-8") == "1"


FILES = st.dictionaries(
    st.sampled_from([*NAMES, "notes.md", "main.py", ".hidden", "sub/deep.txt", ".out-abc.partial", "rtts.parquet"]),
    st.text(st.characters(codec="ascii", exclude_characters="\r"), max_size=8),
    max_size=5,
)


@settings(max_examples=60)
@given(before=FILES, ours=st.booleans(), later=FILES, force=st.booleans(), same=st.booleans())
def test_no_foreign_file_changes(
    tmp_path_factory: pytest.TempPathFactory,
    before: dict[str, str],
    ours: bool,
    later: dict[str, str],
    force: bool,
    same: bool,
) -> None:
    out = tmp_path_factory.mktemp("any") / "out"
    if ours:
        write(out, {"summary.json": "result", "flows.parquet": "result"})
    foreign = dict(before)
    for name, text in before.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(text, encoding="utf-8")
    identity = WAS if same else {**WAS, "settings": "other"}
    with contextlib.suppress(UserError):
        write(out, {name: text for name, text in later.items() if name in NAMES}, force=force, identity=identity)
    now = contents(out) if out.exists() else {}
    assert {name: now.get(name) for name in foreign} == foreign


def test_a_run_with_other_settings_gets_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from p4cc.running.prepared import prepare
    from p4cc.running.request import RunRequest
    from tests.p4cc.scenarios import write as write_scenario

    monkeypatch.chdir(tmp_path)
    path = write_scenario(tmp_path, scenario())
    plain = prepare(RunRequest(path)).folder
    other = prepare(RunRequest(path, overrides=("seeds=[7]",))).folder
    chosen = prepare(RunRequest(path, variants=(scenario()["variants"][0]["name"],))).folder
    assert plain == Path("results") / scenario()["name"]
    assert len({plain, other, chosen}) == 3
    assert other.name.startswith(f"{plain.name}-")
    assert prepare(RunRequest(path, overrides=("seeds=[7]",))).folder == other


def test_a_notebook_in_a_folder_of_results_stays(tmp_path: Path) -> None:
    first = run(tmp_path, scenario())
    notebook = first.outcome.folder / "notebook.ipynb"
    notebook.write_text("{}", encoding="utf-8")
    run(tmp_path, scenario(), "seeds=[3]")
    assert notebook.read_text(encoding="utf-8") == "{}"


def test_the_lock_ends_with_its_holder(tmp_path: Path) -> None:
    write(tmp_path / "out", {"summary.json": "1"})
    handle = os.open(tmp_path / "out", os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(handle)
