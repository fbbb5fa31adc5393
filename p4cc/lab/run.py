"""A lab from start to end: build, start and install switches, run flows and commands, take everything down."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from controller.client import Target, connect
from controller.errors import SwitchError
from controller.units import CHIP_CELL_BYTES
from p4cc.errors import InterruptedRunError, UserError
from p4cc.lab import linux_senders, tools
from p4cc.lab.agents import run_agents
from p4cc.lab.applications import applications
from p4cc.lab.control_result import read_control_result
from p4cc.lab.controller import Job, store_pipeline, wait_for_port
from p4cc.lab.folder import lab_folder
from p4cc.lab.lab import Lab, LabOptions
from p4cc.lab.plan import LabPlan, LabRequest, plan_lab
from p4cc.lab.processes import Program, events, how_ended
from p4cc.lab.report import LabReport, Notes, log_of, switch_report
from p4cc.lab.shell import read_lines
from p4cc.lab.state import clean_leftovers, only_lab, record
from p4cc.lab.switches import Launch, Remarks, SwitchKind, SwitchSetup, kind_named, own_missing, run_command_line
from p4cc.running.destination import of_file
from topos import TopologyError
from topos import mininet as builder

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from topos.lab import LabEnd, LabSwitch

LAB = "lab"
COMPARISON = "lab comparison"
"""Kinds of result folders."""
START_TIMEOUT_S = 30.0
INSTALL_TIMEOUT_S = 60.0
SOCKETS = "sockets"
"""Folder of a lab whose switches report their ports; removed at its end."""


def clean() -> str:
    """Removes the remains of killed labs and says what they were; raises UserError while a lab runs."""
    if not tools.is_root():
        raise UserError("needs root: labs are root's", place="p4cc lab --clean", remedy="run it with sudo")
    with only_lab() as folder:
        cleaned = clean_leftovers(folder)
        unloaded = linux_senders.clean()
    if not cleaned and not unloaded:
        return "nothing to clean"
    senders = f", the kernel's senders of {unloaded}" if unloaded else ""
    return f"cleaned {cleaned.labs} labs: {cleaned.processes} processes, {cleaned.interfaces} interfaces{senders}"


def run_lab(request: LabRequest, options: LabOptions, work: Callable[[Lab], None] | None = None) -> LabReport:
    """Runs a lab to its end; raises UserError. `work` is called when it is up, before commands and command line."""
    kind = kind_named(request.switch)
    with _terminable(), open_lab(request, options, kind) as lab:
        options.stands(lab.report)
        if work is not None:
            work(lab)
        if not options.agents or lab.planned is None:
            lab.begin(time.time_ns())
        else:
            run = run_agents(lab, lab.planned.spec_json, lab.planned.user_algorithms)
            lab.report.agents = run
            lab.report.ports = lab.read_ports()
            lab.report.warnings += run.remarks
            lab.report.failed += run.failed
        with applications(lab):
            for line in lab.lines:
                lab.shells.run(line)
            # Background jobs of the lines serve it too.
            if options.cli:
                _command_line(lab)
        if lab.report.connections:
            lab.report.ports = lab.read_ports()
    return lab.report


@contextlib.contextmanager
def open_lab(request: LabRequest, options: LabOptions, kind: SwitchKind) -> Generator[Lab]:
    """Builds a lab and installs its switches; always takes it down at the end."""
    plan = plan_lab(request)
    lines = read_lines(options.commands, plan.network.host_names)
    agents = ("p4cc-agent",) if options.agents and plan.case is not None else ()
    missing = [*kind.missing(), *own_missing(*agents)]
    tools.check(missing, [line.text for line in lines], plan.network.host_names)
    names = _load(plan)
    report = LabReport(warnings=list(plan.warnings))
    with _ending() as ends, only_lab() as folder:
        if cleaned := clean_leftovers(folder):
            options.say(f"cleaned up after {cleaned.labs} labs that had been killed")
        _check_ports(plan)
        identity = of_file(request.identity(LAB), Path(request.file), options.folder)
        with (
            lab_folder(options.folder, identity, force=options.force) as aside,
            record(folder, list(names.values()), options.folder) as made,
        ):
            if aside:
                options.say(f"the files of a killed lab were moved to {aside}")
            with contextlib.ExitStack() as down:
                # `ends` is pushed after each step and so runs before it is undone,
                # which nothing may interrupt.
                down.callback(ends)
                started = time.monotonic()
                built = builder.build(plan.network, made.token)
                down.callback(built.release)
                lab = Lab(plan, kind, built, options, report)
                lab.lines = lines
                if options.beside is not None:
                    down.callback(_remove_sockets, lab)
                notes = Notes(options.folder, request, report)
                down.enter_context(_taken_down(lab, notes))
                down.callback(ends)
                _Start(lab, request).all()
                report.up_s = round(time.monotonic() - started, 3)
                notes.write(None)
                if options.beside is not None:
                    down.enter_context(options.beside(lab))
                    down.callback(ends)
                yield lab


@contextlib.contextmanager
def _taken_down(lab: Lab, notes: Notes) -> Generator[None]:
    """At the end, ends the hosts' programs, then switches and controller, and writes the report."""
    ended = "interrupted"
    try:
        yield
        ended = "done"
    except Exception:
        ended = "failed"
        raise
    finally:
        lab.end_faults()
        lab.shells.end()
        lab.report.commands = lab.shells.report()
        lab.supervisor.close()
        lab.report.failed += lab.supervisor.failed
        if lab.plan.has_own_control:
            lab.report.control = read_control_result(lab.options.folder / "logs")
            lab.report.warnings += lab.report.control.warnings
        lab.report.restarts = lab.supervisor.restarts
        notes.write(ended)


