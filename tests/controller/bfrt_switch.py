"""A `p4cc-switch` with one of our TNA programs, which serves BF Runtime and P4Runtime at once, and its plan."""

from __future__ import annotations

import subprocess
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from controller import EcnSettings, Profile, SwitchPlan, Thresholds, plan_network, same_thresholds
from controller.bfrt.client import BfrtServer
from controller.install import Server
from controller.pipeline import Pipeline, load_pipeline
from controller.plan import SwitchProgram
from controller.port_settings import features_by_roles
from controller.red import SCRIPT
from controller.roles import Roles, roles_of
from controller.route_table import said_routes
from controller.units import CHIP_CELL_BYTES, cells_by_port
from p4cc.planning.programs import compile_program
from tests.switchd.namespaces import PATIENCE_S, ROOT, Switch, listening, switch_program, wait_for
from topos import Topology, generate

TNA = ROOT / "p4src" / "tna"
CELL_BYTES = CHIP_CELL_BYTES["tna"]
#: Its first leaf has routes by one member and by groups of two.
LEAVES = generate("leaf_spine", {"leaves": 2, "spines": 2, "hosts_per_leaf": 2})


@dataclass(frozen=True)
class Device:
    """A running switch."""

    name: str
    bfrt: BfrtServer
    p4runtime: Server


@contextmanager
def device(folder: Path, name: str, program: Path | None = None) -> Generator[Device]:
    """A switch with this program of ours; packets would come in by a socket that nobody uses."""
    log = folder / "switch"
    command = [switch_program(), "--packet-in", f"ipc://{folder}/packets.ipc", "--log-file", str(log), "-L", "info"]
    command += ["--bfrt-addr", "127.0.0.1:0", str(program or TNA / f"{name}.p4")]
    command += ["--", "--grpc-server-addr", "127.0.0.1:0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    switch = Switch(process, "", log.with_suffix(".txt"))
    try:
        bfrt = wait_for(lambda: listening(switch, "BF Runtime server listening on "), "BF Runtime")
        p4runtime = wait_for(lambda: listening(switch, "P4Runtime server listening on "), "P4Runtime")
        yield Device(name, BfrtServer(bfrt, timeout_s=PATIENCE_S), Server(p4runtime, timeout_s=PATIENCE_S))
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def pipeline(name: str) -> Pipeline:
    """One of our TNA programs as P4Runtime has it."""
    program = compile_program(TNA / f"{name}.p4")
    return load_pipeline(program.p4info_bytes(), program.device_config())


def plans(
    roles: Roles, topology: Topology = LEAVES, k_pkts: int = 33, profile: Profile = Profile.GST
) -> Sequence[SwitchPlan]:
    """What the first switch is to hold, in a program with these roles; it is device 0, as the driver's are."""
    chips = dict.fromkeys(topology.switch_names, CELL_BYTES)
    ecn = EcnSettings(profile, same_thresholds(topology, Thresholds(k_pkts, 65)), cells_by_port(topology, chips, 1500))
    features = features_by_roles(roles, topology, SCRIPT, lambda _: CELL_BYTES)
    programs = dict.fromkeys(topology.switch_names, SwitchProgram(roles, said_routes(roles)))
    return [replace(plan_network(topology, ecn, features, programs=programs)[0], device_id=0)]


def plans_of(known: Pipeline) -> Sequence[SwitchPlan]:
    """The same, by the roles of a P4Info."""
    return plans(roles_of(known.schema))
