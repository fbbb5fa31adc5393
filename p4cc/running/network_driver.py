"""Runs in this process: the network of a case is built and installed once, and each seed runs on a copy.

The controller is the one for real switches: it connects to the network's server, pushes the compiled program, writes
tables, and reads counters.
"""

from __future__ import annotations

import asyncio
import time
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from p4cc.running.cached_run import SeedRun
from p4cc.running.captures import engine_captures
from p4cc.running.controller_run import ControlOutcome
from p4cc.running.driver import Driver, MadeRuns, SharedByRuns, side_by_side
from p4cc.running.installer import Installer
from p4cc.running.network_thread import InstalledRun
from p4cc.running.networks import build_network, fork_network, served
from p4cc.running.result_writer import engine_tables
from p4cc.running.streams import Streams

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p4cc import _engine
    from p4cc.running.packet_trace import PacketTrace, TraceRequest
    from p4cc.running.planned_case import PlannedCase


class NetworkDriver(Driver):
    """A driver that runs networks in this process to their end."""

    streams_tables: ClassVar[bool] = True
    """Whether the engine may release rows before the end."""
    tracing: TraceRequest | None = None
    """Packets to trace."""

    def stops(self, planned: PlannedCase) -> str | None:
        """Why the runs of a case stop on their way; None if they do not."""
        return planned.stops

    @abstractmethod
    async def lead(self, run: InstalledRun) -> ControlOutcome | None:
        """Runs to the end, and returns the results of all participants. Raises UserError, ControllerError."""

    async def make(self, planned: PlannedCase, keys: Mapping[int, str], shared: SharedByRuns) -> MadeRuns[SeedRun]:
        """Builds and installs the network once, and runs a copy of it for each seed."""
        label, controller = planned.case.label(), planned.case.scenario.switch.controller
        network = build_network(planned.plan, label, self.tracing, shared.study.back_end)
        notes: list[str] = []
        if controller is not None and not self.takes_controller:
            notes.append(f"{controller} does not run: controllers at the port take its place")
        reason = self.stops(planned) or network.one_thread_reason()
        if shared.study.threads > 1 and reason is not None:
            notes.append(f"case {label} runs on one thread: {reason}")
        async with served(network) as server:
            installer = Installer(server, planned.plan, planned.pipelines)
            await installer.install(network)
            copies = _Copies(self, planned, shared, network, installer)
            runs = await side_by_side(copies.make(seed, key) for seed, key in keys.items())
        if (cause := network.native_error()) is not None:
            notes.append(f"case {label}: the interpreter ran the P4 program: {cause}")
        return MadeRuns(dict(zip(keys, runs, strict=True)), notes, copies.trace)


@dataclass
class _Copies:
    """Runs of copies of one installed network."""

    driver: NetworkDriver
    planned: PlannedCase
    shared: SharedByRuns
    network: _engine.Network
    installer: Installer
    trace: PacketTrace | None = None
    """Of the only run, if packets are traced."""
    behind_server: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while using the network behind the server."""

    async def make(self, seed: int, key: str) -> SeedRun:
        """Makes and caches the run of a seed."""
        label = self.shared.purpose + self.planned.label(seed)
        async with self.shared.places:
            run = await self._run(seed, label)
            if self.driver.keeps_runs:
                await asyncio.to_thread(self.shared.cache.store, key, run)
        self.shared.progress.ended(label, run.summary["packet_hops"])
        return run

    async def _run(self, seed: int, label: str) -> SeedRun:
        driver, shared = self.driver, self.shared
        async with self.behind_server:
            copy = fork_network(self.network, seed, self.planned.case.label(), driver.tracing)
        run = InstalledRun(copy, label, shared.progress, self.planned, self.network, shared.study.threads)
        with Streams(shared.streams if driver.streams_tables else None) as streams:
            streams.take_from(copy)
            started = time.perf_counter()
            left = await driver.lead(run)
            wall_s = time.perf_counter() - started
            result = copy.result()
            tables, long_tables = streams.finish(copy, engine_tables(result))
        if driver.tracing is not None:
            self.trace = driver.tracing.kept(result)
        left = left or await self._counters(copy)
        summary = {**result.summary(), **left.summary, "wall_s": round(wall_s, 6)}
        return SeedRun(seed, summary, {**tables, **left.tables}, engine_captures(result), long_tables)

    async def _counters(self, copy: _engine.Network) -> ControlOutcome:
        """A run's counters, read over P4Runtime like everything else of a switch."""
        async with self.behind_server:
            self.network.exchange(copy)
            read = ControlOutcome({}, {"counters": await self.installer.read_ports()})
            # The installed network is served again for the remaining seeds.
            self.network.exchange(copy)
        return read
