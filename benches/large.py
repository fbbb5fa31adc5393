"""The long runs of the budgets: `make bench-large`.

- 320 hosts, WebSearch at 30 % load, HPCC, on one thread and on two. By itself it takes a tenth of it;
  `LARGE_NS=5_000_000 make bench-large` the whole, for which the budgets hold.
- What two threads gain, beside what the machine gives two processes: half of that run alone, twice at the same time,
  and on two threads, in rounds, so that a slow phase of the machine is seen in all three; with short links too.
- Permutations of 1,024 and 8,192 hosts: packet-hops a second and memory.
"""

from __future__ import annotations

import os

from benches.growth import permutation_rows
from benches.row import Row
from benches.runs import Going
from benches.table_writes import ROOT

WHOLE_NS = 5_000_000
"""How long flows arrive in the run that the budgets are for."""
ROUNDS = 3
DELAYS_NS = (1_000, 100)
"""Of every link: usual ones, and such as within a rack, by which threads can look ahead less."""
MEMORY_MB = 400.0


def large_rows(end_ns: int = 0) -> list[Row]:
    """Seconds and packet-hops per second, the largest resident set, the judge of two threads, permutations."""
    end_ns = end_ns or int(os.environ.get("LARGE_NS", str(WHOLE_NS // 10)))
    rows: list[Row] = []
    memory_mb = 0.0
    for threads, budget_s in ((1, 25.0), (2, 15.0)):
        run = _begun(end_ns, threads).end()
        what = f"320 hosts, WebSearch 30 %, {end_ns / 1e6:g} ms, threads {threads}"
        rows.append(Row(what, run.wall_s, "s", budget_s if end_ns == WHOLE_NS else None))
        rows.append(Row(f"{what}, rate", run.packet_hops / run.wall_s, "packet-hops/s", None))
        memory_mb = max(memory_mb, run.resident_mb)
    rows.append(Row(f"{end_ns / 1e6:g} ms: largest resident set", memory_mb, "MB", MEMORY_MB))
    judged = (row for delay_ns in DELAYS_NS for row in _judge_rows(end_ns // 2, delay_ns))
    return [*rows, *judged, *permutation_rows()]


def _judge_rows(end_ns: int, delay_ns: int) -> list[Row]:
    """One process, each of two at the same time, and two threads; medians of rounds and their ranges."""
    alone: list[float] = []
    beside: list[float] = []
    on_two: list[float] = []
    for _ in range(ROUNDS):
        alone.append(_begun(end_ns, 1, delay_ns).end().wall_s)
        pair = _begun(end_ns, 1, delay_ns), _begun(end_ns, 1, delay_ns)
        beside.append(max(one.end().wall_s for one in pair))
        on_two.append(_begun(end_ns, 2, delay_ns).end().wall_s)
    what = f"320 hosts, {end_ns / 1e6:g} ms, links of {delay_ns} ns"
    gains = [one / two for one, two in zip(alone, on_two, strict=True)]
    return [
        Row.of_rounds(f"{what}: one process of one thread", alone, "s"),
        Row.of_rounds(f"{what}: the slower of two such at the same time", beside, "s"),
        Row.of_rounds(f"{what}: one process of two threads", on_two, "s"),
        Row.of_rounds(f"{what}: one thread's time over that of two", gains, ""),
    ]


def _begun(end_ns: int, threads: int, delay_ns: int = DELAYS_NS[0]) -> Going:
    sizes = ("topology.k=12", "topology.hosts=320")
    settings = (*sizes, f"topology.delay_ns={delay_ns}", f"traffic.end_ns={end_ns}")
    words = [part for setting in settings for part in ("--set", setting)]
    return Going(ROOT / "experiments" / "hpcc" / "uniform203.yaml", "--threads", str(threads), *words)
