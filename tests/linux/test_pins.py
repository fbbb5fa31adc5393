"""`p4cc-hosts` removes its own pins only, and copes with those that a killed command left."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.linux.kernel import registered, senders

LINKS = ("count_marks", "feedback_option", "set_deadline")


@pytest.mark.parametrize("way", ["absolute", "above"])
def test_unload_takes_no_path_for_a_name(tmp_path: Path, way: str) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    with senders() as it:
        above = "/".join([".."] * 12) + str(kept)
        done = it.attempt("unload", str(kept) if way == "absolute" else above)
        assert done.returncode == 1
        assert "give 1 to 15 letters, digits or underscores" in done.stderr
    assert kept.is_dir()


def test_unload_names_a_sender_that_is_not_loaded() -> None:
    with senders() as it:
        name = it.name("nobody")
        for words in (("unload", name), ("set", name, "--cgroup", str(it.cgroup), "--sender", "dctcp")):
            done = it.attempt(*words)
            assert done.returncode == 1, words
            assert f"{name}: is not loaded; see `p4cc-hosts status`" in done.stderr


@pytest.mark.parametrize("command", ["unload", "load"])
def test_pins_are_in_a_bpf_file_system_only(tmp_path: Path, command: str) -> None:
    with senders() as it:
        for folder in ("senders", "feedback"):
            (tmp_path / folder).mkdir()
        (tmp_path / "sockets").write_text("a file of its own")
        before = sorted(tmp_path.rglob("*"))
        words = ("load", "--name", it.name("dctcp"), "--sender", "dctcp") if command == "load" else ("unload",)
        done = replace(it, pins=tmp_path).attempt(*words)
        assert done.returncode == 1
        assert "is not in a BPF file system; give --pins a folder below /sys/fs/bpf" in done.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_unload_leaves_the_pins_of_others() -> None:
    with senders() as it:
        name = it.load("dctcp", "--sender", "dctcp")
        other = it.pins / "other"
        other.mkdir()
        it.call("unload")
        assert name not in registered()
        assert [entry.name for entry in it.pins.iterdir()] == ["other"]
        other.rmdir()


def test_a_group_with_half_its_programs_is_attached_again() -> None:
    with senders() as it:
        # As a command leaves it that is killed between two pins.
        folder = it.pins / "feedback" / str(it.cgroup.stat().st_ino)
        folder.mkdir(parents=True)
        assert it.stats()["option"] == {}
        it.load("dctcp", "--sender", "dctcp")
        assert sorted(entry.name for entry in folder.iterdir()) == sorted(LINKS)
        (folder / LINKS[0]).unlink()
        it.load("reno", "--sender", "reno_ecn")
        assert sorted(entry.name for entry in folder.iterdir()) == sorted(LINKS)


def test_an_incomplete_sender_hides_no_other() -> None:
    with senders() as it:
        (it.pins / "senders" / "half").mkdir(parents=True)
        name = it.load("dctcp", "--sender", "dctcp")
        lines = it.call("status").splitlines()
        assert "half: incomplete; p4cc-hosts unload half" in lines
        assert f"{name}: dctcp with slow start standard" in lines
        assert list(it.stats()["senders"]) == [name]
        it.call("unload", "half")
        assert "half" not in it.call("status")
