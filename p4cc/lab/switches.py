"""The two kinds of switch that a lab runs: ours and BMv2, behind one command line.

Both take simple_switch_grpc's options. They differ in who shapes links (ours does; BMv2 gets packets per second over
Thrift and makes no delay), who compiles (the engine; p4c), and what they cannot do, which is said as a warning.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from controller.errors import ControllerError
from controller.pipeline import Pipeline, load_pipeline
from p4cc.bundled import LIBRARY, P4SRC
from p4cc.errors import UserError
from p4cc.lab.tools import Missing
from p4cc.own_programs import BUILD, find_own
from p4cc.planning.programs import compile_program

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p4cc import spec
    from topos.lab import LabSwitch

PACKET_BYTES = 1_500
"""The packet size for which BMv2's packets per second are computed."""
_COMPILE_TIMEOUT_S = 300
_CLI_TIMEOUT_S = 30
GUIDE = "docs/how-to/bmv2.md"


@dataclass(frozen=True)
class PortShape:
    """A port: its interface, and the link behind it as the switch makes it; None limits nothing."""

    number: int
    interface: str
    rate_bps: int | None = None
    delay_ns: int = 0
    queue_capacity_pkts: int | None = None
    framing_bytes: int = 0
    loss: float = 0.0
    to_host: bool = False
    """At the far end is a host, which loses nothing that it sends."""
    alpha_log2: int | None = None
    """Of the dynamic threshold, with a shared buffer."""
    scheduler: spec.SchedulerSpec | None = None
    """Order and rates of its queues."""


@dataclass(frozen=True)
class SwitchSetup:
    """A scenario's settings of switches, without program and ports."""

    timestamp_unit: str = "us"
    pass_limit: int | None = None
    deflect_on_drop: bool = False
    qdepth_unit: str = "packets"
    buffer_bytes: int | None = None
    """Of a buffer that all ports share."""
    pauses: bool = False
    """Priorities of the scenario are paused rather than dropped."""
    seed: int = 0
    packet_bytes: int = PACKET_BYTES


@dataclass(frozen=True)
class Launch:
    """Everything that starts one switch."""

    switch: LabSwitch
    ports: tuple[PortShape, ...]
    setup: SwitchSetup
    logs: Path
    pcaps: Path | None
    trace: bool = False
    """Log what every packet does."""
    looks: Path | None = None
    """Socket where the switch is asked for its ports; of a kind that tells."""

    @property
    def address(self) -> str:
        """Of its P4Runtime server."""
        return f"127.0.0.1:{self.switch.grpc_port}"


@dataclass(frozen=True)
class ProgramSource:
    """A P4 program: source, or a compiler's output (device config and P4Info)."""

    source: Path
    p4info: Path | None = None
    include: tuple[Path, ...] = ()
    """Folders that `#include` looks in."""
    defines: tuple[str, ...] = ()
    strict: str | None = None
    """A chip whose rules the source is held to, by p4cc's own compiler."""


@dataclass
class Remarks:
    """Remarks about what a kind of switch does not do, each once."""

    said: dict[str, None] = field(default_factory=dict[str, None])

    def add(self, text: str) -> None:
        """Say it, unless it was said."""
        self.said.setdefault(text)


class SwitchKind(Protocol):
    """A program that runs P4 on network interfaces."""

    name: str
    delays: bool
    """Whether it makes the links' delay, so that its captures of departures are delayed."""
    tells_ports: bool
    """Whether it can be asked for depth and drops of its ports."""

    def missing(self) -> list[Missing]:
        """Its programs that are not there, and how to get them."""
        ...

    def compile(self, program: ProgramSource, work: Path) -> Pipeline:
        """The pipeline for a switch of this kind; raises UserError."""
        ...

    def command(self, launch: Launch, remarks: Remarks) -> list[str]:
        """The words that start it."""
        ...

    def command_line(self) -> str:
        """Its command line over Thrift; raises UserError."""
        ...

    def shape(self, launch: Launch, remarks: Remarks) -> None:
        """Configures it once it answers; raises UserError."""
        ...


def own_program(name: str) -> str:
    """A program of this project: named by a variable, next to Python or on PATH; raises UserError."""
    if (result := find_own(name)) is None:
        raise UserError(f"{name} is not built", place="p4cc lab", remedy=BUILD)
    return result


def own_missing(*names: str) -> list[Missing]:
    """Those of this project's programs that are not built."""
    return [Missing(name, remedy=BUILD) for name in names if find_own(name) is None]


def kind_named(name: str) -> SwitchKind:
    """The kind of this name: `p4cc` or `bmv2`."""
    return {"p4cc": OwnSwitch(), "bmv2": Bmv2()}[name]


