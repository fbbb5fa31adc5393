"""Packets a second from veth to veth: `make bench-veth`, as root; `make bench-veth VETH=--rates` for rates and latency.

    sender (namespace a, CPU 0) ── veth ── switch or null forwarder (CPU 1) ── veth ── namespace b

What arrived is what the far interface counts, so that nothing but the kernel's own receive path runs behind it. The
sender's half of the work, putting frames into the switch's ring, is done on the sender's processor; sending to the far
side, the receive path there included, on the switch's. Of each program in turn, in so many rounds (`--rounds`):

- processor time for each packet of a backlog: the forwarder is stopped while its ring is filled, goes on, and the time
  that its threads ran until all had arrived is divided by the packets. It is what a core of its own would reach, and
  holds on a busy machine too. BMv2, whose ring is short, is given steady loads instead;
- with `--rates`, the highest rate at which at most 0.1 % is lost, found by doubling and halving the sender's rate, and
  the latency at half that rate, from the sender's clock to the kernel's at the far interface. Both processors must be
  free.

Ratios are made in each round, and their median is printed. BMv2 is measured too where `simple_switch` and `p4c-bm2-ss`
are on PATH.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.switchd import ecn_dual
from tests.switchd.namespaces import PAIR, ROOT, Lab, attempt, lab, run, switch_program, wait_for
from tests.switchd.test_thrift import connect, free_port

MAX_LOSS = 0.001
SECONDS = 1
LOAD = ["cargo", "build", "--release", "--locked", "--quiet", "--package", "p4cc-switchd", "--example", "veth_load"]
#: Rates that the search starts at, and within which it stays; how near it comes; rates that it tries at most.
FIRST_PPS, LOWEST_PPS, HIGHEST_PPS, NEAR, TRIALS = 160_000, 1_000, 2_560_000, 0.05, 14
SENDER_CPU, SWITCH_CPU = "0", "1"
#: Frames in a ring, and in a backlog, which leaves room for a stray one.
RING, BACKLOG, BACKLOGS = 16_384, 16_000, 5
#: Rate at which a ring is filled; longest wait for a backlog to drain.
FILL_PPS, PATIENCE_S = 200_000, 30
#: Rates at which processor time is measured without a backlog: the least counts, as threads that wake up for
#: each packet take more, and so do packets that are dropped late.
STEADY_PPS = (10_000, 20_000, 40_000, 80_000, 160_000)
SIZES = (64, 1_514)
NULL, BMV2 = "null forwarder, packet sockets", "BMv2, ecn_dual.p4"
#: Receives probes, which the sender marks by their UDP port, and prints how many nanoseconds each took: the
#: kernel's receive time less what the probe holds.
PROBES = """
import signal, socket, struct, sys
SO_TIMESTAMPNS, SO_ATTACH_FILTER, PORT = 35, 26, 5001
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
link.bind(("eth0", 0x0800))
code = [(0x28, 0, 0, 36), (0x15, 0, 1, PORT), (0x6, 0, 0, 0xffff), (0x6, 0, 0, 0)]
import ctypes
words = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
link.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HP", len(code), ctypes.addressof(words)))
link.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
link.settimeout(float(sys.argv[1]))
print("ready", flush=True)
try:
    while True:
        data, control, *_ = link.recvmsg(64, 64)
        if data[36:38] == PORT.to_bytes(2, "big"):
            seconds, ns = struct.unpack("qq", control[0][2])
            print(seconds * 10**9 + ns - int.from_bytes(data[42:50], "little"))
except TimeoutError:
    pass
