"""A lab that is up: its network, switches, shells and options."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from controller.errors import SwitchError
from controller.install import Server, read_ports
from p4cc.errors import UserError
from p4cc.lab.clock import LabClock
from p4cc.lab.faults import FaultSchedule, Parts, links_by_interface
from p4cc.lab.processes import Program, Supervisor
from p4cc.lab.shell import TIMEOUT_S, Line, Shells

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from controller.install import PortState
    from controller.pipeline import Pipeline
    from p4cc.lab.plan import LabPlan
    from p4cc.lab.report import LabReport
    from p4cc.lab.shell import CommandReport
    from p4cc.lab.switches import SwitchKind
    from p4cc.planning.network import NetworkPlan
    from topos import mininet as builder


@dataclass(frozen=True)
class LabOptions:
    """How a lab is run."""

    folder: Path
    """For logs, pcaps and the requests to switches."""
    cli: bool = True
    commands: tuple[str, ...] = ()
    """`HOST LINE` each, run in order before the lab ends or its command line begins."""
    pcaps: bool = True
    trace: bool = False
    agents: bool = True
    """Run the scenario's flows."""
    force: bool = False
    """Replace the folder's results of a lab with other settings."""
    say: Callable[[str], None] = print
    stands: Callable[[LabReport], None] = lambda _: None
    """Called when the switches are installed, before flows, commands and command line."""
    beside: Callable[[Lab], AbstractContextManager[None]] | None = None
    """Entered while the lab is up; reads the ports of the switches."""


class Lab:
    """A lab that is up: what a command line or a test works with."""

    def __init__(
        self, plan: LabPlan, kind: SwitchKind, built: builder.Built, options: LabOptions, report: LabReport
    ) -> None:
        self.plan = plan
        self.kind = kind
        self.built = built
        self.options = options
        self.report = report
        self.supervisor = Supervisor(options.say)
        self.programs: dict[str, Program] = {}
        """Switches by their names, the controller, agents."""
        self.clock: LabClock | None = None
        """Set when the lab begins."""
        self.faults: FaultSchedule | None = None
        """Those of the scenario; set when the lab begins."""
        self.planned: NetworkPlan | None = None
        """The plan of the scenario, as in virtual time."""
        self.pipelines: dict[str, Pipeline] = {}
        """By switch."""
        self.looks: dict[str, Path] = {}
        """Sockets of switches that report their ports."""
        self.shells = Shells(built, options.folder / "logs" / "run")
        self.lines: tuple[Line, ...] = ()
        """Those of `--run`."""

    def begin(self, start_ns: int) -> None:
        """Sets time 0 of the scenario, in ns since 1970, also for the user's controller."""
        self.clock = LabClock.starting(start_ns)
        self.clock.write(self.options.folder / "build")
        case = self.plan.case
        if case is not None and case.scenario.faults:
            links = links_by_interface(self.plan.network, self.built.interfaces)
            parts = Parts(links, self.programs, self.report, self.options.say)
            self.faults = FaultSchedule(parts, case.scenario.faults, self.clock)

    def end_faults(self) -> None:
        """Stops making the scenario's faults."""
        if self.faults is not None:
            self.faults.end()

    def run_in(self, host: str, line: str, timeout_s: float = TIMEOUT_S) -> CommandReport:
        """Runs a shell line in a host."""
        return self.shells.run(Line(host, line), timeout_s)

    def read_ports(self) -> list[PortState]:
        """Thresholds and level counters of a scenario's switches, over P4Runtime; raises UserError."""
        ports: list[PortState] = []
        for plan in self.planned.switches if self.planned is not None else ():
            server = Server(f"127.0.0.1:{self.plan.switch(plan.switch).grpc_port}")
            try:
                ports += asyncio.run(read_ports(server, self.pipelines[plan.switch], [plan]))
            except SwitchError as error:
                raise UserError(error.cause, place=error.place, remedy=error.remedy) from error
        return ports
