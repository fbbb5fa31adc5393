"""A study on a real Ray cluster: nodes die, the head is lost, and what comes out is what one machine makes."""

from __future__ import annotations

import hashlib
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cluster.machines import ACCESS, s3_server
from tests.cluster.nodes import ROOT, Nodes
from tests.p4cc.scenarios import scenario, write

if TYPE_CHECKING:
    from collections.abc import Generator

pytest.importorskip("ray", reason="the extra ray is not installed: pip install 'p4cc[ray]'")
RUNS = 80
WORKERS = 2


class Store:
    """What the server of buckets saw: each run that was finished, and how often."""

    def __init__(self) -> None:
        self.written: Counter[str] = Counter()
        self._lock = threading.Lock()

    def seen(self, method: str, path: str) -> None:
        if method == "PUT" and "/runs/" in path:
            with self._lock:
                self.written[path] += 1

    def wait_for(self, runs: int, command: subprocess.Popen[str]) -> None:
        until = time.monotonic() + 600
        while len(self.written) < runs:
            assert command.poll() is None, command.communicate()
            assert time.monotonic() < until, f"{len(self.written)} of {runs} runs"
            time.sleep(0.05)


@pytest.fixture(scope="module")
def store() -> Generator[tuple[Store, str]]:
    seen = Store()
    with s3_server(seen.seen) as address:
        yield seen, address


@pytest.fixture(scope="module")
def nodes(store: tuple[Store, str], tmp_path_factory: pytest.TempPathFactory) -> Generator[Nodes]:
    found = Nodes(tmp_path_factory.mktemp("nodes"), {**ACCESS, "AWS_ENDPOINT_URL": store[1]})
    try:
        found.start_head()
        found.start_workers(*range(1, WORKERS + 1))
        yield found
    finally:
        found.end()


def study(folder: Path) -> Path:
    """Short runs: 20 cases of 4 seeds."""
    traffic = {"kind": "poisson", "size": {"kind": "fixed", "bytes": 9_000}, "mean_gap_ns": 1e4, "end_ns": 5_000_000}
    queues = {"topology.queue_capacity_pkts": list(range(100, 120))}
    return write(folder, scenario(traffic=traffic, seeds=list(range(1, RUNS // 20 + 1)), sweep=queues))


def command(nodes: Nodes, path: Path, out: Path, *words: str) -> subprocess.Popen[str]:
    """`p4cc run` of a study, under way."""
    return subprocess.Popen(
        [sys.executable, "-m", "p4cc.cli", "run", str(path), "--out", str(out), "--no-figures", *words],
        cwd=ROOT,
        env=nodes.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def hashes(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.parquet")}


def test_nodes_die_and_the_results_are_those_of_one_machine(
    nodes: Nodes, store: tuple[Store, str], tmp_path: Path
) -> None:
    path, seen = study(tmp_path), store[0]
    local = command(nodes, path, tmp_path / "local" / "out", "--jobs", "2")
    assert local.communicate(timeout=900)[1].count("error") == 0

    words = ("--on", nodes.address, "--store", "s3://studies/killed", "--memory", "300MB")
    first = command(nodes, path, tmp_path / "cluster" / "out", *words)
    seen.wait_for(RUNS // 5, first)
    nodes.kill("worker1")
    seen.wait_for(2 * RUNS // 5, first)
    nodes.kill("head")
    told = first.communicate(timeout=180)[1]
    assert first.returncode == 2, told
    assert "the cluster's head is lost" in told
    counted = re.search(rf"(\d+) of {RUNS} runs are finished", told)
    assert counted is not None, told
    assert 2 * RUNS // 5 - WORKERS <= int(counted[1]) < RUNS
    assert "run the same command to continue" in told
    assert not hashes(tmp_path / "cluster" / "out")
    nodes.kill("worker2")

    before = set(seen.written)
    nodes.start_head()
    nodes.start_workers(1)
    again = command(nodes, path, tmp_path / "cluster" / "out", *words)
    told = again.communicate(timeout=900)[1]
    assert again.returncode == 0, told
    assert hashes(tmp_path / "cluster" / "out") == hashes(tmp_path / "local" / "out")
    assert len(seen.written) == RUNS
    # What was in flight when nodes died may have been made twice, and nothing else.
    assert sum(seen.written.values()) <= RUNS + 2 * WORKERS
    assert all(seen.written[name] <= 2 for name in before)


def test_ctrl_c_ends_it_and_results_come_back_without_a_store(nodes: Nodes, tmp_path: Path) -> None:
    path = study(tmp_path)
    words = ("--on", nodes.address, "--memory", "300MB")
    kept = tmp_path / "cluster" / ".p4cc-cache"
    first = command(nodes, path, tmp_path / "cluster" / "out", *words)
    until = time.monotonic() + 600
    while len(list(kept.glob("*/*.zip"))) < 10:
        assert first.poll() is None, first.communicate()
        assert time.monotonic() < until
        time.sleep(0.05)
    first.send_signal(signal.SIGINT)
    told = first.communicate(timeout=60)[1]
    assert first.returncode == 130, told
    assert "finished runs are kept" in told
    held = len(list(kept.glob("*/*.zip")))
    assert 10 <= held < RUNS
    large = command(nodes, path, tmp_path / "cluster" / "out", "--on", nodes.address, "--memory", "900GB")
    assert "no machine of the cluster has 1 cores and 900 GB" in large.communicate(timeout=120)[1]
    assert large.returncode == 2
    # The machine itself goes on where the cluster stopped.
    local = command(nodes, path, tmp_path / "cluster" / "out", "--jobs", "2")
    assert local.wait(timeout=900) == 0
    assert len(list(kept.glob("*/*.zip"))) == RUNS