def _remove_sockets(lab: Lab) -> None:
    """Removes the sockets of killed switches."""
    for path in lab.looks.values():
        path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # It has other files, or no switch was started.
        (lab.options.folder / SOCKETS).rmdir()


@contextlib.contextmanager
def _ending() -> Generator[Callable[[], None]]:
    """Gives a function that ignores Ctrl-C and other signals from its call to the end of the block."""
    with contextlib.ExitStack() as handlers:

        def begin() -> None:
            if threading.current_thread() is threading.main_thread():
                for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                    handlers.callback(signal.signal, number, signal.signal(number, signal.SIG_IGN))

        yield begin


class _Start:
    """Starts the programs of a lab."""

    def __init__(self, lab: Lab, request: LabRequest) -> None:
        self.lab = lab
        self.request = request
        self.kind = lab.kind
        self.remarks = Remarks()
        self.logs = lab.options.folder / "logs"
        self.pcaps = lab.options.folder / "pcaps"
        for folder in (self.logs, self.pcaps):
            folder.mkdir(exist_ok=True)
        self.files: dict[str, list[str]] = {}
        """By switch with a pipeline: files of P4Info and device config."""

    def all(self) -> None:
        """Starts and installs the switches, and runs the hosts' commands; raises UserError."""
        plan, report = self.lab.plan, self.lab.report
        work = self.lab.options.folder / "build"
        work.mkdir(exist_ok=True)
        pipelines = {source: self.kind.compile(source, work) for source in dict.fromkeys(plan.programs.values())}
        stored = {
            source: store_pipeline(pipeline, work, f"{source.source.stem}-{number}")
            for number, (source, pipeline) in enumerate(pipelines.items())
        }
        self.files = {switch: stored[source] for switch, source in plan.programs.items()}
        by_switch = {switch: pipelines[source] for switch, source in plan.programs.items()}
        # Finds what cannot be installed before anything runs.
        plan.desired(by_switch)
        self.lab.planned = plan.planned(by_switch)
        self.lab.pipelines = by_switch
        builder.name_hosts(self.lab.built, work / "hosts")
        launches = [self._launch(switch) for switch in plan.network.switches]
        for launch in launches:
            self._switch(launch)
        for launch in launches:
            self._ready(launch)
        if self.files:
            self._install(list(self.files), "controller")
        for launch in launches:
            self._rest_of_commands(launch)
        builder.run_host_commands(self.lab.built)
        report.warnings += [*self.remarks.said, *self.lab.built.problems]

    def _launch(self, switch: LabSwitch) -> Launch:
        options, plan = self.lab.options, self.lab.plan
        looks = None
        if options.beside is not None and self.kind.tells_ports:
            looks = self.lab.looks[switch.name] = options.folder / SOCKETS / f"{switch.name}.socket"
            looks.parent.mkdir(mode=0o700, exist_ok=True)
        return Launch(
            switch,
            plan.ports(switch.name, self.lab.built.interfaces),
            self._setup(switch.name),
            self.logs,
            self.pcaps if options.pcaps else None,
            options.trace,
            looks,
        )

    def _setup(self, switch: str) -> SwitchSetup:
        """The settings of a switch: a chip counts nanoseconds and cells, whatever the scenario says."""
        setup, pipeline = self.lab.plan.setup, self.lab.pipelines.get(switch)
        size = None if pipeline is None else CHIP_CELL_BYTES.get(pipeline.schema.arch)
        return setup if size is None else replace(setup, timestamp_unit="ns", qdepth_unit=f"cells_{size}B")

    def _switch(self, launch: Launch) -> None:
        name = launch.switch.name
        program = Program(name, self.kind.command(launch, self.remarks), log_of(launch))
        program.after_restart = lambda: self._restarted(launch)
        program.start()
        self.lab.programs[name] = program

    def _ready(self, launch: Launch) -> None:
        """Waits until a switch answers, then shapes its links; raises UserError with the end of its log."""
        name = launch.switch.name
        program = self.lab.programs[name]
        self._wait(launch, program)
        self.lab.supervisor.add(program)
        self.kind.shape(launch, self.remarks)
        config = self.files[name][1] if name in self.files else None
        self.lab.report.switches.append(switch_report(launch, self.lab.plan.programs.get(name), config))

    def _restarted(self, launch: Launch) -> None:
        """Configures a restarted switch again."""
        self._wait(launch, self.lab.programs[launch.switch.name])
        self.kind.shape(launch, self.remarks)
        if not self.lab.plan.holds and launch.switch.name in self.lab.plan.programs:
            self._install([launch.switch.name], f"controller-{launch.switch.name}")
            self._rest_of_commands(launch)

    def _wait(self, launch: Launch, program: Program) -> None:
        """Wait until a switch answers; raises UserError with the end of its log when it ends, or takes too long."""
        try:
            asyncio.run(_answers(launch, program))
        except (TimeoutError, SwitchError) as error:
            status = program.ended()
            cause = f"does not answer at {launch.address}" if status is None else how_ended(status)
            text = f"{cause}\n{program.last_words()}".rstrip()
            raise UserError(text, place=program.name, remedy=f"see {program.log}") from error

    def _install(self, switches: list[str], name: str) -> None:
        """Starts a controller for these switches and waits until they are installed; raises UserError."""
        job = self.lab.options.folder / "build" / f"{name}.json"
        Job(self.request, self.files, str(self.logs), switches).write(job)
        log = self.logs / f"{name}.log"
        log.unlink(missing_ok=True)
        holds, own = self.lab.plan.holds, self.lab.plan.has_own_control
        module = "p4cc.lab.own_controller" if own else "p4cc.lab.controller"
        # A user's controller is not restarted: its state is lost.
        program = Program(name, [sys.executable, "-m", module, str(job)], log, keeps_running=holds and not own)
        if own:
            program.after_end = "; the lab continues without it"
        program.start()
        if holds:
            self.lab.programs[name] = program
            self.lab.supervisor.add(program)
        try:
            self._installed(program, switches)
        except BaseException:
            program.stop()
            raise

    def _installed(self, controller: Program, switches: list[str]) -> None:
        """Waits until the controller reports that every switch is installed; raises UserError."""
        deadline = time.monotonic() + INSTALL_TIMEOUT_S
        while True:
            log = events(controller.log)
            done = {str(event["switch"]): event for event in log if event.get("event") == "installed"}
            started = not self.lab.plan.has_own_control or any(event.get("event") == "started" for event in log)
            if set(switches) <= set(done) and started:
                break
            failed = [event for event in log if event.get("event") == "failed"]
            # One that stays is restarted when it ends.
            ended = not controller.keeps_running and controller.ended() is not None
            if failed or ended or time.monotonic() > deadline:
                cause = str(failed[0]["cause"]) if failed else controller.last_words() or "it does not come to an end"
                raise UserError(cause, place="controller", remedy=f"see {controller.log}")
            time.sleep(0.02)
        for entry in self.lab.report.switches:
            if entry["switch"] in done:
                event = done[entry["switch"]]
                entry |= {"pipeline_pushed": event["pushed"], "updates_written": event["updates"]}

    def _rest_of_commands(self, launch: Launch) -> None:
        """Commands of a file that have no P4Runtime request go to the switch's command line."""
        commands = self.lab.plan.written(launch.switch).commands
        if commands:
            run_command_line(self.kind.command_line(), launch, [str(command) for command in commands])


