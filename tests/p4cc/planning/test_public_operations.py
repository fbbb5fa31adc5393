"""Files of ASTRA-sim, LogGOPSim and SimAI: with copies (`P4CC_OPERATIONS`), each is read, and the small ones run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from p4cc.errors import UserError
from p4cc.planning.chakra import read_chakra, traces
from p4cc.planning.foreign import import_foreign
from p4cc.planning.goal import read_goal
from p4cc.planning.simai_workload import read_simai_workload
from p4cc.running.request import RunRequest
from p4cc.running.runner import run_scenario
from tests.p4cc.scenarios import Ran

FOLDER = Path(os.environ.get("P4CC_OPERATIONS", "nothing"))
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="P4CC_OPERATIONS names no copies")
TRACES = sorted(FOLDER.rglob("*.0.et"))
SCHEDULES = sorted(FOLDER.rglob("*.goal"))


@pytest.mark.parametrize("file", [*TRACES, *SCHEDULES], ids=lambda file: file.parent.name + "-" + file.stem)
def test_traces_and_schedules_run_as_they_are(tmp_path: Path, file: Path) -> None:
    graph = read_goal(file) if file.suffix == ".goal" else read_chakra(traces(file))
    path = tmp_path / "mine.yaml"
    path.write_text(import_foreign(file, None, str).text(), encoding="utf-8")
    ran = Ran(run_scenario(RunRequest(path, out=tmp_path / "out", figures=False)))
    job = ran.table("jobs").row(0, named=True)
    assert job["operations"] == job["ended"] == len(graph.operations)


def test_workloads_are_read() -> None:
    files = [file for file in sorted(FOLDER.rglob("*.txt")) if _is_workload(file)]
    assert files
    large = [file for file in files if " all_gpus: 9216 " in file.read_text(encoding="utf-8")]
    for file in large:
        with pytest.raises(UserError, match="there are more than 1000000 operations"):
            read_simai_workload(file)
    for file in files:
        assert file in large or read_simai_workload(file).groups


def _is_workload(file: Path) -> bool:
    return file.read_text(encoding="utf-8", errors="replace").startswith("HYBRID_TRANSFORMER")
