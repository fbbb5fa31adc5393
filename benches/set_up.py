"""Set-up of large networks, and of the command line itself: processor time of whole commands.

A fat tree is planned, its programs are pushed and its tables written over P4Runtime, all is read back and checked, one
small incast runs, and the counters of every port are read. What a run of four hosts takes, mostly imports, is taken
off.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from benches.row import Row
from benches.table_writes import ROOT

REPEATS = 5
P4CC = str(Path(sys.executable).with_name("p4cc"))
SCENARIO = """
name: bench-set-up
topology: {topology}
switch:
  program: p4src/v1model/ecn_dual.p4
  ecn_profile: rfc3168
  thresholds: {{k_rule: fixed, k_pkts: 100}}
traffic: {{kind: incast, sources: [h2, h3], destination: h1, sru_bytes: 20000}}
transport: {{mss_bytes: 1436, iw: 10, rwnd: 256, rto_min_ns: 1ms, rto_init_ns: 1ms}}
variants:
  - {{name: DCTCP, congestion_avoidance: {{name: dctcp}}}}
stop_ns: 4ms
record: {{windows_interval_ns: null, queues_interval_ns: null}}
"""
FAT_TREE = "{{kind: fat_tree, k: {k}, rate_bps: 100G, delay_ns: 1us, queue_capacity_pkts: 1_000}}"


def help_row() -> Row:
    """`p4cc --help`, the least of some."""
    return Row("p4cc --help, processor time", min(_spent_s([P4CC, "--help"]) for _ in range(REPEATS)), "s", 0.2)


def set_up_rows() -> list[Row]:
    """Processor time of `p4cc run` for the smallest star, and what two fat trees take beyond it."""
    star_s = min(_run_s("{kind: star, senders: 3}") for _ in range(REPEATS))
    rows = [Row("p4cc run of 4 hosts, mostly imports, processor time", star_s, "s", None)]
    for hosts, k, budget in (("1,024", 16, 3.0), ("8,192", 32, 30.0)):
        beyond_s = _run_s(FAT_TREE.format(k=k)) - star_s
        rows.append(Row(f"set-up of {hosts} hosts, beyond that", beyond_s, "s", budget))
    return rows


def _run_s(topology: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.yaml"
        path.write_text(SCENARIO.format(topology=topology), encoding="utf-8")
        return _spent_s([P4CC, "run", str(path), "--out", f"{folder}/out", "--no-cache", "--json"])


def _spent_s(command: list[str]) -> float:
    """Processor time of a command and of what it starts."""
    before = _children_s()
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return _children_s() - before


def _children_s() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime
