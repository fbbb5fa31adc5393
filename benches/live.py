"""A run of 128 hosts and 5,000 flows that a page watches, beside the same run alone in the same minute."""

from __future__ import annotations

import json
import tempfile
import threading
import time
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.request import HTTPCookieProcessor, Request, build_opener

from benches.row import Row
from p4cc.live.run import LiveRun
from p4cc.running.runner import RunRequest, run_scenario

REPEATS = 3
SCENARIO = """
name: bench-live
topology: {kind: fat_tree, k: 8, rate_bps: 100G, delay_ns: 1us, queue_capacity_pkts: 1_000}
switch:
  program: p4src/v1model/ecn_dual.p4
  ecn_profile: rfc3168
  thresholds: {k_rule: fixed, k_pkts: 100}
traffic: {kind: poisson, size: {kind: cdf, file: experiments/cdf/web_search.cdf}, load: 0.5, end_ns: 12ms}
transport: {mss_bytes: 1436, iw: 10, rwnd: 256, rto_min_ns: 1ms, rto_init_ns: 1ms}
variants:
  - {name: DCTCP, congestion_avoidance: {name: dctcp}}
stop_ns: 4ms
record: {windows_interval_ns: null, queues_interval_ns: null}
"""


def live_row() -> Row:
    """Time of the run with a page that listens, over that without: the median of some pairs of runs."""
    ratios: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.yaml"
        path.write_text(SCENARIO, encoding="utf-8")
        for number in range(REPEATS):
            alone = RunRequest(path, Path(folder) / f"{number}", figures=False, quiet=True, use_cache=False)
            (row,) = run_scenario(alone).summary["runs"]
            ratios.append(_watched_s(path, Path(folder) / f"{number}-live") / row["wall_s"])
    ratio = sorted(ratios)[REPEATS // 2]
    return Row("128 hosts, 5,617 flows, watched in a page: time over that alone", ratio, "", 1.1)


def _watched_s(path: Path, out: Path) -> float:
    """Seconds from the first message in which time passes to the one that says that the run has ended."""
    watcher = LiveRun(speed=None)
    request = RunRequest(path, out, figures=False, quiet=True, watcher=watcher)
    thread = threading.Thread(target=run_scenario, args=(request,))
    thread.start()
    while watcher.server is None or watcher.server.port == 0:
        time.sleep(0.01)
    opener = build_opener(HTTPCookieProcessor(CookieJar()))
    base = watcher.server.address.partition("/?")[0]
    opener.open(watcher.server.address).close()
    began = ended = 0.0
    with opener.open(f"{base}/api/stream") as stream:
        for line in stream:
            if not line.startswith(b"data: "):
                continue
            state = json.loads(line[6:])["state"]
            if state == "running" and not began:
                began = time.perf_counter()
            elif state == "ended":
                ended = time.perf_counter()
                break
    finish = json.dumps({"do": "finish"}).encode()
    asked = Request(f"{base}/api/control", finish, {"Content-Type": "application/json"})  # noqa: S310 - the loopback
    opener.open(asked).close()
    thread.join()
    return ended - began