"""


@dataclass(frozen=True)
class Figures:
    """What was measured of one program at one size of frames, in one round."""

    cost_ns: float
    lossless_pps: float = math.nan
    latency_ns: float = math.nan
    latency_p99_ns: float = math.nan


Time = Callable[[Figures], float]
PROCESSOR: dict[str, Time] = {"processor time, us": lambda one: one.cost_ns}
LATENCY: dict[str, Time] = {
    "latency at half the rate, us": lambda one: one.latency_ns,
    "its 99th percentile, us": lambda one: one.latency_p99_ns,
}


@dataclass(frozen=True)
class Target:
    """What is measured: how to run it, and whether it has a ring that holds a backlog."""

    name: str
    start: Callable[[Lab], AbstractContextManager[int]]
    has_ring: bool = True


def load_program() -> str:
    """Builds the load generator; its path."""
    done = subprocess.run([*LOAD, "--message-format=json"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    paths = [json.loads(line).get("executable") for line in done.stdout.splitlines() if line.startswith("{")]
    return next(path for path in reversed(paths) if path)


def received(it: Lab) -> int:
    """Packets that came in at the far namespace."""
    shown = run("ip", "-n", it.hosts[1].namespace, "-s", "-j", "link", "show", "eth0")
    return int(json.loads(shown)[0]["stats64"]["rx"]["packets"])


def trial(it: Lab, load: str, frame_bytes: int, rate_pps: int) -> tuple[float, float]:
    """Rate sent and share lost."""
    before = received(it)
    command = [load, "send", "eth0", str(frame_bytes), str(rate_pps), str(SECONDS), SENDER_CPU]
    done = subprocess.run(it.hosts[0].command(*command), check=True, capture_output=True, text=True)
    count, seconds = done.stdout.split()
    sent = int(count)
    time.sleep(0.2)
    arrived = received(it) - before
    return sent / float(seconds), 1 - min(arrived, sent) / max(sent, 1)


def lossless_pps(it: Lab, load: str, frame_bytes: int) -> float:
    """The highest rate found with at most the loss allowed: each rate is tried twice."""
    best, low, high = 0.0, LOWEST_PPS, HIGHEST_PPS
    rate = FIRST_PPS
    for _ in range(TRIALS):
        results = [trial(it, load, frame_bytes, rate) for _ in range(2)]
        good = [sent for sent, lost in results if lost <= MAX_LOSS]
        if good:
            best, low = max(best, *good), rate
            rate = rate * 2 if high == HIGHEST_PPS else (low + high) // 2
        else:
            high = rate
            rate = (low + high) // 2 if low > LOWEST_PPS else max(LOWEST_PPS, rate // 2)
        # A sender that cannot go faster ends the search too.
        if rate >= HIGHEST_PPS or high - low < NEAR * low or (good and best < 0.9 * low):
            break
    return best


def latencies_ns(it: Lab, load: str, frame_bytes: int, rate_pps: int) -> tuple[float, float]:
    """Median and 99th percentile of a packet's way at a rate."""
    listen = it.hosts[1].command("taskset", "-c", SENDER_CPU, sys.executable, "-c", PROBES, "1")
    with subprocess.Popen(listen, stdout=subprocess.PIPE, text=True) as listening:
        lines = iter(listening.stdout or ())
        next(lines)
        trial(it, load, frame_bytes, rate_pps)
        found = [int(line) for line in lines]
    if len(found) < 2:
        return math.nan, math.nan
    return statistics.median(found), statistics.quantiles(found, n=100)[98]


def processor_ns(pid: int) -> int:
    """Time that the threads of a process ran so far."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks)


def backlog_ns(it: Lab, load: str, pid: int, frame_bytes: int) -> float:
    """Processor time for each packet of a full ring; the least of some rounds."""
    found: list[float] = []
    for _ in range(BACKLOGS):
        before = received(it)
        os.kill(pid, signal.SIGSTOP)
        command = [load, "burst", "eth0", str(frame_bytes), str(FILL_PPS), str(BACKLOG), SENDER_CPU]
        subprocess.run(it.hosts[0].command(*command), check=True, capture_output=True)
        start_ns = processor_ns(pid)
        os.kill(pid, signal.SIGCONT)
        end = time.monotonic() + PATIENCE_S
        arrived = -1
        while (now := received(it) - before) != arrived and time.monotonic() < end:
            arrived = now
            time.sleep(0.25)
        if arrived > 0.99 * BACKLOG:
            found.append((processor_ns(pid) - start_ns) / arrived)
    return min(found, default=math.nan)


def steady_ns(it: Lab, load: str, pid: int, frame_bytes: int) -> float:
    """Processor time for each packet that arrives of a steady load; the least of some rates."""
    found: list[float] = []
    for rate_pps in STEADY_PPS:
        before, start_ns = received(it), processor_ns(pid)
        trial(it, load, frame_bytes, rate_pps)
        arrived = received(it) - before
        if arrived:
            found.append((processor_ns(pid) - start_ns) / arrived)
    return min(found, default=math.nan)


@contextmanager
def process(command: list[str]) -> Generator[subprocess.Popen[bytes]]:
    """A program for as long as it is measured."""
    started = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        yield started
    finally:
        started.terminate()
        started.wait()


def prepare(it: Lab) -> None:
    """Nobody but the load sends or answers."""
    for host in it.hosts:
        attempt("ip", "-n", host.namespace, "addr", "flush", "dev", "eth0")


@contextmanager
def null_forwarder(load: str, io: str, it: Lab) -> Generator[int]:
    """The same input and output without a switch; its process."""
    interfaces = [host.port_interface for host in it.hosts]
    with process([load, "forward", *interfaces, SWITCH_CPU, io]) as running:
        time.sleep(1)
        yield running.pid


@contextmanager
def switch(program: Path, io: str, it: Lab) -> Generator[int]:
    """The daemon with a program; its process."""
    port = free_port()
    options = ["--thrift-port", str(port), "--cpu", SWITCH_CPU, "--ring-frames", str(RING), "--io", io, "-L", "off"]
    target = ["--", "--grpc-server-addr", "127.0.0.1:0"]
    with process([switch_program(), *it.interfaces(), str(program), *options, *target]) as running:
        ready(port, it, program)
        yield running.pid


def ready(port: int, it: Lab, program: Path) -> None:
    """Waits for a switch, and sets its tables."""
    with wait_for(lambda: connect(port), "Thrift to answer"):
        pass
    if program == ecn_dual.PROGRAM:
        ecn_dual.install(port, it.hosts, 60)


@contextmanager
def bmv2(simple_switch: str, compiler: str, it: Lab) -> Generator[int]:
    """BMv2 with `ecn_dual.p4` as p4c compiles it, all its threads on the switch's processor; its process."""
    program, port = it.folder / "ecn_dual.json", free_port()
    compile_it = [compiler, "-I", str(ROOT / "p4src"), "-o", str(program), str(ecn_dual.PROGRAM)]
    subprocess.run(compile_it, check=True, capture_output=True)
    socket = f"ipc://{it.folder}/notifications.ipc"
    options = ["--thrift-port", str(port), "--notifications-addr", socket]
    pinned = ["taskset", "-c", SWITCH_CPU, simple_switch]
    with process([*pinned, *it.interfaces(), *options, str(program)]) as running:
        ready(port, it, ecn_dual.PROGRAM)
        yield running.pid