async def _answers(launch: Launch, program: Program) -> None:
    """Return once a switch answers a P4Runtime call; raises TimeoutError, at once if it has ended."""
    target = Target(launch.address, launch.switch.device_id, launch.switch.name)
    async with asyncio.timeout(START_TIMEOUT_S):
        listens = asyncio.create_task(wait_for_port(launch.address))
        while not (await asyncio.wait([listens], timeout=0.1))[0]:
            if program.ended() is not None:
                listens.cancel()
                raise TimeoutError
        async with connect(target) as session:
            await session.answers()


def _load(plan: LabPlan) -> dict[LabEnd, str]:
    """Loads Mininet and names every port; raises UserError."""
    try:
        builder.load()
        return builder.interface_names(plan.network)
    except TopologyError as error:
        problem = error.problems[0]
        raise UserError(problem.cause, place=f"p4cc lab: {problem.place}", remedy=problem.remedy) from error


def _check_ports(plan: LabPlan) -> None:
    """Raises UserError for a TCP port in use."""
    for switch in plan.network.switches:
        for kind, port in (("--grpc-port", switch.grpc_port), ("--thrift-port", switch.thrift_port)):
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind(("127.0.0.1", port))
                except OSError as error:
                    raise UserError(
                        f"TCP port {port} is taken",
                        place=switch.name,
                        remedy=f"end what listens there, or give another base with {kind}",
                    ) from error


class _Terminated(BaseException):
    """A signal asks the lab to end."""


@contextlib.contextmanager
def _terminable() -> Generator[None]:
    """SIGTERM and SIGHUP take the lab down as Ctrl-C does, which Mininet's command line handles itself."""

    def stop(_signal: int, _frame: object) -> None:
        raise _Terminated

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    except (KeyboardInterrupt, _Terminated) as error:
        raise InterruptedRunError("interrupted; the lab was taken down") from error
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _command_line(lab: Lab) -> None:
    """Mininet's command line, on a terminal or a pipe."""
    hosts = ", ".join(host.name for host in lab.plan.network.hosts)
    lab.options.say(f"hosts {hosts}; `h1 ping h2`, `pingall`, `exit`; logs in {lab.options.folder / 'logs'}")
    with contextlib.suppress(EOFError):
        builder.load().CLI(lab.built.net)
