"""Memory of a run from its plan: flows that a seed draws are foreseen by their mean."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from p4cc.planning.memory import expected_flows, run_bytes
from p4cc.running.prepared import prepare
from p4cc.running.request import RunRequest
from tests.p4cc.scenarios import run, scenario, skewed, write

if TYPE_CHECKING:
    from pathlib import Path

    from p4cc.planning.network import NetworkPlan

SIZE = {"kind": "uniform", "min_bytes": 1_000, "max_bytes": 5_000}


def planned(folder: Path, data: dict[str, Any]) -> NetworkPlan:
    prepared = prepare(RunRequest(write(folder, data)))
    return prepared.programs().plan(prepared.cases[0]).plan


@pytest.mark.parametrize(
    "traffic",
    [
        {"kind": "incast", "sru_bytes": 20_000},
        {"kind": "poisson", "size": SIZE, "mean_gap_ns": 2e4, "start_ns": 1_000_000, "end_ns": 3_000_000},
        {"kind": "poisson", "size": SIZE, "mean_gap_ns": 2e4, "total_flows": 300},
        {"kind": "closed_loop", "size": SIZE, "outstanding": 3, "total_bytes": 900_000},
        {"kind": "bursts", "senders": 2, "sru_bytes": 2_000, "load": 0.2, "end_ns": 3_000_000},
        {"kind": "rounds", "sru_bytes": 2_000, "rounds": 20, "persistent": False},
    ],
    ids=lambda one: one["kind"],
)
def test_flows_that_are_foreseen_come(tmp_path: Path, traffic: dict[str, Any]) -> None:
    data = scenario(traffic=traffic)
    foreseen = expected_flows(json.loads(planned(tmp_path, data).spec_json))
    (found,) = run(tmp_path, data).runs
    assert foreseen == pytest.approx(found["flows_finite"], rel=0.3)


def test_pairs_are_foreseen(tmp_path: Path) -> None:
    data = skewed(sweep={}, seeds=[1])
    data["variants"] = data["variants"][:1]
    foreseen = expected_flows(json.loads(planned(tmp_path, data).spec_json))
    (found,) = run(tmp_path, data).runs
    assert found["flows_finite"] / 2 < foreseen < 2 * found["flows_finite"]


def test_more_flows_and_hosts_need_more(tmp_path: Path) -> None:
    small = run_bytes(planned(tmp_path, scenario()))
    many = {"kind": "poisson", "size": SIZE, "mean_gap_ns": 1.0, "end_ns": 100_000}
    flows = run_bytes(planned(tmp_path, scenario(traffic=many)))
    few = {"kind": "incast", "sru_bytes": 1_000, "destination": "h1"}
    hosts = run_bytes(planned(tmp_path, scenario(topology={"kind": "fat_tree", "k": 8}, traffic=few)))
    assert small < hosts
    assert flows - small > 4e5 * 2_000
