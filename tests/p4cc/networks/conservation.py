"""Runs drawn scenarios and checks what holds in each; `python tests/p4cc/networks/conservation.py COUNT` runs many.

In each: every packet that left a host was delivered, dropped, lost, is on a link or waits in a queue, in the whole
network, at each switch and on each link; a flow that is complete sent each of its bytes, and no time undercuts its way;
where nothing was lost every flow ended, and those of senders that back off ended in any case, if an hour is enough.
A run in which go-back-N repeats at its pace for minutes is cut off after some processor time; all but the ends of its
flows is checked then too.
"""

from __future__ import annotations

import argparse
import math
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from threading import local
from typing import TYPE_CHECKING, Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import polars as pl

import p4cc
from p4cc.algorithms import registry
from p4cc.errors import UserError
from tests.p4cc.networks.drawn import HOUR_NS, drawn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection

    from p4cc.api.now import Snapshot

_ROUNDING = 1e-6
_ASKING = {row.name for row in registry() if row.switch_needs == "rate_allocation"}

WAITS_PER_LIMIT = 30
"""A scenario may wait for so many times its processor time, since others use the machine too."""


CUT_S = 12.0
"""Processor time of a run that is long enough to look at, whether its flows have ended or not."""


def findings(number: int) -> list[str]:
    """What is wrong with the scenario of a number; a refusal and an exception too."""
    scenario = drawn(number)
    try:
        with p4cc.Network(scenario) as network:
            _run(network)
            balance = network._run.network.packet_balance()  # pyright: ignore[reportPrivateUsage]
            result = network.result()
            found = [*_broken(scenario, balance, result)]
            # Senders that choose may take a path that is shorter than the flow's own.
            found += [] if "entropy" in scenario["transport"] else _slowdowns(result.flows)
            return [f"{number}: {one}" for one in found]
    except UserError as error:
        return [f"{number}: refused: {error}"]
    except Exception as error:  # noqa: BLE001 - whatever comes is a finding
        return [f"{number}: {type(error).__name__}: {error}"]


