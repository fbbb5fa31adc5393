"""The training step as traces of Chakra is the step of the workload in SimAI's format."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from p4cc.planning.chakra import read_chakra, read_groups, traces
from p4cc.planning.operation_graph import OperationGraph
from p4cc.planning.simai_workload import read_simai_workload

FOLDER = Path(__file__).resolve().parents[2] / "experiments" / "training_step"
RANKS = 16


def written(folder: Path, *options: str) -> OperationGraph:
    subprocess.run([sys.executable, str(FOLDER / "chakra_trace.py"), str(RANKS), str(folder), *options], check=True)
    return read_chakra(traces(folder / "step.0.et"), read_groups(folder / "groups.json", RANKS))


def computed_us(graph: OperationGraph) -> list[list[int]]:
    """Computing times of each rank, one list for each, as the trace has them: in microseconds."""
    found: list[list[int]] = [[] for _ in range(RANKS)]
    for operation in graph.operations:
        work = operation["work"]
        if work["kind"] == "compute":
            found[work["host"]].append(round(work["duration_ns"] / 1_000))
    return found


@pytest.mark.parametrize("layers", [1, 2, 6])
def test_the_traces_are_the_step_of_the_workload(tmp_path: Path, layers: int) -> None:
    graph = written(tmp_path, "--layers", str(layers))
    workload = read_simai_workload(FOLDER / "llama7b.txt", RANKS, layers)
    ordered = [sorted((one.ranks, one.size_bytes) for one in each.groups) for each in (graph, workload)]
    assert ordered[0] == ordered[1]
    assert {one.operation for one in graph.groups} == {"all_reduce"}
    times = computed_us(graph)
    # The workload's reader adds up times that nothing separates.
    assert {len(rank) for rank in times} == {3 * layers}
    assert sum(times[0]) == pytest.approx(sum(computed_us(workload)[0]), abs=3 * layers)


@pytest.mark.parametrize("layers", [-1, 0, 65])
def test_layers_that_the_workload_lacks_are_refused(tmp_path: Path, layers: int) -> None:
    command = [sys.executable, str(FOLDER / "chakra_trace.py"), str(RANKS), str(tmp_path), "--layers", str(layers)]
    ran = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ran.returncode == 2
    assert f"--layers {layers} is not between 1 and 64" in ran.stderr
    assert not list(tmp_path.iterdir())


def test_all_reduces_in_turn_wait_for_the_one_before(tmp_path: Path) -> None:
    traces_of = {"step": (), "gpu": ("--in-turn", "gpu"), "group": ("--in-turn", "group")}
    graphs = {name: written(tmp_path / name, *options) for name, options in traces_of.items()}
    waits = {name: sum(len(one.get("after", ())) for one in graph.operations) for name, graph in graphs.items()}
    # Gradients of the first layer wait for those of the second; with `gpu` its tensor parallelism does too.
    assert waits["group"] - waits["step"] == RANKS
    assert waits["gpu"] - waits["step"] == 2 * RANKS


def test_the_network_of_astra_sim_is_that_of_the_scenario(tmp_path: Path) -> None:
    written(tmp_path, "--alone", "data")
    network = (tmp_path / "network.yml").read_text(encoding="utf-8")
    assert "npus_count: [ 8, 2 ]" in network
    # GB of 2^30 bytes: 450 and 50 GB of 10^9 bytes a second.
    assert "bandwidth: [ 419.095159, 46.566129 ]" in network
    groups = json.loads((tmp_path / "groups.json").read_text(encoding="utf-8"))
    assert groups["1"] == list(range(8))
    assert groups["3"] == [0, 8]
