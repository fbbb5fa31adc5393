"""Agents whose senders run algorithms in Python: real packets over the loopback interface."""

from __future__ import annotations

import json
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from p4cc.json_data import number
from p4cc.lab.own_agent import own_command
from p4cc.lab.processes import events
from p4cc.user_algorithms.load import load_any

if TYPE_CHECKING:
    from pathlib import Path

HOSTS = {"a": "127.0.31.1", "b": "127.0.31.2"}
MINE = """
from p4cc import WindowAlgorithm, number

class Mine(WindowAlgorithm):
    step = number(1, min=0.5, max=8, unit="segments")
    def start(self):
        self.alpha = 0.0
    def on_ack(self, ack):
        self.cwnd += self.step / self.cwnd
        self.alpha = min(self.alpha + 0.01, 1.0)
        {then}
"""


@pytest.mark.parametrize("then", ["pass", "1 / (ack.ack < 50_000)"])
def test_a_class_sends_real_packets(tmp_path: Path, then: str) -> None:
    (tmp_path / "mine.py").write_text(MINE.replace("{then}", then))
    sender = load_any(f"{tmp_path / 'mine.py'}:Mine", tmp_path / "-").with_values({"step": 2})
    config = {"cc": {"congestion_avoidance": {"name": "Mine", "own": 0}}, "ssthresh0": 4, "ecn_profile": None}
    flow = {"id": 1, "src": "a", "dst": "b", "size_bytes": 200_000, "algorithm": "mine", "start_ns": 0}
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"hosts": HOSTS, "algorithms": {"mine": config}, "flows": [flow], "seed": 3}))
    start_ns = time.time_ns() + 2_000_000_000
    agents: dict[str, subprocess.Popen[str]] = {}
    for host in HOSTS:
        metrics = str(tmp_path / f"{host}.jsonl")
        arguments = {"metrics": metrics, "start_at_ns": start_ns, "duration_ms": 3_000, "linger_ms": 50, "sample_ms": 1}
        words = own_command(plan, host, [sender], arguments)
        agents[host] = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    said = {host: agent.communicate(timeout=30)[1] for host, agent in agents.items()}
    sent = [line for line in events(tmp_path / "a.jsonl") if line.get("type") == "flow"]
    if then == "pass":
        assert [agent.returncode for agent in agents.values()] == [0, 0], said
        assert (number(sent[0]["fct_ns"]) or 0) > 0
        return
    assert (agents["a"].returncode, agents["b"].returncode) == (2, 1)
    assert "ZeroDivisionError" in said["a"]
    assert "in on_ack" in said["a"]
    assert "a: Mine, flow 1 at " in said["a"]