def _common(program: str, launch: Launch) -> list[str]:
    """Options that both kinds take, before those of the target."""
    words = [program]
    for port in launch.ports:
        words += ["-i", f"{port.number}@{port.interface}"]
    words += ["--device-id", str(launch.switch.device_id), "--no-p4"]
    words += ["--thrift-port", str(launch.switch.thrift_port)]
    if launch.pcaps is not None:
        words.append(f"--pcap={launch.pcaps}")
    words += ["--log-console", "-L", "trace" if launch.trace else "info"]
    return words


def queue_options(ports: tuple[PortShape, ...]) -> list[str]:
    """Options of ports whose queues have an order or rates of their own."""
    words: list[str] = []
    for port in ports:
        if port.scheduler is None:
            continue
        words += ["--turns", f"{port.number}@{port.scheduler.get('unit', 'bytes')}"]
        if (quantum_bytes := port.scheduler.get("quantum_bytes")) is not None:
            words += ["--quantum-bytes", f"{port.number}@{quantum_bytes}"]
        for queue in port.scheduler["queues"]:
            settings = {"level": queue.get("level"), "weight": queue.get("weight"), "rate-bps": queue.get("rate_bps")}
            if queue.get("rate_bps") is not None:
                settings["burst-bytes"] = queue.get("burst_bytes")
            text = ",".join(f"{key}={value}" for key, value in settings.items() if value is not None)
            words += ["--queue", f"{port.number}@{queue['queue']}:{text}"]
    return words


def _target(launch: Launch) -> list[str]:
    """Options behind `--`."""
    words = ["--", "--grpc-server-addr", launch.address]
    if launch.switch.cpu_port is not None:
        words += ["--cpu-port", str(launch.switch.cpu_port)]
    if launch.switch.priority_queues is not None:
        words += ["--priority-queues", str(launch.switch.priority_queues)]
    return words


def _loaded(p4info: Path, config: Path) -> Pipeline:
    try:
        binary = p4info.suffix in (".bin", ".binpb")
        text = p4info.read_bytes() if binary else p4info.read_text(encoding="utf-8")
        return load_pipeline(text, config.read_bytes())
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(str(error), place=str(p4info), remedy="compile the program again") from error
    except ControllerError as error:
        raise UserError(error.cause, place=f"{p4info}: {error.place}", remedy=error.remedy) from error


class OwnSwitch:
    """`p4cc-switch`."""

    name = "p4cc"
    delays = True
    tells_ports = True

    def __init__(self) -> None:
        self._found: str | None = None

    def program(self) -> str:
        """Where it is; raises UserError."""
        if self._found is None:
            self._found = own_program("p4cc-switch")
        return self._found

    def missing(self) -> list[Missing]:
        """The switch and its command line."""
        return own_missing("p4cc-switch", "p4cc-switch-cli")

    def compile(self, program: ProgramSource, work: Path) -> Pipeline:
        """The program by our own compiler; what p4c made runs too."""
        del work
        if program.p4info is not None:
            return _loaded(program.p4info, program.source)
        compiled = compile_program(program.source, program.include, program.defines, program.strict)
        if not compiled.ok:
            raise UserError(f"the P4 program does not compile\n{compiled.rendered}", place=str(program.source))
        return load_pipeline(compiled.p4info_bytes(), compiled.device_config())

    def command(self, launch: Launch, remarks: Remarks) -> list[str]:
        """Links and queues are options."""
        words = _common(self.program(), launch)
        for port in launch.ports:
            for option, value in (
                ("--rate-bps", port.rate_bps),
                ("--delay-ns", port.delay_ns or None),
                ("--queue-pkts", port.queue_capacity_pkts),
                ("--framing-bytes", port.framing_bytes or None),
                ("--loss", port.loss or None),
                ("--loss-in", port.loss if port.loss and port.to_host else None),
                ("--buffer-alpha-log2", port.alpha_log2),
            ):
                if value is not None:
                    words += [option, f"{port.number}@{value}"]
        words += queue_options(launch.ports)
        setup = launch.setup
        words += ["--timestamps", setup.timestamp_unit, "--seed", str(setup.seed)]
        # Without the option, programs for Tofino count the chip's cells and others packets.
        if setup.qdepth_unit != "packets":
            words += ["--qdepth-unit", setup.qdepth_unit.replace("_", "").removesuffix("B")]
        if launch.looks is not None:
            words += ["--looks", str(launch.looks)]
        if setup.pass_limit is not None:
            words += ["--pass-limit", str(setup.pass_limit)]
        if setup.deflect_on_drop:
            words.append("--deflect-on-drop")
        if setup.buffer_bytes is not None:
            words += ["--buffer-bytes", str(setup.buffer_bytes)]
        if setup.pauses:
            remarks.add("a lab's switch pauses nobody: what its buffer does not take is dropped, at any priority")
        return words + _target(launch)

    def command_line(self) -> str:
        """`p4cc-switch-cli`."""
        return own_program("p4cc-switch-cli")

    def shape(self, launch: Launch, remarks: Remarks) -> None:
        """Does nothing: its options have everything."""


