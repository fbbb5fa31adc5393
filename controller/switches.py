"""The switches of a command of `p4cc controller`, their protocol and their program."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from controller.bfrt.client import BfrtServer, running_program
from controller.bfrt.program import Program
from controller.defaults import BFRT_SERVER, DEFAULT_ELECTION_ID, P4RUNTIME_SERVER
from controller.ecn import THRESHOLDS
from controller.errors import PlanError
from controller.features import PRIORITIES
from controller.install import InstallReport, PortState, Server, SwitchDiff, diff_network, install_network, read_ports
from controller.options import Connection, ProgramFiles, Wire, compilers, read_file
from controller.pipeline import Pipeline, load_pipeline
from controller.plan import SwitchPlan, SwitchProgram
from controller.red import CURVES, RED_STEPS, WRED_FILTER
from controller.roles import Roles, roles_of
from controller.route_table import said_routes
from controller.session import AnyProgram, AnyServer
from controller.telemetry import INT_PORTS
from controller.units import CHIP_CELL_BYTES
from topos import Topology

P = TypeVar("P", bound=AnyProgram)


@dataclass(frozen=True)
class Switches(Generic[P]):
    """Switches of one network that run one program."""

    topology: Topology
    only: str | None
    """The selected switch of the topology; None for all."""
    server: AnyServer[P]
    program: P
    roles: Roles
    """The roles of the program's tables."""
    cell_bytes: int | None
    """Of the chip's traffic manager; None for a switch that counts packets."""

    @property
    def has(self) -> SwitchProgram:
        """Their program, as a plan takes it; raises PlanError for one that nothing here has a plan for."""
        known = (THRESHOLDS, CURVES, RED_STEPS, WRED_FILTER, INT_PORTS, PRIORITIES)
        if not any(role in self.roles for role in known):
            cause = f"no table has one of the roles {', '.join(known)}"
            remedy = (
                "load a program with such a table, or annotate a table with @p4cc_role (docs/reference/features.md)"
            )
            raise PlanError("P4 program", cause, remedy)
        return SwitchProgram(self.roles, said_routes(self.roles))

    def left(self, plans: Sequence[SwitchPlan]) -> list[str]:
        """Warnings of tables with a role that these plans leave as they are."""
        result = {table.name for table in self.roles.tables.values()}
        result.difference_update(*(plan.scope.tables for plan in plans))
        return [f"table {table} is not changed: this command has no plan for it" for table in sorted(result)]

    def of(self, plans: Sequence[SwitchPlan]) -> tuple[SwitchPlan, ...]:
        """The plans of the selected ones."""
        return tuple(plan for plan in plans if self.only in (None, plan.switch))

    def install(self, plans: Sequence[SwitchPlan]) -> tuple[InstallReport, ...]:
        """Bring them into the planned state; raises SwitchError or PlanError."""
        return asyncio.run(install_network(self.server, self.program, plans))

    def diff(self, plans: Sequence[SwitchPlan]) -> tuple[SwitchDiff, ...]:
        """The writes of `install`; raises SwitchError or PlanError."""
        return asyncio.run(diff_network(self.server, self.program, plans))

    def ports(self, plans: Sequence[SwitchPlan]) -> tuple[PortState, ...]:
        """Thresholds and counts of their ports; raises SwitchError or PlanError."""
        return asyncio.run(read_ports(self.server, self.program, plans))


def find_switches(
    topology: Topology,
    connection: Connection,
    files: ProgramFiles,
    election_id: int = DEFAULT_ELECTION_ID,
    *,
    pushes: bool = True,
) -> Switches[Pipeline] | Switches[Program]:
    """The switches of a command line; `pushes` needs P4Runtime's device config. Raises PlanError, SwitchError."""
    only = connection.switch
    if only is not None and only not in topology.switch_names:
        known = ", ".join(topology.switch_names[:8])
        raise PlanError(f"--switch {only}", f"the topology has no such switch; it has {known}", "name one of them")
    if connection.protocol is Wire.BFRT:
        return _over_bfrt(topology, connection, files)
    return _over_p4runtime(topology, connection, files, election_id, pushes=pushes)


def _over_p4runtime(
    topology: Topology, connection: Connection, files: ProgramFiles, election_id: int, *, pushes: bool
) -> Switches[Pipeline]:
    pipeline = load_pipeline(*_compiled(files, pushes=pushes))
    server = Server(connection.server or P4RUNTIME_SERVER, election_id, connection.timeout_s)
    cell_bytes = CHIP_CELL_BYTES.get(pipeline.schema.arch)
    return Switches(topology, connection.switch, server, pipeline, roles_of(pipeline.schema), cell_bytes)


def _compiled(files: ProgramFiles, *, pushes: bool) -> tuple[str | bytes, bytes]:
    """P4Info and, if it is to be pushed, the device config."""
    if files.program is not None:
        if files.p4info is not None or files.config is not None:
            raise PlanError("--program", "replaces --p4info and --config", "remove these, or remove --program")
        for compiler in compilers:
            return compiler(files.program)
    if files.p4info is None:
        raise PlanError("--program", "is missing", "give the P4 program, or its P4Info with --p4info")
    if not pushes:
        return _read_p4info(files.p4info), b""
    if files.config is None:
        raise PlanError("--config", "is missing", "give the device config, or --program instead of --p4info")
    return _read_p4info(files.p4info), read_file(files.config, "device config")


def _over_bfrt(topology: Topology, connection: Connection, files: ProgramFiles) -> Switches[Program]:
    only = connection.switch
    if only is None:
        if len(topology.switch_names) != 1:
            cause = f"the topology has {len(topology.switch_names)} switches, each with a separate BF Runtime server"
            raise PlanError("--switch", cause, "select one with --switch and give its address with --server")
        only = topology.switch_names[0]
    server = BfrtServer(connection.server or BFRT_SERVER, connection.client_id, connection.timeout_s)
    program = asyncio.run(running_program(server, _p4_name(connection, files), only))
    return Switches(topology, only, server, program, program.roles, program.cell_bytes)


def _p4_name(connection: Connection, files: ProgramFiles) -> str:
    """The switch's name of the program: its file's name without the suffix, as compilers do."""
    if connection.p4_name is not None:
        return connection.p4_name
    for file in (files.program, files.config, files.p4info):
        if file is not None:
            return file.name.partition(".")[0] if file is files.p4info else file.stem
    remedy = "give --p4-name, or --program with the program's file, whose name is used"
    raise PlanError("--p4-name", "the name of the program on the switch is unknown", remedy)


def _read_p4info(path: Path) -> str | bytes:
    """Contents of a P4Info file: bytes if its name ends in .bin, else text."""
    data = read_file(path, "P4Info")
    if path.suffix == ".bin":
        return data
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise PlanError(str(path), "is not a text file", "a binary P4Info must be named .bin") from None
