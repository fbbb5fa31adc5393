"""Packets a second from veth to veth at 0.1 % loss: `make bench-veth`, as root.

    sender (namespace a, CPU 0) ── veth ── switch or null forwarder (CPU 1) ── veth ── namespace b

What arrived is what the far interface counts, so that nothing but the kernel's own receive path runs behind it. The
sender's half of the work, putting frames into the switch's ring, is done on the sender's processor; sending to the far
side, the receive path there included, on the switch's. Two figures:

- processor time for each packet of a backlog: the forwarder is stopped while its ring is filled, goes on, and the time
  that its threads ran until all had arrived is divided by the packets. It is what a core of its own would reach, and
  holds on a busy machine too;
- the highest rate at which at most 0.1 % is lost, found by doubling and halving the sender's rate (`--rates`): it needs
  both processors to themselves.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.switchd import ecn_dual
from tests.switchd.namespaces import PAIR, ROOT, Lab, attempt, lab, run, switch_program, wait_for
from tests.switchd.test_thrift import connect, free_port

MAX_LOSS = 0.001
SECONDS = 1
LOAD = ["cargo", "build", "--release", "--locked", "--quiet", "--package", "p4cc-switchd", "--example", "veth_load"]
#: Rates that the search starts from and ends at, and how near it comes.
LOWEST_PPS, HIGHEST_PPS, STEPS = 20_000, 2_560_000, 6
SENDER_CPU, SWITCH_CPU = "0", "1"
#: Frames in a ring, and in a backlog, which leaves room for a stray one.
RING, BACKLOG, ROUNDS = 16_384, 16_000, 5
#: Rate at which a ring is filled; longest wait for a backlog to drain.
FILL_PPS, PATIENCE_S = 200_000, 30


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
    rate = LOWEST_PPS * 8
    for _ in range(2 * STEPS):
        results = [trial(it, load, frame_bytes, rate) for _ in range(2)]
        good = [sent for sent, lost in results if lost <= MAX_LOSS]
        if good:
            best, low = max(best, *good), rate
            rate = rate * 2 if high == HIGHEST_PPS else (low + high) // 2
        else:
            high = rate
            rate = (low + high) // 2
        # A sender that cannot go faster ends the search too.
        if rate >= HIGHEST_PPS or high - low < low // 20 or (good and best < 0.9 * low):
            break
    return best


def processor_ns(pid: int) -> int:
    """Time that the threads of a process ran so far."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks)


def backlog_ns(it: Lab, load: str, pid: int, frame_bytes: int) -> float:
    """Processor time for each packet of a full ring; the least of some rounds."""
    found: list[float] = []
    for _ in range(ROUNDS):
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
    return min(found, default=float("nan"))


@contextmanager
def process(command: list[str]) -> Generator[subprocess.Popen[bytes]]:
    """A program for as long as it is measured."""
    started = subprocess.Popen(command)
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
def null_forwarder(it: Lab, load: str) -> Generator[int]:
    """The same input and output without a switch; its process."""
    interfaces = [host.port_interface for host in it.hosts]
    with process([load, "forward", *interfaces, SWITCH_CPU]) as running:
        time.sleep(1)
        yield running.pid


@contextmanager
def switch(it: Lab, program: Path) -> Generator[int]:
    """The daemon with a program; its process."""
    port = free_port()
    options = ["--thrift-port", str(port), "--cpu", SWITCH_CPU, "--ring-frames", str(RING)]
    target = ["--", "--grpc-server-addr", "127.0.0.1:0"]
    with process([switch_program(), *it.interfaces(), str(program), *options, *target]) as running:
        with wait_for(lambda: connect(port), "Thrift to answer"):
            pass
        if program == ecn_dual.PROGRAM:
            ecn_dual.install(port, it.hosts, 60)
        yield running.pid


def main() -> int:
    """Measures and prints."""
    load, with_rates = load_program(), "--rates" in sys.argv
    targets: dict[str, Callable[[Lab], AbstractContextManager[int]]] = {
        "null forwarder": lambda it: null_forwarder(it, load),
        "pair.p4 (one table)": lambda it: switch(it, PAIR),
        "ecn_dual.p4": lambda it: switch(it, ecn_dual.PROGRAM),
    }
    sizes = (64, 1_514)
    table = Table("what runs", *(f"{size} B: {what}" for size in sizes for what in ("ns a packet", "kpps", "of null")))
    if with_rates:
        for size in sizes:
            table.add_column(f"{size} B: lossless kpps")
    null: list[float] = []
    with tempfile.TemporaryDirectory() as folder, lab(Path(folder)) as it:
        prepare(it)
        for name, target in targets.items():
            with target(it) as pid:
                costs = [backlog_ns(it, load, pid, size) for size in sizes]
                rates = [lossless_pps(it, load, size) for size in sizes] if with_rates else []
            null = null or costs
            cells = [f"{ns:.0f} {1e6 / ns:.0f} {of / ns:.2f}".split() for ns, of in zip(costs, null, strict=True)]
            table.add_row(name, *(cell for row in cells for cell in row), *(f"{rate / 1e3:.0f}" for rate in rates))
    console = Console(width=None if sys.stdout.isatty() else 140)
    console.print(table)
    console.print(f"load average of the last minute: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    return 0


if __name__ == "__main__":
    sys.exit(main())
