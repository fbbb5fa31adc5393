"""Deadlocks of pauses: found and named where a cycle was built on purpose, reported nowhere else.

Source: docs/algorithms/pfc.md#deadlock.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from p4cc.running.outcome import RunOutcome
from p4cc.running.request import RunRequest
from p4cc.running.runner import run_scenario
from tests.p4cc.scenarios import Ran

RING = Path(__file__).resolve().parents[2] / "experiments" / "skew" / "ring_deadlock.yaml"


def _outcome(folder: Path, *overrides: str) -> RunOutcome:
    request = RunRequest(scenario=RING, out=folder / "out", overrides=overrides, figures=False, quiet=True)
    return run_scenario(request)


def _run(folder: Path, *overrides: str) -> tuple[dict[str, object], pl.DataFrame]:
    outcome = _outcome(folder, *overrides)
    return outcome.summary["runs"][0], Ran(outcome).table("deadlocks")


def test_the_cycle_is_named(tmp_path: Path) -> None:
    run, deadlocks = _run(tmp_path)
    assert run["outcome"] == "deadlock"
    assert run["flows_completed"] == 0
    assert deadlocks["links"].to_list() == ["s1:2->s2:2 => s2:3->s3:2 => s3:3->s1:3"]
    # Nothing is delivered from then on; T_dl is 10 ms and T_st 50 ms.
    time_ns, stalled_ns = deadlocks["time_ns"][0], run["stalled_ns"]
    assert isinstance(stalled_ns, int)
    assert 10_000_000 <= time_ns < stalled_ns < 100_000_000


def test_a_deadlock_is_a_warning_with_its_circle(tmp_path: Path) -> None:
    (text,) = (one for one in _outcome(tmp_path).warnings if "deadlock" in one)
    assert "pauses of priority 3 wait for each other in a circle (s1:2->s2:2 => s2:3->s3:2 => s3:3->s1:3)" in text


@pytest.mark.parametrize(
    "overrides",
    [
        # Two of the three flows: no trunk has two, so none is paused.
        ("traffic.sources=[h1, h2]", "traffic.destinations=[h3, h1]", "variants.0.rate_control.rate_mbps=40000"),
        # Everyone to its neighbour; the last goes two hops, and pauses its trunk without a cycle.
        ("traffic.sources=[h1, h2, h3, h1]", "traffic.destinations=[h2, h3, h1, h3]", "traffic.flows_per_pair=2"),
    ],
)
def test_without_a_cycle_none_is_reported(tmp_path: Path, overrides: tuple[str, ...]) -> None:
    run, deadlocks = _run(tmp_path, *overrides)
    assert (run["outcome"], run["deadlocks"], run["stalled_ns"]) == ("finished", 0, None)
    assert deadlocks.is_empty()


def test_pauses_that_expire_let_it_go_on(tmp_path: Path) -> None:
    run, _ = _run(tmp_path, "switch.buffer.pfc_expiry=true", "switch.buffer.pause_quanta=200")
    assert run["deadlocks"] == 0
    assert run["stalled_ns"] is None
    # What the headroom cannot hold is lost and sent again.
    assert isinstance(run["drops"], int)
    assert run["drops"] > 0
