"""One case: build the network, install its switches over P4Runtime, run every seed, read the counters back.

The controller is the one that would program real switches: it connects to the address that the network serves, pushes
the compiled program, writes tables, and reads counters. Seeds run on copies of the network as installed.
"""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from controller import ControllerError
from controller.install import Server, install_network, read_ports
from controller.pipeline import load_pipeline
from p4cc import _engine
from p4cc.errors import UserError
from p4cc.network import NetworkPlan, plan_case
from p4cc.results import engine_tables

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from p4cc.programs import CompiledProgram
    from p4cc.progress import Advance
    from p4cc.scenario.expand import Case

_PORT_STATE = pa.schema(
    [
        ("switch", pa.string()),
        ("port", pa.int64()),
        ("peer", pa.string()),
        ("k_pkts", pa.int64()),
        ("k_dc_pkts", pa.int64()),
        ("level0_pkts", pa.int64()),
        ("level1_pkts", pa.int64()),
        ("level2_pkts", pa.int64()),
    ]
)


@dataclass(frozen=True)
class SeedRun:
    """What one seed left: its summary, and its tables by name."""

    seed: int
    summary: dict[str, Any]
    tables: dict[str, pa.Table]


@dataclass(frozen=True)
class CaseRun:
    """What a case left."""

    seeds: list[SeedRun]
    warnings: tuple[str, ...]


class Controller:
    """Pushes one compiled program, and what was planned, into the switches of networks, and reads them again."""

    def __init__(self, program: CompiledProgram) -> None:
        self._pipeline = load_pipeline(program.p4info_bytes(), program.device_config())

    async def install(self, server: Server, plan: NetworkPlan) -> None:
        """Brings every switch into the planned state; raises ControllerError."""
        await install_network(server, self._pipeline, plan.switches)

    async def read_ports(self, server: Server, plan: NetworkPlan) -> pa.Table:
        """Thresholds and level counters of every port, as the switches have them; raises ControllerError."""
        states = await read_ports(server, self._pipeline, plan.switches)
        return pa.Table.from_pylist([asdict(state) for state in states], _PORT_STATE)


async def run_case(case: Case, controller: Controller, advance: Advance) -> CaseRun:
    """Plans, builds, installs and runs a case; raises UserError."""
    plan = plan_case(case)
    try:
        network = _engine.Network(plan.spec_json)
    except _engine.SpecError as error:
        raise UserError(error.cause, place=f"case {case.label()}: {error.place}", remedy=error.remedy) from error
    seeds: list[SeedRun] = []
    async with _served(network) as server:
        await controller.install(server, plan)
        for run in [network.fork(seed) for seed in case.scenario.seeds]:
            seed, wall_s = run.seed, await _run(run, case)
            result = run.result()
            # What the run counted is read like anything else of a switch: over P4Runtime.
            network.exchange(run)
            tables = {**engine_tables(result), "counters": await controller.read_ports(server, plan)}
            seeds.append(SeedRun(seed, {**result.summary(), "wall_s": round(wall_s, 6)}, tables))
            advance(case.label(), seeds[-1].summary["packet_hops"])
    return CaseRun(seeds, plan.warnings)


async def _run(network: _engine.Network, case: Case) -> float:
    """Runs to the end on a thread and gives the seconds it took; a cancelled task ends the run at its next look."""
    cancelled = threading.Event()

    def look_around(_share: float) -> None:
        if cancelled.is_set():
            raise KeyboardInterrupt

    started = time.perf_counter()
    try:
        await asyncio.to_thread(network.run, look_around)
    except asyncio.CancelledError:
        cancelled.set()
        raise
    except _engine.RunError as error:
        raise UserError(error.cause, place=f"case {case.label()} seed {network.seed}", remedy=error.remedy) from error
    return time.perf_counter() - started


@asynccontextmanager
async def _served(network: _engine.Network) -> AsyncGenerator[Server]:
    """The network's P4Runtime server, for one exchange; a controller's errors become the user's."""
    try:
        address = network.serve()
    except _engine.ServerError as error:
        raise UserError(error.cause, place="P4Runtime server", remedy=error.remedy) from error
    try:
        yield Server(address)
    except ControllerError as error:
        raise UserError(error.cause, place=error.place, remedy=error.remedy) from error
    finally:
        network.stop_server()


def keys_of(case: Case) -> dict[str, Any]:
    """What identifies a case in results: variant, senders, and every swept field by its last step."""
    swept = {path.rsplit(".", 1)[-1]: value for path, value in case.point.items()}
    return {"variant": case.variant.name, "senders": case.scenario.topology.senders, **swept}
