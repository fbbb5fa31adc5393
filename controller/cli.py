"""The verbs of `p4cc controller`: plan thresholds, install a network's state, show what differs and what is there.

Exit codes: 0 done, 1 `diff` found writes due or `plan` has no level of its own for K, 2 bad input or a switch that
refuses.
"""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from controller import options
from controller.defaults import DEFAULT_ELECTION_ID
from controller.ecn import THRESHOLDS, Profile
from controller.errors import ControllerError, PlanError
from controller.model import Bottleneck
from controller.options import (
    TOPOLOGY_HELP,
    Connection,
    Curve,
    ElectionOption,
    JsonOption,
    P4InfoOption,
    ProgramFiles,
    ProgramOption,
    SetOption,
    Shape,
    ThresholdOptions,
    command_of,
    read_file,
    topology_readers,
)
from controller.plan import EcnSettings, SwitchPlan, plan_network, port_warnings
from controller.plan_report import print_link, print_tiers
from controller.planner import thresholds_by_rule
from controller.port_settings import features_by_roles
from controller.red import PublishedCurve
from controller.settings import falling, plan_link
from controller.tiers import TierPlan, plan_tiers
from controller.units import cells_by_port
from topos import Topology, TopologyError, generate, topology_from_plain
from topos.units import UnitError, parse

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from controller.bfrt.program import Program
    from controller.install import PortState, SwitchDiff
    from controller.pipeline import Pipeline
    from controller.switches import Switches