class Bmv2:
    """`simple_switch_grpc`, with p4c."""

    name = "bmv2"
    delays = False
    tells_ports = False
    SWITCH = "simple_switch_grpc"
    COMPILER = "p4c-bm2-ss"
    COMMAND_LINE = "simple_switch_CLI"

    def missing(self) -> list[Missing]:
        """The missing ones."""
        tools = (self.SWITCH, self.COMPILER, self.COMMAND_LINE)
        remedy = f"install BMv2 and p4c ({GUIDE}), or leave --switch out to use p4cc-switch"
        return [Missing(tool, remedy=remedy) for tool in tools if shutil.which(tool) is None]

    def compile(self, program: ProgramSource, work: Path) -> Pipeline:
        """The program by p4c."""
        if program.p4info is not None:
            return _loaded(program.p4info, program.source)
        work.mkdir(parents=True, exist_ok=True)
        config, p4info = work / f"{program.source.stem}.json", work / f"{program.source.stem}.p4info.txtpb"
        words = [self.COMPILER, "--p4v", "16"]
        for folder in (*map(str, program.include), str(P4SRC / "include"), str(LIBRARY)):
            words += ["-I", folder]
        words += [f"-D{macro}" for macro in program.defines]
        words += ["--p4runtime-files", str(p4info), "-o", str(config)]
        try:
            done = subprocess.run(
                [*words, str(program.source)],
                capture_output=True,
                text=True,
                timeout=_COMPILE_TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise UserError(str(error), place=self.COMPILER, remedy=f"see {GUIDE}") from error
        if done.returncode != 0:
            raise UserError(f"the P4 program does not compile\n{done.stderr.strip()}", place=str(program.source))
        return _loaded(p4info, config)

    def command(self, launch: Launch, remarks: Remarks) -> list[str]:
        """Links and queues come later, over Thrift."""
        setup = launch.setup
        if setup.timestamp_unit != "us":
            remarks.add("BMv2's timestamps are in microseconds: `timestamp_unit` is left out")
        if setup.qdepth_unit != "packets":
            remarks.add("BMv2's depths are in packets: `qdepth_unit` is left out")
        if setup.buffer_bytes is not None:
            remarks.add("BMv2 has no shared buffer: each queue has its own capacity only")
        if any(port.scheduler is not None for port in launch.ports):
            remarks.add("BMv2 serves queues by strict priority: `schedulers` is left out")
        if setup.deflect_on_drop:
            remarks.add("BMv2 deflects no packet: `deflect_on_drop` is left out, and nothing is trimmed")
        return _common(self.SWITCH, launch) + _target(launch)

    def command_line(self) -> str:
        """`simple_switch_CLI`."""
        return self.COMMAND_LINE

    def shape(self, launch: Launch, remarks: Remarks) -> None:
        """Rates in packets per second, and depths, through BMv2's own command line."""
        lines: list[str] = []
        for port in launch.ports:
            if port.rate_bps is not None:
                wire_bytes = launch.setup.packet_bytes + port.framing_bytes
                packets_per_s = max(1, round(port.rate_bps / (8 * wire_bytes)))
                lines.append(f"set_queue_rate {packets_per_s} {port.number}")
                remarks.add(
                    f"BMv2 counts packets, not bits: rates hold for packets of {launch.setup.packet_bytes} bytes"
                )
            if port.queue_capacity_pkts is not None:
                lines.append(f"set_queue_depth {port.queue_capacity_pkts} {port.number}")
            if port.delay_ns and not _delay_by_kernel(port):
                remarks.add("BMv2 makes no link delay and this kernel has no netem: links have none")
            if port.loss:
                remarks.add("links lose no packets here: `loss` is left out")
        if lines:
            run_command_line(self.COMMAND_LINE, launch, lines)


def run_command_line(program: str, launch: Launch, lines: Sequence[str]) -> None:
    """Give lines to a switch's command line over Thrift; raises UserError for one that it refuses."""
    place = f"{launch.switch.name}: {program}"
    try:
        done = subprocess.run(
            [program, "--thrift-port", str(launch.switch.thrift_port)],
            input="\n".join(lines) + "\n",
            capture_output=True,
            text=True,
            timeout=_CLI_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(str(error), place=place, remedy=f"see {GUIDE}") from error
    log = launch.logs / f"{launch.switch.name}-commands.txt"
    log.write_text(done.stdout + done.stderr, encoding="utf-8")
    refused = [line for line in done.stdout.splitlines() if "Invalid" in line or "Error" in line]
    if done.returncode != 0 or refused:
        text = refused[0] if refused else (done.stderr.strip().splitlines() or ["no answer"])[-1]
        raise UserError(text, place=place, remedy=f"see {log}")


def _delay_by_kernel(port: PortShape) -> bool:
    """Have the kernel delay what leaves by the port; False where it cannot."""
    done = subprocess.run(
        ["tc", "qdisc", "replace", "dev", port.interface, "root", "netem", "delay", f"{port.delay_ns / 1000}us"],
        capture_output=True,
        check=False,
    )
    return done.returncode == 0