def targets(load: str) -> list[Target]:
    """What is measured, in its order."""
    found = [
        Target(NULL, partial(null_forwarder, load, "packet")),
        Target("null forwarder, AF_XDP", partial(null_forwarder, load, "af_xdp")),
        Target("one exact table, AF_XDP", partial(switch, PAIR, "af_xdp")),
        Target("ecn_dual.p4, packet sockets", partial(switch, ecn_dual.PROGRAM, "packet")),
        Target("ecn_dual.p4, AF_XDP", partial(switch, ecn_dual.PROGRAM, "af_xdp")),
    ]
    simple_switch, compiler = shutil.which("simple_switch"), shutil.which("p4c-bm2-ss")
    if simple_switch and compiler:
        found.append(Target(BMV2, partial(bmv2, simple_switch, compiler), has_ring=False))
    return found


def measure(it: Lab, load: str, target: Target, frame_bytes: int, *, with_rates: bool) -> Figures:
    """One program at one size."""
    with target.start(it) as pid:
        cost = backlog_ns if target.has_ring else steady_ns
        cost_ns = cost(it, load, pid, frame_bytes)
        if not with_rates:
            return Figures(cost_ns)
        rate = lossless_pps(it, load, frame_bytes)
        latency = latencies_ns(it, load, frame_bytes, int(rate / 2)) if rate else (math.nan, math.nan)
        return Figures(cost_ns, rate, *latency)


def spread(values: list[float], scale: float = 1.0, digits: int = 0) -> str:
    """Median, and range where there is one."""
    low, middle, high = (f"{of(values) / scale:.{digits}f}" for of in (min, statistics.median, max))
    return middle if low == high else f"{middle} ({low} to {high})"


def ratios(of: list[float], to: list[float] | None) -> str:
    """Median and range of the ratios of each round; nothing where there is nothing to compare with."""
    return (
        spread([one / other if other else math.nan for one, other in zip(of, to, strict=True)], digits=2) if to else ""
    )


def taken(rounds: list[dict[str, Figures]], name: str, figure: Callable[[Figures], float]) -> list[float] | None:
    """One figure of each round; none of a program that was not measured."""
    return [figure(one[name]) for one in rounds] if name in rounds[0] else None


def table(
    title: str, rounds: list[dict[str, Figures]], pps: Callable[[Figures], float], times: dict[str, Time]
) -> Table:
    """Packets a second, their ratios within a round to the null forwarder and to BMv2, and times."""
    shown = Table(title, "kpps", "of null", "of BMv2", *times)
    for name in rounds[0]:
        rates = taken(rounds, name, pps) or []
        cells = [spread(rates, 1e3), *(ratios(rates, taken(rounds, base, pps)) for base in (NULL, BMV2))]
        cells += [spread(taken(rounds, name, time_ns) or [], 1e3, 2) for time_ns in times.values()]
        shown.add_row(name, *cells)
    return shown


def main() -> int:
    """Measures and prints."""
    parser = argparse.ArgumentParser(prog="benches.veth")
    parser.add_argument("--rates", action="store_true", help="lossless rates and latency too")
    parser.add_argument("--rounds", type=int, default=3, help="rounds over all programs")
    options = parser.parse_args()
    load = load_program()
    console = Console(width=None if sys.stdout.isatty() else 150)
    rounds: dict[int, list[dict[str, Figures]]] = {size: [] for size in SIZES}
    with tempfile.TemporaryDirectory() as folder, lab(Path(folder)) as it:
        prepare(it)
        for number in range(1, options.rounds + 1):
            for size, measured in rounds.items():
                take = partial(measure, it, load, frame_bytes=size, with_rates=options.rates)
                measured.append({target.name: take(target) for target in targets(load)})
            loaded = f"load average of the last minute: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"
            console.print(f"round {number} of {options.rounds}; {loaded}")
    for size, measured in rounds.items():
        console.print(table(f"{size} B, a core carries", measured, lambda one: 1e9 / one.cost_ns, PROCESSOR))
        if options.rates:
            console.print(table(f"{size} B, without loss", measured, lambda one: one.lossless_pps, LATENCY))
    if BMV2 not in rounds[SIZES[0]][0]:
        console.print("BMv2 is not measured: simple_switch and p4c-bm2-ss are not both on PATH (docs/how-to/bmv2.md)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