app = typer.Typer(
    name="controller",
    help="Plan thresholds, and install routes, thresholds and ECN codepoints over P4Runtime or BF Runtime.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

BAD_INPUT = 2
WRITES_DUE = 1
NO_LEVEL_1 = 1
DEFAULT_BUFFER_PKTS = 150
DEFAULT_RATE_BPS = 10_000_000_000
DEFAULT_RTT_NS = 100_000

ProfileOption = Annotated[Profile, typer.Option("--profile", help="Meaning of the two ECN bits.")]


@app.command("plan")
@command_of
def plan_command(
    thresholds: ThresholdOptions,
    topology: Annotated[str | None, typer.Option(help=TOPOLOGY_HELP + " A row for each class of its ports.")] = None,
    assignments: SetOption = None,
    buffer_pkts: Annotated[
        int | None,
        typer.Option(parser=options.packets, metavar="PACKETS", help="Port queue in packets; default: 150."),
    ] = None,
    rate_bps: Annotated[
        int | None,
        typer.Option(parser=options.rate_bps, metavar="RATE", help="Link rate in bit/s; default: 10G."),
    ] = None,
    senders: Annotated[
        int, typer.Option(help="Number of flows that share the link (HPCC's w_ai, the GST paper's model).")
    ] = 25,
    rto_ns: Annotated[
        int, typer.Option(parser=options.time_ns, metavar="TIME", help="Minimum retransmission timeout in ns.")
    ] = 200_000_000,
    as_json: JsonOption = False,
) -> None:
    """Plan the settings of switches and senders: K and K_dc, the RED curve for DCQCN, HPCC's parameters.

    Every reading of the papers is shown in packets, bytes and microseconds of queue with its source; the chosen one is
    marked and explained. With the default rule, a faster link never gets a smaller threshold.

    Exit code: 0 success, 1 K is not less than K_dc, 2 bad input.

    Examples:

    - `p4cc controller plan --rate-bps 100G --rtt-ns 20us --buffer-pkts 1000`
    - `p4cc controller plan --buffer-pkts 150 --k-rule halve_once` gives K = 33, `--buffer-pkts 100` gives 8
    - `p4cc controller plan --topology leaf_spine --set leaves=4 --set spines=2 --set hosts_per_leaf=8`
    - `p4cc controller plan --topology experiments/skew/base.yaml --json`
    """
    of = thresholds
    with _reported():
        if topology is None:
            if assignments:
                raise PlanError("--set", "there is no topology to change", "give --topology")
            at = Bottleneck(
                DEFAULT_BUFFER_PKTS if buffer_pkts is None else buffer_pkts,
                DEFAULT_RATE_BPS if rate_bps is None else rate_bps,
                DEFAULT_RTT_NS if of.rtt_ns is None else of.rtt_ns,
                of.packet_bytes,
                senders,
                rto_ns,
            )
            link = plan_link(at, of.rule)
            links, rows = [("the link", link)], ()
        else:
            _refuse_with_topology({"--buffer-pkts": buffer_pkts, "--rate-bps": rate_bps})
            network = _topology(Shape(topology, list(assignments or ())))
            rows = plan_tiers(network, of.rule, packet_bytes=of.packet_bytes, senders=senders, rto_ns=rto_ns)
            links = [(f"{row.tier.name} at {row.tier.rate_bps / 1e9:g} Gb/s", row.link) for row in rows]
    if as_json:
        _print_json(_rows_to_plain(rows, falling(links)) if rows else links[0][1].to_plain())
    elif rows:
        print_tiers(Console(highlight=False), rows)
    else:
        print_link(Console(highlight=False), links[0][1])
    equal = [(name, link) for name, link in links if link.thresholds.k_pkts >= link.thresholds.k_dc_pkts]
    if not as_json and not equal:
        _warn([f"{name}: {text}" if rows else text for name, link in links for text in link.warnings])
        _warn(falling(links))
    for name, link in equal:
        k, k_dc = link.thresholds.k_pkts, link.thresholds.k_dc_pkts
        remedy = "reduce --k-pkts, choose another --k-rule, or increase --k-dc-pkts"
        place = f"{name}: " if rows else ""
        print(
            f"error: {place}K {k} is not less than K_dc {k_dc}: no packet is marked at K alone\n  remedy: {remedy}",
            file=sys.stderr,
        )
    if equal:
        raise typer.Exit(NO_LEVEL_1)


@app.command("install")
@command_of
def install_command(
    program: ProgramFiles,
    shape: Shape,
    connection: Connection,
    thresholds: ThresholdOptions,
    curve: Curve,
    profile: ProfileOption = Profile.GST,
    election_id: ElectionOption = DEFAULT_ELECTION_ID,
    as_json: JsonOption = False,
) -> None:
    """Bring every switch into the planned state: push the program if it differs, then write only what differs.

    The plan depends on the program's tables: routes, thresholds, RED curves, INT settings. Over BF Runtime, the
    program must already be running, and the command installs one switch at a time.

    Examples:

    - `p4cc controller install --program ecn_dual.p4 --topology star --set senders=25`
    - `p4cc controller install --p4info ecn.p4info --config ecn.json --topology net.json --k-rule fixed --k-pkts 25`
    - `p4cc controller install --protocol bfrt --server leaf1:50052 --p4-name ecn_dual --topology net.json
      --switch leaf1`
    """
    # gRPC takes half a second to import; other commands need not wait for it.
    from controller.switches import find_switches

    with _reported():
        switches = find_switches(_topology(shape), connection, program, election_id)
        plans = _plans(switches, profile, thresholds, curve)
        reports = switches.install(plans)
    if as_json:
        _print_json([asdict(report) for report in reports])
    else:
        table = Table("switch", "pipeline", "updates written")
        for report in reports:
            table.add_row(report.switch, "pushed" if report.pipeline_pushed else "kept", str(report.updates_written))
        Console().print(table)
    _warn([*port_warnings(plans), *switches.left(plans)])


@app.command("diff")
@command_of
def diff_command(
    program: ProgramFiles,
    shape: Shape,
    connection: Connection,
    thresholds: ThresholdOptions,
    curve: Curve,
    profile: ProfileOption = Profile.GST,
    as_json: JsonOption = False,
) -> None:
    """Show what `install` would write, without writing it; exit with code 1 if there are differences.

    Examples:

    - `p4cc controller diff --program ecn_dual.p4 --topology star --set senders=25`
    - `p4cc controller diff --protocol bfrt --p4-name ecn_dual --topology star --set senders=25`
    """
    from controller.switches import find_switches

    with _reported():
        switches = find_switches(_topology(shape), connection, program)
        found = switches.diff(_plans(switches, profile, thresholds, curve))
    if as_json:
        _print_json([_diff_to_plain(switch) for switch in found])
    else:
        for switch in found:
            _print_diff(switch)
    if any(switch.pipeline_differs or switch.updates for switch in found):
        raise typer.Exit(WRITES_DUE)


@app.command("show")
@command_of
def show_command(
    shape: Shape,
    connection: Connection,
    program: ProgramOption = None,
    p4info: P4InfoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Read thresholds and packet counts of every port from the switches, in packets or in cells of the chip.

    Examples:

    - `p4cc controller show --program ecn_dual.p4 --topology star --set senders=25`
    - `p4cc controller show --protocol bfrt --p4-name ecn_dual --topology star --set senders=25`
    """
    from controller.switches import find_switches

    with _reported():
        topology = _topology(shape)
        switches = find_switches(topology, connection, ProgramFiles(program, p4info), pushes=False)
        # Which switches and ports there are; what they hold comes from the switches.
        programs = dict.fromkeys(topology.switch_names, switches.has)
        plans = plan_network(topology, EcnSettings(Profile.GST, {}), programs=programs)
        ports = switches.ports(switches.of(plans))
        # How many cells a packet takes is not known here.
        unit = "pkts" if switches.cell_bytes is None else "cells"
    if as_json:
        _print_json([_port_to_plain(port, unit) for port in ports])
    else:
        _print_ports(ports, unit)


def _refuse_with_topology(options: Mapping[str, int | None]) -> None:
    """Raises PlanError for an option whose value a topology has for each link."""
    for option, value in options.items():
        if value is not None:
            raise PlanError(option, "the topology defines it for each link", "remove the option, or remove --topology")


def _rows_to_plain(rows: Sequence[TierPlan], warnings: Sequence[str]) -> dict[str, object]:
    """Plain data of a network's plan."""
    tiers = [{"tier": row.tier.name, "ports": row.tier.ports, **row.link.to_plain()} for row in rows]
    return {"tiers": tiers, "warnings": list(warnings)}


@contextmanager
def _reported() -> Generator[None]:
    """Print a user's or a switch's error as one message and leave with exit code 2."""
    try:
        yield
    except (ControllerError, TopologyError) as error:
        print(f"error: {error}", file=sys.stderr)
        raise typer.Exit(BAD_INPUT) from None


def _topology(shape: Shape) -> Topology:
    """The topology of a JSON file, or of a named shape with its parameters."""
    source = shape.topology
    params: dict[str, str | float] = {}
    for setting in shape.set or ():
        name, found, value = setting.partition("=")
        if not found:
            raise PlanError(f"--set {setting}", "contains no '='", "write NAME=VALUE, for example senders=25")
        try:
            number = parse(name, value)
        except UnitError as error:
            raise PlanError(
                f"--set {setting}", str(error), "give a value with another unit, or a plain number"
            ) from None
        params[name] = value if number is None else number
    reader = topology_readers.get(Path(source).suffix)
    if reader is not None:
        return reader(Path(source), shape.set or ())
    if not source.endswith(".json"):
        return generate(source, params)
    if params:
        raise PlanError("--set", "a topology file has no parameters", "edit the file, or use a named shape")
    try:
        return topology_from_plain(json.loads(read_file(Path(source), "topology").decode("utf-8")))
    except (ValueError, RecursionError) as error:
        if isinstance(error, TopologyError):
            raise
        raise PlanError(source, f"not valid JSON: {error}", "correct the file") from None


def _plans(
    switches: Switches[Pipeline] | Switches[Program], profile: Profile, thresholds: ThresholdOptions, curve: Curve
) -> tuple[SwitchPlan, ...]:
    """The desired state of the selected switches: every port, in the tables that their program has."""
    topology, has, size = switches.topology, switches.has, switches.cell_bytes
    chips = dict.fromkeys(topology.switch_names, size) if size is not None else {}
    cells = cells_by_port(topology, chips, thresholds.packet_bytes)
    ecn = None
    if has.has(THRESHOLDS):
        by_port = thresholds_by_rule(topology, thresholds.rule, packet_bytes=thresholds.packet_bytes)
        ecn = EcnSettings(profile, by_port, cells)
    if not 0 < curve.red_p_max <= 1:
        raise PlanError(
            "--red-p-max", f"{curve.red_p_max:g} is not a probability", "give a number above 0 and at most 1"
        )
    p_max = Fraction(curve.red_p_max).limit_denominator(1_000_000)
    published = PublishedCurve(curve.red_k_min_bytes, curve.red_k_max_bytes, p_max)
    features = features_by_roles(switches.roles, topology, published, lambda _: size or thresholds.packet_bytes)
    programs = dict.fromkeys(topology.switch_names, has)
    return switches.of(plan_network(topology, ecn, features, programs=programs))


def _print_json(data: object) -> None:
    """Indented JSON on standard output."""
    print(json.dumps(data, indent=2))


def _warn(warnings: Sequence[str]) -> None:
    """Warnings on standard error, so that they do not mix with the output."""
    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr)


def _diff_to_plain(switch: SwitchDiff) -> dict[str, object]:
    """Plain data of one switch's difference."""
    return {"switch": switch.switch, "pipeline_differs": switch.pipeline_differs, "updates": switch.lines()}


def _print_diff(switch: SwitchDiff) -> None:
    """One line for each write."""
    count = f"{len(switch.updates)} update{'' if len(switch.updates) == 1 else 's'}"
    print(f"{switch.switch}: {count}" + (", push pipeline" if switch.pipeline_differs else ""))
    for line in switch.lines():
        print(f"  {line}")


def _port_to_plain(port: PortState, unit: str) -> dict[str, object]:
    """Plain data of a port, with thresholds in the switch's own unit."""
    thresholds = {"k_pkts": f"k_{unit}", "k_dc_pkts": f"k_dc_{unit}"}
    return {thresholds.get(name, name): value for name, value in asdict(port).items()}


def _print_ports(ports: Sequence[PortState], unit: str) -> None:
    """One row for each port, with thresholds in the switch's own unit."""
    table = Table("switch", "port", "to", f"K {unit}", f"K_dc {unit}", "packets", "level 1", "level 2")
    for port in ports:
        k = "-" if port.k_pkts is None else str(port.k_pkts)
        k_dc = "-" if port.k_dc_pkts is None else str(port.k_dc_pkts)
        total = port.level0_pkts + port.level1_pkts + port.level2_pkts
        levels = (str(port.level1_pkts), str(port.level2_pkts))
        table.add_row(port.switch, str(port.port), port.peer, k, k_dc, str(total), *levels)
    Console().print(table)
