"""How time and memory grow with hosts, and memory with the length of a run: `python -m benches.growth`.

Permutations of the hosts of fat trees: each sends to one in the next pod, with HPCC. Those of 16 to 8,192 hosts record
nothing, so that what is seen is the network's; those of 128 hosts and 10^7 to 10^8 packet-hops record windows, queues
and every round-trip time. The figures go to `benches/growth.json`, the picture into the documents; `--draw` only draws
anew what stands there. `--hops N` makes one run of 128 hosts and N packet-hops and prints what came of it.
"""

# matplotlib's stubs leave **kwargs untyped.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from benches.row import Row
from benches.runs import Ran, ran
from benches.table_writes import ROOT

FIGURES = ROOT / "benches" / "growth.json"
PICTURE = ROOT / "docs" / "images" / "growth.png"
SIZE_BYTES = 500_000
"""Of each host's flow where the network grows."""
SMALLEST = 4
"""Number of ports of the smallest tree's switches: what its run takes is mostly imports."""
BUDGETS_MB = {16: 1_000.0, 32: 6_000.0}
"""Of resident sets, by the number of a switch's ports."""
HOPS_OF_A_FLOW = 12 / 1_000
"""Packet-hops of a byte between pods: six links, there and back, 1,000 B a packet."""
RECORDED = 8
"""Number of ports of the switches of the tree that records much."""
LENGTHS = (10_000_000, 30_000_000, 100_000_000)
"""Packet-hops."""
MEMORY = "largest resident set (MB)"
MOST_ITEMS = 4_096
"""Hosts that one kind of traffic lists."""
RECORDING_NOTHING = "{windows_interval_ns: null, queues_interval_ns: null}"
RECORDING_MUCH = "{windows_interval_ns: 200, queues_interval_ns: 200, rtts: true, max_rows: 1_000_000_000}"

SCENARIO = """
name: bench-permutation
topology: {{kind: fat_tree, k: {k}, rate_bps: 100G, delay_ns: 1us, queue_capacity_pkts: 500_000}}
switch:
  program: p4src/v1model/int_hpcc.p4
  ecn_profile: rfc3168
  timestamp_unit: ns
  qdepth_unit: cells_80B
  buffer: {{bytes: 33_554_432, lossless_priorities: [3], alpha_log2: -3}}
traffic:
{traffic}
transport: {{kind: rdma, ack_class: 3}}
variants:
  - {{name: HPCC, rate_control: {{name: hpcc}}}}
stop_ns: 10s
limits: {{max_events: 100_000_000_000}}
record: {record}
"""


def hosts_of(k: int) -> int:
    """Hosts of a fat tree of switches with `k` ports."""
    return k**3 // 4


def scenario(k: int, size_bytes: int, record: str = RECORDING_NOTHING) -> str:
    """Each host sends to one of the next pod."""
    hosts, shift = hosts_of(k), k * k // 4 + 1
    items: list[str] = []
    for first in range(0, hosts, MOST_ITEMS):
        part = range(first, min(first + MOST_ITEMS, hosts))
        sources = ", ".join(f"h{host + 1}" for host in part)
        destinations = ", ".join(f"h{(host + shift) % hosts + 1}" for host in part)
        words = f"kind: bulk, name: from-h{first + 1}, size_bytes: {size_bytes}, priority: 3"
        items.append(f"  - {{{words}, sources: [{sources}], destinations: [{destinations}]}}")
    return SCENARIO.format(k=k, traffic="\n".join(items), record=record)


def permutation(k: int, size_bytes: int, record: str = RECORDING_NOTHING, threads: int = 1) -> Ran:
    """Runs it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.yaml"
        path.write_text(scenario(k, size_bytes, record), encoding="utf-8")
        return ran(path, "--threads", str(threads))


def permutation_rows() -> list[Row]:
    """Packet-hops a second, resident set and bytes of a host, of 1,024 and of 8,192 hosts."""
    rows: list[Row] = []
    base = permutation(SMALLEST, SIZE_BYTES)
    for k, budget_mb in BUDGETS_MB.items():
        one, hosts = permutation(k, SIZE_BYTES), hosts_of(k)
        of_host = (one.resident_mb - base.resident_mb) * 1e6 / (hosts - hosts_of(SMALLEST))
        what = f"permutation of {hosts:,} hosts, HPCC, {SIZE_BYTES / 1e6:g} MB each"
        rows.append(Row(what, one.packet_hops / one.wall_s, "packet-hops/s", None, more_is_better=True))
        rows.append(Row(f"{what}: largest resident set", one.resident_mb, "MB", budget_mb))
        rows.append(Row(f"{what}: memory of a host", of_host, "B", None))
    return rows


def main() -> int:
    """Measures and draws, or one of the two."""
    if "--hops" in sys.argv:
        _of_length(int(float(sys.argv[sys.argv.index("--hops") + 1])))
        return 0
    if "--draw" not in sys.argv:
        held = {"hosts": _by_hosts(), "lengths": _by_length()}
        FIGURES.write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")
    draw(json.loads(FIGURES.read_text(encoding="utf-8")))
    return 0


def _by_hosts() -> list[dict[str, Any]]:
    return [_told(permutation(k, SIZE_BYTES), hosts=hosts_of(k)) for k in (4, 8, 16, 32)]


def _by_length() -> list[dict[str, Any]]:
    return [_of_length(hops) for hops in LENGTHS]


def _of_length(hops: int) -> dict[str, Any]:
    size = round(hops / HOPS_OF_A_FLOW / hosts_of(RECORDED))
    return _told(permutation(RECORDED, size, RECORDING_MUCH), hosts=hosts_of(RECORDED))


def _told(one: Ran, hosts: int) -> dict[str, Any]:
    found = {
        "hosts": hosts,
        "packet_hops": one.packet_hops,
        "wall_s": round(one.wall_s, 3),
        "resident_mb": round(one.resident_mb, 1),
    }
    sys.stdout.write(f"{json.dumps(found)}\n")
    sys.stdout.flush()
    return found


def draw(held: dict[str, list[dict[str, Any]]]) -> None:
    """Three panels: time of a packet-hop and memory by hosts, memory by packet-hops."""
    from matplotlib.figure import Figure

    from p4cc.figures.style import COLOURS, MARKERS, log_scale, save, use_style

    use_style()
    page = Figure(figsize=(10, 3), layout="constrained")
    by_hosts, by_length = held["hosts"], held["lengths"]
    hosts, hops = [one["hosts"] for one in by_hosts], [one["packet_hops"] for one in by_length]
    times_ns = [1e9 * one["wall_s"] / one["packet_hops"] for one in by_hosts]
    panels = [
        (hosts, times_ns, "hosts", "time of a packet-hop (ns)"),
        (hosts, [one["resident_mb"] for one in by_hosts], "hosts", MEMORY),
        (hops, [one["resident_mb"] for one in by_length], "packet-hops, 128 hosts, much recorded", MEMORY),
    ]
    for number, (x, y, x_label, y_label) in enumerate(panels):
        axes = page.add_subplot(1, len(panels), number + 1)
        axes.plot(x, y, color=COLOURS[number], marker=MARKERS[number])
        log_scale(axes, x=True)
        axes.set_ylim(0, 1.15 * max(y))
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
    save(page, PICTURE)


if __name__ == "__main__":
    sys.exit(main())
