"""Threads of a run: the same bytes as one thread, and a word where they are of no use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.p4cc.scenarios import Ran, run, scenario, skewed

if TYPE_CHECKING:
    from pathlib import Path


def test_two_threads_write_the_same_tables(tmp_path: Path) -> None:
    data = skewed(record={"windows_interval_ns": 100_000, "queues_interval_ns": 100_000})
    outs: list[Ran] = []
    for threads in (1, 2):
        folder = tmp_path / str(threads)
        folder.mkdir()
        outs.append(run(folder, data, use_cache=False, threads=threads))
    one, two = outs
    assert two.bytes() == one.bytes()
    assert two.outcome.warnings == one.outcome.warnings
    assert [{**row, "wall_s": 0} for row in two.runs] == [{**row, "wall_s": 0} for row in one.runs]


def test_one_switch_is_said_to_run_on_one_thread(tmp_path: Path) -> None:
    ran = run(tmp_path, scenario(), use_cache=False, threads=2)
    (note,) = ran.outcome.notes
    assert "runs on one thread: there is one switch" in note
    assert ran.outcome.summary["warnings"] == ran.outcome.warnings, "the summary does not depend on threads"