def _run(network: p4cc.Network) -> None:
    """Runs to the end, or to `CUT_S`, in steps that take a small part of it however busy the network is."""
    span_ns, began_s = 1_000, time.process_time()
    while not network.has_ended and (step_s := time.process_time()) < began_s + CUT_S:
        network.run_for(span_ns)
        span_ns = span_ns * 2 if time.process_time() < step_s + CUT_S / 100 else max(1, span_ns // 2)


def _broken(scenario: dict[str, Any], balance: dict[str, int], result: Snapshot) -> Iterator[str]:
    sources = sum(balance[name] for name in ("sent", "injected", "copies", "packet_outs", "generated"))
    left = sum(balance[name] for name in ("on_way", "waiting"))
    ends = sum(balance[name] for name in ("delivered", "refused", "dropped", "lost", "packet_ins"))
    if sources != ends + left:
        yield f"packets: {balance}"
    if balance["refused"]:
        yield f"{balance['refused']} packets refused by hosts"
    yield from _ports(balance, result)
    open_flows = int(result.summary["flows_finite"]) - int(result.summary["flows_completed"])
    yield from _flows(scenario, balance, result.flows, open_flows)


def _ports(balance: dict[str, int], result: Snapshot) -> Iterator[str]:
    """Packets at each switch; no packet of these programs is copied or answered but by a switch that says so."""
    if balance["copies"]:
        return
    columns = ("rx_pkts", "tx_pkts", "dropped_pkts")
    for row in result.ports.group_by("switch").agg(pl.sum(*columns)).sort("switch").iter_rows(named=True):
        kept = row["rx_pkts"] - row["tx_pkts"] - row["dropped_pkts"]
        if not 0 <= kept <= balance["waiting"]:
            yield f"{row['switch']}: {kept} packets of {row['rx_pkts']} are neither sent nor dropped"


def _flows(scenario: dict[str, Any], balance: dict[str, int], flows: pl.DataFrame, open_flows: int) -> Iterator[str]:
    segment = scenario["transport"]["mss_bytes"]
    is_whole = all(item["kind"] in ("incast", "bulk", "poisson") for item in scenario["traffic"])
    (variant,) = scenario["variants"]
    asks = variant.get("rate_control", {}).get("name") in _ASKING
    reads = scenario["transport"].get("reads", False)
    has_more = asks or any(scenario["transport"].get(key) for key in ("segment_bytes", "message_bytes"))
    is_lost = balance["dropped"] + balance["lost"] > 0
    for row in flows.iter_rows(named=True):
        flow = f"flow {row['flow_id']}"
        # Of a read what is sent again is a request, for data that may never have been sent.
        first = row["data_pkts"] - (0 if reads else row["retransmitted_pkts"])
        if row["size_bytes"] is not None and row["acked_bytes"] > row["size_bytes"]:
            yield f"{flow}: {row['acked_bytes']} bytes acknowledged of {row['size_bytes']}"
        if row["acked_bytes"] > first * segment:
            yield f"{flow}: {row['acked_bytes']} bytes acknowledged of {first} packets"
        if row["fct_ns"] is None:
            continue
        if row["acked_bytes"] != row["size_bytes"]:
            yield f"{flow}: complete with {row['acked_bytes']} of {row['size_bytes']} bytes"
        least = math.ceil(row["size_bytes"] / segment)
        # Segments and messages may end in short packets, and requests for rates are packets too.
        if is_whole and (first < least or (first > least and not has_more)):
            yield f"{flow}: {first} packets of {segment} for {row['size_bytes']} bytes"
        # When a link fails or returns, packets overtake others on the new path.
        if not is_lost and not scenario["faults"] and row["retransmitted_pkts"]:
            yield f"{flow}: {row['retransmitted_pkts']} packets again, none lost, {row['timeouts']} timeouts"
        if row["slowdown_rate_only"] is not None and row["slowdown_rate_only"] < 1 - _ROUNDING:
            yield f"{flow}: faster than its link: {row['slowdown_rate_only']}"
    # A paced sender repeats at its pace, and ACKs that bursts of others push out may be lost again and again.
    # What would take longer is cut after an hour.
    must_end = (not is_lost or "rate_control" not in variant) and scenario["stop_ns"] < HOUR_NS
    if must_end and open_flows > int(flows["quenched"].sum() or 0):
        yield f"{open_flows} flows did not end; " + ("some packets were lost" if is_lost else "nothing was lost")


def _slowdowns(flows: pl.DataFrame) -> Iterator[str]:
    """Flows faster than alone; times are whole nanoseconds, rounded down."""
    for row in flows.filter(pl.col("fct_ns") + 1 < pl.col("ideal_fct_ns")).iter_rows(named=True):
        yield f"flow {row['flow_id']}: {row['fct_ns']} ns, and {row['ideal_fct_ns']} alone: slowdown {row['slowdown']}"


class Worker:
    """A process that tries one number after the other. One that takes too long is ended with it, and another starts."""

    def __init__(self, try_number: Callable[[int], list[str]], limit_s: float) -> None:
        """Starts the process, which calls `try_number`; each call may take `limit_s` of processor time."""
        self._try_number, self._limit_s = try_number, limit_s
        self._start()

    def _start(self) -> None:
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        arguments = (theirs, self._try_number, self._limit_s)
        self._process = context.Process(target=_serve, args=arguments, daemon=True)
        self._process.start()
        theirs.close()

    def findings(self, number: int) -> list[str]:
        """What is wrong with the scenario of a number; that it takes too long, or ends its process, too."""
        self._pipe.send(number)
        # Whoever waits for nothing takes no processor time.
        waits_s = WAITS_PER_LIMIT * self._limit_s
        try:
            if self._pipe.poll(waits_s):
                return self._pipe.recv()
            found = f"not finished after {waits_s:g} s"
            self._process.kill()
        except EOFError:
            self._process.join()
            is_late = self._process.exitcode == -signal.SIGPROF
            late = f"not finished after {self._limit_s:g} s of processor time"
            found = late if is_late else f"ended its process: {self._process.exitcode}"
        self.close()
        self._start()
        return [f"{number}: {found}"]

    def close(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.join()
        self._pipe.close()


def _serve(pipe: Connection, try_number: Callable[[int], list[str]], limit_s: float) -> None:
    # Ends with the process that asks.
    with suppress(EOFError):
        while True:
            number = pipe.recv()
            signal.setitimer(signal.ITIMER_PROF, limit_s)
            found = try_number(number)
            signal.setitimer(signal.ITIMER_PROF, 0)
            pipe.send(found)


def tried(numbers: range, jobs: int, limit_s: float) -> Iterator[list[str]]:
    """The findings of each number, in order; each may take `limit_s` of processor time."""
    workers = local()

    def of_thread(number: int) -> list[str]:
        if not hasattr(workers, "own"):
            workers.own = Worker(findings, limit_s)
        return workers.own.findings(number)

    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(of_thread, numbers)


def main() -> int:
    """Tries scenarios from a first number on and prints what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, help="scenarios to try")
    parser.add_argument("--first", type=int, default=0, help="number of the first")
    parser.add_argument("--jobs", type=int, default=1, help="at a time")
    parser.add_argument("--limit", type=float, default=30.0, help="processor seconds of each; more is a finding")
    asked = parser.parse_args()
    numbers = range(asked.first, asked.first + asked.count)
    began, found = time.monotonic(), 0
    for done, lines in enumerate(tried(numbers, asked.jobs, asked.limit), 1):
        for line in lines:
            print(line, flush=True)
        found += bool(lines)
        if done % 100 == 0:
            print(f"# {done} of {asked.count}, {found} with findings, {time.monotonic() - began:.0f} s", flush=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
