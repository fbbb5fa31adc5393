"""`p4cc new algorithm` writes what runs and passes, `p4cc check-algorithm` finds what is broken."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from p4cc import check_algorithm
from p4cc.errors import UserError
from p4cc.running.request import RunRequest
from p4cc.running.runner import run_scenario
from p4cc.user_algorithms.receiver_model import Disturbances, Host
from p4cc.user_algorithms.scaffold import KINDS, files_of, write
from tests.command_line import p4cc
from tests.p4cc.scenarios import ROOT

if TYPE_CHECKING:
    from pathlib import Path

TOP = "import random, time\nfrom p4cc import RateAlgorithm, ReceiverAlgorithm, WindowAlgorithm\n\n"
ARRIVAL = "ReceiverAlgorithm):\n    def on_arrival(self, arrival): "


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_runs_and_has_all_properties(tmp_path: Path, kind: str) -> None:
    files = files_of("my_first", kind, tmp_path)
    write(files)
    assert {path.name for path in files} == {"my_first.py", "my_first.yaml", "test_my_first.py"}
    assert [one for one in check_algorithm(tmp_path / "my_first.py", "MyFirst") if not one.holds] == []
    request = RunRequest(
        tmp_path / "my_first.yaml", tmp_path / "out", overrides=("seeds=[1]",), quiet=True, use_cache=False
    )
    outcome = run_scenario(request)
    assert all(run["flows_completed"] == run["flows_finite"] == 8 for run in outcome.summary["runs"])
    assert all(figure.is_file() for figure in outcome.figures)


def test_the_test_that_is_written_passes(tmp_path: Path) -> None:
    made = p4cc("new", "algorithm", "Mine", folder=tmp_path)
    assert "next: p4cc run mine.yaml" in made.stdout
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "test_mine.py"], cwd=tmp_path, check=True, capture_output=True
    )
    again = p4cc("new", "algorithm", "Mine", folder=tmp_path)
    assert again.returncode == 2
    assert "mine.py: already exists" in again.stderr


def test_nothing_is_written_for_a_name_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not a valid class name"):
        files_of("1st", "window", tmp_path)


@pytest.mark.parametrize("name", ["dctcp:Dctcp", "timely:Timely", "hpcc:Hpcc", "ndp:Ndp"])
def test_the_examples_have_all_properties(name: str) -> None:
    file, class_name = name.split(":")
    found = check_algorithm(ROOT / f"experiments/own_algorithms/{file}.py", class_name)
    assert len(found) >= 3
    assert [one for one in found if not one.holds] == []


def test_homa_leaves_headers_to_the_sender_s_timeout() -> None:
    """It has no RESEND (docs/algorithms/receivers.md#homa), and the check says so; all else holds."""
    found = check_algorithm(ROOT / "experiments/own_algorithms/homa.py", "Homa")
    assert [(one.name, "as headers" in one.broken) for one in found if not one.holds] == [("finishes", True)]


@pytest.mark.parametrize(
    ("code", "broken", "said"),
    [
        (
            "WindowAlgorithm):\n    def on_ack(self, ack): self.cwnd += 2 * ack.new_segments",
            "growth",
            "grew the window",
        ),
        (
            "WindowAlgorithm):\n    needs = 'one_ecn_threshold'\n    def on_mark(self, ack): self.cwnd *= 2",
            "marks",
            "without marks",
        ),
        ("WindowAlgorithm):\n    def observe(self, ack): self.x = 1 / ack.new_segments", "survives", "ZeroDivision"),
        ("WindowAlgorithm):\n    def on_ack(self, ack): self.cwnd += random.random()", "repeatable", "use self.random"),
        (
            "WindowAlgorithm):\n    def on_ack(self, ack): self.cwnd += time.perf_counter() % 1",
            "repeatable",
            "the wall clock",
        ),
        ("RateAlgorithm):\n    def on_ack(self, ack): self.rate_bps = 0", "sends", "rate_bps is 0"),
        (
            "RateAlgorithm):\n    def on_ack(self, ack): self.timer_ns = ack.now_ns\n    def on_timer(self, at): pass",
            "survives",
            "give a later time",
        ),
        (f"{ARRIVAL}self.x = 1 / (arrival.bytes % 2)", "survives", "ZeroDivision"),
        (f"{ARRIVAL}self.grant(arrival.flow + 100, 1)", "survives", "has not arrived here"),
        (f"{ARRIVAL}self.acknowledge()", "finishes", "nothing is on the way, and no timer is set"),
        (
            f"{ARRIVAL}self.timer_ns = arrival.now_ns + 1\n    def on_timer(self, now): self.timer_ns = now + 1_000",
            "finishes",
            "timers in a row let nothing be sent",
        ),
        # Asks for what arrives: what came as a header is not asked for again.
        (
            f"{ARRIVAL}self.header = arrival.is_trimmed or self.pull(arrival.flow, arrival.bytes)",
            "finishes",
            "as headers",
        ),
        (f"{ARRIVAL}self.pull(arrival.flow, 3 * arrival.bytes)", "credit", "and a first window of"),
        (f"{ARRIVAL}self.grant(arrival.flow, 1 << 29)", "credit", "has a credit of"),
        (
            f"{ARRIVAL}self.pull(arrival.flow, random.choice((1, 2)) * arrival.bytes)",
            "repeatable",
            "use self.random",
        ),
        (
            f"{ARRIVAL}self.pull(arrival.flow, 1 + time.perf_counter_ns() % 500)",
            "repeatable",
            "the wall clock",
        ),
    ],
)
def test_what_is_broken_is_found(tmp_path: Path, code: str, broken: str, said: str) -> None:
    (tmp_path / "mine.py").write_text(f"{TOP}class Mine({code}\n")
    found = {one.name: one for one in check_algorithm(tmp_path / "mine.py", "Mine")}
    assert not found[broken].holds
    assert said in found[broken].broken


def test_the_command_ends_with_1_where_something_is_broken(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(f"{TOP}class Mine(WindowAlgorithm):\n    def on_ack(self, ack): self.cwnd *= 3\n")
    done = p4cc("check-algorithm", "mine.py:Mine", "--json", folder=tmp_path)
    assert done.returncode == 1
    assert {one["name"]: one["holds"] for one in json.loads(done.stdout)}["growth"] is False


def test_a_receiver_from_the_template_is_checked_and_runs_by_the_command_line(tmp_path: Path) -> None:
    made = p4cc("new", "algorithm", "Pulls", "--kind", "receiver", folder=tmp_path)
    assert "next: p4cc run pulls.yaml" in made.stdout
    checked = p4cc("check-algorithm", "pulls.py:Pulls", "--set", "pull_rate=0.5", folder=tmp_path)
    assert checked.returncode == 0, checked.stdout
    assert [line.split()[:2] for line in checked.stdout.splitlines()] == [
        ["holds", name] for name in ("survives", "finishes", "credit", "repeatable")
    ]
    ran = p4cc("run", "pulls.yaml", "--set", "seeds=[1]", "--out", "out", folder=tmp_path)
    assert ran.returncode == 0, ran.stderr
    runs = json.loads((tmp_path / "out" / "summary.json").read_text())["runs"]
    assert {run["variant"]: run["flows_completed"] for run in runs} == {"NDP": 8, "Pulls": 8}


@pytest.mark.parametrize("trims", [False, True])
def test_the_engine_s_own_receiver_finishes_in_the_model(trims: bool) -> None:
    """NDP is judged elsewhere (docs/reproduction/ndp.md): that it fails here would be a fault of the model."""
    trimmed = 0
    for seed in range(20):
        host = Host('{"name": "ndp"}', [], random.Random(seed))
        assert host.run([40_000, 1, 77_777, 120_000], Disturbances(trims=trims), 60_000) == ""
        assert all(flow.received == flow.size <= flow.given for flow in host.flows.values())
        trimmed += sum(flow.trimmed for flow in host.flows.values())
    assert (trimmed > 0) == trims
