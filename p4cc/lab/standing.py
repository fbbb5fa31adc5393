"""A lab that stands: its network, switches and shells, and how it was asked for."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

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

    from controller.pipeline import Pipeline
    from p4cc.lab.plan import LabPlan
    from p4cc.lab.report import LabReport
    from p4cc.lab.switches import SwitchKind
    from p4cc.planning.network import NetworkPlan
    from topos import mininet as builder


@dataclass(frozen=True)
class LabOptions:
    """How a lab is run, beside what it is."""

    folder: Path
    """For logs, pcaps and what is sent to switches."""
    cli: bool = True
    commands: tuple[str, ...] = ()
    """`HOST LINE`, run one after another before the lab ends or its command line begins."""
    pcaps: bool = True
    trace: bool = False
    agents: bool = True
    """Run the scenario's flows."""
    force: bool = False
    """Replace what a lab of other settings left in the folder."""
    say: Callable[[str], None] = print
    stands: Callable[[LabReport], None] = lambda _: None
    """Called when the switches hold what they shall, before flows, commands and command line."""
    beside: Callable[[Lab], AbstractContextManager[None]] | None = None
    """Stays beside the lab from when it stands until it is taken down, and asks the switches for their ports."""


class Lab:
    """A lab that stands: what a command line or a test works with."""

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
        """What runs for the lab: switches by their names, the controller, agents."""
        self.clock: LabClock | None = None
        """Known once the lab begins."""
        self.faults: FaultSchedule | None = None
        """Of the scenario, once the lab begins."""
        self.planned: NetworkPlan | None = None
        """The scenario as virtual time plans it."""
        self.pipelines: dict[str, Pipeline] = {}
        """What was pushed, by switch."""
        self.looks: dict[str, Path] = {}
        """By switch that tells of its ports: the socket where it is asked."""
        self.shells = Shells(built, options.folder / "logs" / "run")
        self.lines: tuple[Line, ...] = ()
        """What is asked for with `--run`."""

    def begin(self, start_ns: int) -> None:
        """Time 0 of the scenario is at this time since 1970; a controller of the user's is told."""
        self.clock = LabClock.starting(start_ns)
        self.clock.write(self.options.folder / "build")
        case = self.plan.case
        if case is not None and case.scenario.faults:
            links = links_by_interface(self.plan.network, self.built.interfaces)
            parts = Parts(links, self.programs, self.report, self.options.say)
            self.faults = FaultSchedule(parts, case.scenario.faults, self.clock)

    def end_faults(self) -> None:
        """Nothing fails any more by the scenario's will."""
        if self.faults is not None:
            self.faults.end()

    def run_in(self, host: str, line: str, timeout_s: float = TIMEOUT_S) -> dict[str, Any]:
        """Run a shell line in a host; its status and what it printed."""
        return self.shells.run(Line(host, line), timeout_s)

    def read_ports(self) -> list[dict[str, Any]]:
        """Thresholds and level counters of a scenario's switches, over P4Runtime; raises UserError."""
        found: list[dict[str, Any]] = []
        for plan in self.planned.switches if self.planned is not None else ():
            server = Server(f"127.0.0.1:{self.plan.switch(plan.switch).grpc_port}")
            try:
                states = asyncio.run(read_ports(server, self.pipelines[plan.switch], [plan]))
            except SwitchError as error:
                raise UserError(error.cause, place=error.place, remedy=error.remedy) from error
            found += [asdict(state) for state in states]
        return found
