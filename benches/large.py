"""The long run of the budgets: 320 hosts, WebSearch at 30 % load, HPCC, on one thread and on two.

`make bench-large` takes a tenth of it; `LARGE_NS=5_000_000 make bench-large` the whole, for which the budgets hold.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from benches.row import Row
from benches.table_writes import ROOT

WHOLE_NS = 5_000_000
"""How long flows arrive in the run that the budgets are for."""


def large_rows() -> list[Row]:
    """Seconds and packet-hops per second on one thread and two, and the largest resident set."""
    end_ns = int(os.environ.get("LARGE_NS", str(WHOLE_NS // 10)))
    rows: list[Row] = []
    for threads, budget_s in ((1, 25.0), (2, 15.0)):
        hops, seconds = _run(end_ns, threads)
        what = f"320 hosts, WebSearch 30 %, {end_ns / 1e6:g} ms, threads {threads}"
        rows.append(Row(what, seconds, "s", budget_s if end_ns == WHOLE_NS else None))
        rows.append(Row(f"{what}, rate", hops / seconds, "packet-hops/s", None))
    memory_mb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
    rows.append(Row(f"{end_ns / 1e6:g} ms: largest resident set", memory_mb, "MB", 400))
    return rows


def _run(end_ns: int, threads: int) -> tuple[int, float]:
    """Packet-hops and seconds of the run itself, without set-up and results."""
    program = Path(sys.executable).with_name("p4cc")
    settings = ("topology.k=12", "topology.hosts=320", f"traffic.end_ns={end_ns}")
    with tempfile.TemporaryDirectory() as out:
        command = [str(program), "run", str(ROOT / "experiments" / "hpcc" / "uniform203.yaml"), "--out", out, "--json"]
        command += ["--no-cache", "--no-figures", "--threads", str(threads)]
        command += [part for setting in settings for part in ("--set", setting)]
        done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    (run,) = json.loads(done.stdout)["runs"]
    return run["packet_hops"], run["wall_s"]
