"""An incast of 16 senders with DCTCP in Python, beside the engine's DCTCP in the same minute."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benches.row import Row
from p4cc.running.request import RunRequest
from p4cc.running.runner import run_scenario

ROOT = Path(__file__).resolve().parents[1]
REPEATS = 3
SCENARIO = """
name: bench-own-algorithms
topology: {kind: star, senders: 16, rate_bps: 10G, rtt_ns: 16us, queue_capacity_pkts: 150}
switch: {program: p4src/v1model/ecn_dual.p4}
traffic: {kind: incast, sru_bytes: 80_000_000}
transport: {recovery: sack, rto_min_ns: 10ms, rto_init_ns: 10ms}
variants:
  - {name: built in, congestion_avoidance: {name: dctcp}}
  - {name: Python, congestion_avoidance: {python: "%s:Dctcp"}}
record: {windows_interval_ns: null, queues_interval_ns: null}
"""


def own_algorithm_row() -> Row:
    """Packet-hops a second with the class, over those of the engine's own: the median of some pairs of runs."""
    shares: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.yaml"
        path.write_text(SCENARIO % (ROOT / "experiments/own_algorithms/dctcp.py"), encoding="utf-8")
        for number in range(REPEATS):
            request = RunRequest(path, Path(folder) / str(number), figures=False, quiet=True, use_cache=False)
            built_in, python = (row["wall_s"] for row in run_scenario(request).summary["runs"])
            shares.append(built_in / python)
    share = sorted(shares)[REPEATS // 2]
    return Row("incast of 16 hosts, DCTCP in Python: speed over that of the built-in one", share, "", 0.25, True)
