"""A run of 128 hosts and 5,000 flows that a page watches, beside the same run alone in the same minute."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.request import HTTPCookieProcessor, Request, build_opener

from benches.row import Row
from benches.table_writes import ROOT

REPEATS = 5
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


P4CC = str(Path(sys.executable).with_name("p4cc"))


def live_row() -> Row:
    """Time of the run with a page that listens, over that without: the median of some pairs of runs."""
    ratios: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.yaml"
        path.write_text(SCENARIO, encoding="utf-8")
        for number in range(REPEATS):
            alone = _alone_s(path, Path(folder) / f"{number}")
            ratios.append(_watched_s(path, Path(folder) / f"{number}-live") / alone)
    ratio = sorted(ratios)[REPEATS // 2]
    return Row("128 hosts, 5,617 flows, watched in a page: time over that alone", ratio, "", 1.1)


def _alone_s(path: Path, out: Path) -> float:
    """Seconds that the run itself takes."""
    words = [P4CC, "run", str(path), "--out", str(out), "--no-cache", "--no-figures", "--json"]
    done = subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return float(json.loads(done.stdout)["runs"][0]["wall_s"])


def _watched_s(path: Path, out: Path) -> float:
    """Seconds from the first message in which time passes to the one that says that the run has ended."""
    words = [P4CC, "run", str(path), "--out", str(out), "--no-figures", "--live", "--speed", "max"]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as run:
        said = run.stderr.readline() if run.stderr is not None else ""
        found = re.match(r"live page: (\S+)$", said)
        if found is None:
            sys.exit(f"bench: the run shows no page: {said}")
        return _listen(found[1])


def _listen(address: str) -> float:
    """What `_watched_s` gives, of the page at this address; the run then ends."""
    opener = build_opener(HTTPCookieProcessor(CookieJar()))
    base = address.partition("/?")[0]
    opener.open(address).close()
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
    return ended - began
