"""Finished runs are kept: what is made again is what was made, and what decides a run decides its name."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from p4cc.running.cache import RunCache, run_keys
from p4cc.running.cached_run import SeedRun
from p4cc.running.run_schema import run_schemas
from tests.command_line import p4cc
from tests.p4cc.scenarios import ROOT, run, scenario, write

if TYPE_CHECKING:
    from pathlib import Path

MIX = [
    {"kind": "incast", "sru_bytes": 20_000},
    {"kind": "poisson", "size": {"kind": "fixed", "bytes": 3_000}, "mean_gap_ns": 1e5, "end_ns": 2_000_000},
]


def files(folder: Path) -> dict[str, int]:
    """Cached runs by name, with the time of their last change."""
    return {path.name: path.stat().st_mtime_ns for path in folder.glob(".p4cc-cache/??/*")}


def empty_run(seed: int) -> SeedRun:
    """A run in which nothing happened."""
    numbers = ("packet_hops", "end_ns", "flows_finite", "flows_completed", "pass_limit_drops", "assertions_failed")
    tables = {name: schema.empty_table() for name, schema in run_schemas().items() if name != "control"}
    return SeedRun(seed, dict.fromkeys(numbers, seed), tables)


def test_a_second_call_gives_the_same_bytes_without_running(tmp_path: Path) -> None:
    data = scenario(traffic=MIX, seeds=[1, 2], sweep={"topology.senders": [2, 3]})
    first = run(tmp_path, data)
    assert len(files(tmp_path)) == 4
    again = run(tmp_path, data)
    assert again.bytes() == first.bytes()
    # Even the seconds that the runs took are those of the first call.
    assert again.runs == first.runs
    assert run(tmp_path, data, use_cache=False).bytes() == first.bytes()
    assert len(files(tmp_path)) == 4


@pytest.mark.parametrize(
    ("override", "new"),
    [
        ("title=other", 0),
        ("seeds=[2, 1]", 0),
        ("seeds=[2, 3]", 1),
        ("topology.queue_capacity_pkts=99", 2),
        ("traffic.sru_bytes=20001", 2),
        ("switch.thresholds.k_pkts=21", 2),
        ("switch.ecn_profile=sce", 2),
        ("transport.rwnd=63", 2),
        ("record.events=true", 2),
        # DerivedRun out from what is kept.
        ("record.goodput_interval_ns=1000000", 0),
    ],
)
def test_what_decides_a_run_decides_its_name(tmp_path: Path, override: str, new: int) -> None:
    data = scenario(seeds=[1, 2])
    run(tmp_path, data)
    before = set(files(tmp_path))
    run(tmp_path, data, override)
    assert len(set(files(tmp_path)) - before) == new


def test_a_damaged_file_is_removed_and_said_once(tmp_path: Path) -> None:
    data = scenario(seeds=[1, 2, 3])
    first = run(tmp_path, data)
    cut, changed, whole = sorted(tmp_path.glob(".p4cc-cache/??/*.zip"))
    cut.write_bytes(cut.read_bytes()[:-100])
    raw = bytearray(changed.read_bytes())
    raw[len(raw) // 2] ^= 0xFF
    changed.write_bytes(bytes(raw))
    kept = whole.read_bytes()
    second = run(tmp_path, data)
    assert second.bytes() == first.bytes()
    (note,) = [note for note in second.outcome.notes if "SHA-256" in note]
    assert "it was removed, and its run was repeated (and 1 more such files)" in note
    assert whole.read_bytes() == kept
    third = run(tmp_path, data)
    assert third.bytes() == first.bytes()
    assert not [note for note in third.outcome.notes if "removed" in note]


def test_an_entry_without_one_of_its_tables_is_not_a_run(tmp_path: Path) -> None:
    """As one with a flipped bit in its directory was: the results then lacked a table without a word."""
    cache, run_of_two = RunCache(tmp_path), empty_run(2)
    tables = {name: table for name, table in run_of_two.tables.items() if name != "counters"}
    cache.store("ab" * 32, SeedRun(2, run_of_two.summary, tables))
    assert cache.load("ab" * 32) is None
    assert "has no table counters" in cache.damaged[0]
    assert not list(tmp_path.glob("??/*.zip"))


def test_a_killed_run_goes_on_and_ends_with_the_same_bytes(tmp_path: Path) -> None:
    data = scenario(
        traffic={"kind": "incast", "sru_bytes": 300_000}, seeds=list(range(1, 9)), sweep={"topology.senders": [20, 24]}
    )
    (tmp_path / "killed").mkdir()
    path = write(tmp_path / "killed", data)
    out = tmp_path / "killed" / "out"
    running = subprocess.Popen(
        [sys.executable, "-m", "p4cc.cli", "run", str(path), "--out", str(out), "--jobs", "1"], cwd=ROOT
    )
    deadline = time.monotonic() + 60
    while len(files(tmp_path / "killed")) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    running.send_signal(signal.SIGKILL)
    running.wait(timeout=60)
    held = {name for name in files(tmp_path / "killed") if name.endswith(".zip")}
    assert 0 < len(held) < 16
    assert not list(out.glob("*.parquet"))
    (tmp_path / "whole").mkdir()
    assert run(tmp_path / "killed", data).bytes() == run(tmp_path / "whole", data).bytes()
    assert held < set(files(tmp_path / "killed"))


def test_runs_that_were_longest_not_used_go_first(tmp_path: Path) -> None:
    cache = RunCache(tmp_path)
    keys = list(run_keys(["spec"], range(4)).values())
    for seed, key in enumerate(keys):
        cache.store(key, empty_run(seed))
        time.sleep(0.01)
    assert cache.load(keys[0]) is not None
    size = next(tmp_path.glob("??/*.zip")).stat().st_size
    cache.prune(2 * size + size // 2)
    assert [cache.load(key) is not None for key in keys] == [True, False, False, True]
    held = cache.load(keys[3])
    assert held is not None
    assert (held.seed, held.summary) == (3, empty_run(3).summary)


def test_keys_tell_lists_of_parts_apart() -> None:
    runs = (["ab", "c"], 1), (["a", "bc"], 1), (["abc"], 1), (["abc"], 11)
    keys = {run_keys(parts, [seed])[seed] for parts, seed in runs}
    assert len(keys) == 4


def test_a_folder_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder", encoding="utf-8")
    cache = RunCache(blocked)
    cache.store("ab" * 32, empty_run(1))
    assert cache.load("ab" * 32) is None
    cache.prune()


def test_a_cache_says_what_it_holds_and_removes_only_runs(tmp_path: Path) -> None:
    run(tmp_path, scenario(seeds=[1, 2]))
    place = tmp_path / ".p4cc-cache"
    foreign = [
        place / "notes.md",
        place / "ab" / "data.zip",
        place / "ab" / (62 * "g" + ".zip"),
        place / "thesis" / "x",
    ]
    for path in foreign:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine", encoding="utf-8")
    held = json.loads(p4cc("cache", "--folder", str(place), "--json").stdout)
    assert held["runs"] == 2
    assert held["size_bytes"] == sum(path.stat().st_size for path in place.glob("??/*.zip") if path not in foreign)
    pruned = p4cc("cache", "--folder", str(place), "--prune", "0")
    assert pruned.stdout.startswith("removed 2 runs, ")
    assert {path: path.read_text(encoding="utf-8") for path in place.rglob("*") if path.is_file()} == dict.fromkeys(
        foreign, "mine"
    )
    assert json.loads(p4cc("cache", "--folder", str(place), "--json").stdout)["runs"] == 0


@pytest.mark.parametrize("size", ["-1", "much", "1TB", "nan", "inf"])
def test_a_size_that_is_none(tmp_path: Path, size: str) -> None:
    done = p4cc("cache", "--folder", str(tmp_path), "--prune", size)
    assert done.returncode == 2
    assert "--prune" in done.stderr
    assert "500MB" in done.stderr
