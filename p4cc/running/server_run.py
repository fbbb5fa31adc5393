"""A run with external controllers: P4Runtime on a port; virtual time follows a clock or advances by epochs."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import pyarrow as pa
from rich.console import Console

from controller import ControllerError
from controller.install import Server
from p4cc import _engine
from p4cc.digits import digits
from p4cc.errors import UserError
from p4cc.running.controller_run import ControlOutcome
from p4cc.running.driver import check_one
from p4cc.running.in_process import server_at
from p4cc.running.installer import Installer
from p4cc.running.network_driver import NetworkDriver

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.pipeline import Pipeline
    from p4cc.planning.network import NetworkPlan
    from p4cc.running.network_thread import InstalledRun, NetworkThread
    from p4cc.running.planned_case import PlannedCase

LEAST_SPEED, MOST_SPEED = 1e-6, 1e3
EPOCHS, MAX = "epochs", "max"
STEP_S = 0.005
"""Real time between two checks of the clock."""
_LOOK_MS = 100
"""Duration of one wait for an epoch, so that Ctrl-C is noticed."""
_GOODBYE_S = 1.0
"""How long controllers may still read after the end."""


@dataclass(frozen=True)
class ServedDriver(NetworkDriver):
    """Serves a single run on the loopback; its controllers or the clock advance its time."""

    keeps_runs = False
    takes_controller = False

    address: str
    """`IP:PORT`; port 0 selects any free port."""
    speed: float | None
    """Virtual seconds per real second, infinity for full speed; None for epochs."""

    @classmethod
    def parse(cls, address: str, speed: str) -> Self:
        """Parses the options; raises UserError."""
        host, colon, port = address.rpartition(":")
        host = host if colon else "127.0.0.1"
        try:
            here = ipaddress.ip_address(host.strip("[]")).is_loopback
            number = int(port)
        except ValueError:
            cause, remedy = f"{address!r} is not an address", "give PORT or IP:PORT, such as 127.0.0.1:9559"
            raise UserError(cause, place="--serve", remedy=remedy) from None
        if not here or not 0 <= number <= 65_535:
            cause = f"{address!r} is not a port of this machine's loopback"
            raise UserError(cause, place="--serve", remedy="give PORT or IP:PORT, such as 127.0.0.1:9559")
        return cls(f"{host}:{number}", parse_speed(speed))

    def check(self, runs: int) -> None:
        """Refuses several runs."""
        check_one(runs, "serves", "--serve")

    def stops(self, planned: PlannedCase) -> str:
        """Always, for every case."""
        del planned
        return "virtual time waits for controllers"

    async def lead(self, run: InstalledRun) -> ControlOutcome:
        """Runs to the end, with external controllers."""
        network, plan = run.network, run.planned.plan
        try:
            address = network.serve(self.address, beside=run.installed)
        except _engine.ServerError as error:
            raise UserError(error.cause, place="--serve", remedy=error.remedy) from error
        say = Console(stderr=True, soft_wrap=True, highlight=False).print
        try:
            # Before the address is printed, because a reader may request an epoch immediately.
            if self.speed is None:
                network.lead_by_epochs()
            say(f"P4Runtime at {address}: {_devices(plan)}", markup=False)
            say("virtual time begins when a controller is primary; Ctrl-C ends the run")
            await _wait(network, has_primary=True, limit_s=math.inf)
            await (_by_epochs(run) if self.speed is None else _paced(run, self.speed))
            say(f"the run has ended, at {digits(network.now_ns / 1e6, 6)} ms")
            counters = await read_counters(server_at(address), plan, run.planned.pipelines)
            await _wait(network, has_primary=False, limit_s=_GOODBYE_S)
        finally:
            network.stop_server()
        return ControlOutcome({}, {"counters": counters})


def parse_speed(text: str) -> float | None:
    """Virtual seconds per real second, infinity for `max`; None for epochs. Raises UserError."""
    if text == EPOCHS:
        return None
    try:
        speed = math.inf if text == MAX else float(text)
    except ValueError:
        speed = math.nan
    if speed != math.inf and not LEAST_SPEED <= speed <= MOST_SPEED:
        cause = f"{text!r} is not a speed"
        remedy = f"give a number from {LEAST_SPEED:g} to {MOST_SPEED:g}, {MAX} or {EPOCHS}"
        raise UserError(cause, place="--speed", remedy=remedy)
    return speed


async def _wait(network: _engine.Network, *, has_primary: bool, limit_s: float) -> None:
    """Waits until a controller is primary, or until none is."""
    until = time.monotonic() + limit_s
    # The server does not notify about connections.
    while network.has_primary != has_primary and time.monotonic() < until:  # noqa: ASYNC110
        await asyncio.sleep(STEP_S)


async def read_counters(server: Server, plan: NetworkPlan, pipelines: Mapping[str, Pipeline]) -> pa.Table:
    """Thresholds and counters of the switches that still have the scenario's program."""
    found: list[pa.Table] = []
    for one in plan.switches:
        with contextlib.suppress(ControllerError):
            found.append(await Installer(server, replace(plan, switches=(one,)), pipelines).read_ports())
    return pa.concat_tables([*found, await Installer(server, replace(plan, switches=()), pipelines).read_ports()])


def _devices(plan: NetworkPlan) -> str:
    """Switches with their device ids, for people."""
    few = 8
    named = [f"{one.switch} is device {one.device_id}" for one in plan.switches[:few]]
    more = len(plan.switches) - few
    return ", ".join(named) + (f", and {more} more in their order" if more > 0 else "")


async def _by_epochs(thread: NetworkThread) -> None:
    """Time advances on requests of a controller, each up to the first message at most."""
    network = thread.network
    while not network.has_ended:
        span_ps = await asyncio.to_thread(network.take_epoch, _LOOK_MS)
        if span_ps is not None:
            await _advance(thread, network.now_ps + span_ps)
            network.end_epoch()


async def _paced(thread: NetworkThread, speed: float) -> None:
    """Time follows the clock."""
    network = thread.network
    begun, begun_ps = time.monotonic(), network.now_ps
    while not network.has_ended:
        real_s = time.monotonic() - begun
        until_ps = (1 << 62) if speed == math.inf else begun_ps + int(real_s * speed * 1e12)
        heard = await _advance(thread, until_ps)
        if not heard:
            await asyncio.sleep(STEP_S)


async def _advance(thread: NetworkThread, until_ps: int) -> bool:
    """Runs until an instant, or until a message for a controller; returns whether there was one."""
    network = thread.network
    while not network.has_ended:
        due_ps = network.next_due_ps
        await thread.to_message(until_ps if due_ps is None else min(until_ps, due_ps), to_message=True)
        if network.deliver_messages():
            return True
        if network.now_ps >= until_ps:
            break
    return False
