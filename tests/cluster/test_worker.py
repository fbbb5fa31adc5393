"""A worker that has nothing but what was sent makes the same run: every kind of file that a scenario may name."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import pytest

from p4cc.bundled import find_scenario
from p4cc.cluster.bundle import Bundle, Contents, bundle_of, laid_out
from p4cc.cluster.worker import Studies, Task, made
from p4cc.errors import UserError
from p4cc.running.cluster_driver import ClusterDriver
from p4cc.running.request import RunRequest
from p4cc.running.runner import run_scenario
from tests.cluster.machines import Beside
from tests.p4cc.scenarios import scenario, write

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from p4cc.running.remote_runs import RunOrder

ALGORITHM = """
import p4cc
from helper import STEP

class Add(p4cc.WindowAlgorithm):
    def on_ack(self, ack, now):
        self.cwnd += STEP
"""
CONTROLLER = """
import p4cc

class Watch(p4cc.Controller):
    async def start(self):
        pass
"""


@pytest.fixture
def beside() -> Generator[Beside]:
    found = Beside()
    yield found
    found.close()


def same_bytes(request: RunRequest, beside: Beside, folder: Path) -> None:
    """Runs it here and as a worker does."""
    request = replace(request, use_cache=False, figures=False, quiet=True, jobs=2, force=True)
    here = run_scenario(replace(request, out=folder / "here")).folder
    there = run_scenario(replace(request, out=folder / "there", driver=ClusterDriver(beside))).folder
    assert beside.made
    names = sorted(path.name for path in here.glob("*.parquet"))
    assert names == sorted(path.name for path in there.glob("*.parquet"))
    assert [name for name in names if (here / name).read_bytes() != (there / name).read_bytes()] == []


@pytest.mark.parametrize(
    ("name", "overrides"),
    [
        ("gst/incast", ("sweep={}", "seeds=[1,2]")),
        ("hpcc/ns3_compare", ("stop_ns=200000",)),
        ("bolt/hadoop", ("sweep={}", "seeds=[1]", "stop_ns=200000")),
        ("controller_latency/latency", ("sweep={}", "seeds=[1]", "stop_ns=3000000")),
    ],
)
def test_experiments_of_ours(name: str, overrides: tuple[str, ...], beside: Beside, tmp_path: Path) -> None:
    same_bytes(RunRequest(find_scenario(name), overrides=overrides), beside, tmp_path)


def test_a_program_and_classes_of_the_users_go_along(
    beside: Beside, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nothing is found by the folder that the command was started in.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(ALGORITHM)
    (tmp_path / "helper.py").write_text("STEP = 2\n")
    (tmp_path / "watch.py").write_text(CONTROLLER)
    data = scenario(variants=[{"name": "own", "congestion_avoidance": {"python": "own.py:Add"}}], seeds=[1, 2])
    data["switch"]["controller"] = "watch.py:Watch"
    same_bytes(RunRequest(write(tmp_path, data)), beside, tmp_path)


def test_the_first_run_says_what_columns_are(beside: Beside, tmp_path: Path) -> None:
    size = {"kind": "fixed", "bytes": 3_000}
    traffic = {"kind": "poisson", "size": size, "mean_gap_ns": 1e5, "end_ns": 2_000_000}
    data = scenario(traffic=traffic, sweep={"traffic.mean_gap_ns": [100_000.5, 200_000]})
    same_bytes(RunRequest(write(tmp_path, data)), beside, tmp_path)


def asked_of(tmp_path: Path) -> RunOrder:
    """A run as it is asked for."""
    caught: list[RunOrder] = []

    class Catching(Beside):
        async def make(self, asked: RunOrder) -> Any:
            caught.append(asked)
            raise UserError("caught")

    request = RunRequest(write(tmp_path, scenario()), out=tmp_path / "out", figures=False, quiet=True)
    with pytest.raises(UserError, match="caught"):
        run_scenario(replace(request, driver=ClusterDriver(Catching())))
    return caught[0]


def task_of(asked: RunOrder, **changes: Any) -> Task:
    sender: dict[str, str | None] = {"version": "9.9", "commit": None}
    return replace(Task(asked.variant, asked.point, asked.seed, asked.key, asked.label, sender), **changes)


def test_a_worker_with_another_p4cc_says_so(tmp_path: Path) -> None:
    asked = asked_of(tmp_path)
    study = laid_out(bundle_of(asked.study, asked.inputs, Contents()), tmp_path / "there")
    with pytest.raises(UserError) as caught:
        made(study, [task_of(asked, key="0" * 64)])
    assert "a worker has another p4cc" in caught.value.cause
    assert f"version {version('p4cc')} there, 9.9 here" in caught.value.cause
    assert "--wheel" in caught.value.remedy


def test_inputs_that_changed_on_their_way_are_refused(tmp_path: Path) -> None:
    asked = asked_of(tmp_path)
    bundle = bundle_of(asked.study, asked.inputs, Contents())
    changed = Bundle(bundle.manifest, {name: content + b"x" for name, content in bundle.contents.items()})
    with pytest.raises(UserError, match="other bytes than were sent"):
        laid_out(changed, tmp_path / "there")
    studies = Studies()
    with pytest.raises(UserError, match="SHA-256 differs"):
        studies.get(bundle.name, lambda: Bundle(bundle.manifest + b" ", bundle.contents))
    manifest = json.loads(bundle.manifest)
    manifest["files"] = {"x": {"path": "/a/../../../etc/x", "sha256": next(iter(bundle.contents))}}
    with pytest.raises(UserError, match="not a complete path"):
        laid_out(Bundle(json.dumps(manifest).encode(), bundle.contents), tmp_path / "there")


def test_a_worker_looks_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "sizes.cdf").write_text("0 0\n1000 1\n")
    size = {"kind": "cdf", "file": "sizes.cdf"}
    traffic = {"kind": "poisson", "size": size, "mean_gap_ns": 1e5, "end_ns": 1_000_000}
    asked = replace(asked_of(tmp_path))
    study = laid_out(bundle_of(asked.study, asked.inputs, Contents()), tmp_path / "there")
    (tmp_path / "there").joinpath(*study.scenario.parent.parts[1:]).mkdir(parents=True, exist_ok=True)
    with pytest.raises(UserError, match="is not among the files sent with the scenario"):
        made(replace(study, data={**study.data, "traffic": traffic}), [task_of(asked)])


def test_inputs_longest_not_used_are_removed(tmp_path: Path) -> None:
    asked = asked_of(tmp_path)
    first = bundle_of(asked.study, asked.inputs, Contents())
    studies = Studies(most=1)
    folder = studies.get(first.name, lambda: first).scenario.parents[-2]
    other = bundle_of(replace(asked.study, threads=2), asked.inputs, Contents())
    study = studies.get(other.name, lambda: other)
    assert study.threads == 2
    file = next(iter(study.inputs.values()))
    assert file.is_file()
    studies.end()
    assert not file.exists()
    assert folder.exists()
