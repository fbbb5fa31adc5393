"""`p4cc lab`: a scenario, or another tool's topology, with real packets."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from p4cc.bundled import find_scenario
from p4cc.commands.options import LivePort, Programs
from p4cc.errors import UserError
from p4cc.extras import needs, needs_figures

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from p4cc.lab.kernel_tcp import Hosts as HostsName
    from p4cc.lab.lab import Lab
    from p4cc.lab.plan import LabRequest
    from p4cc.lab.run import LabOptions, LabReport

FAILED = 1


class Hosts(StrEnum):
    """What sends a lab's flows."""

    LINUX = "linux"
    AGENTS = "agents"


_HOSTS: dict[Hosts, HostsName] = {Hosts.LINUX: "linux", Hosts.AGENTS: "agents"}


class Kind(StrEnum):
    """Programs that a lab's switches can be."""

    P4CC = "p4cc"
    BMV2 = "bmv2"


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("lab")(lab)


def lab(
    scenario: Annotated[Path | None, typer.Argument(help="Scenario file (YAML), or a name such as lab/incast.")] = None,
    imported: Annotated[
        Path | None,
        typer.Option("--import", help="topology.json of the P4 tutorials, or p4app.json of p4-utils, instead."),
    ] = None,
    switch: Annotated[Kind, typer.Option(help="What the switches are.")] = Kind.P4CC,
    program: Programs = None,
    assignments: Annotated[
        list[str] | None, typer.Option("--set", "-s", metavar="KEY=VALUE", help="Change a field of the scenario.")
    ] = None,
    variant: Annotated[str | None, typer.Option(help="Of the scenario's variants, if not the first.")] = None,
    cli: Annotated[bool, typer.Option("--cli/--no-cli", help="Open Mininet's command line, or end at once.")] = True,
    run: Annotated[
        list[str] | None,
        typer.Option("--run", metavar="'HOST LINE'", help="Run a shell line in a host; exit code 1 if one fails."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for logs, pcaps, requests; results/lab/NAME otherwise.")
    ] = None,
    pcap: Annotated[bool, typer.Option("--pcap/--no-pcap", help="Write what every port sends and receives.")] = True,
    agents: Annotated[
        bool, typer.Option("--agents/--no-agents", help="Run the scenario's flows, or leave the hosts idle.")
    ] = True,
    kernel_tcp: Annotated[
        list[str] | None,
        typer.Option(
            "--kernel-tcp", metavar="LABEL", help="Flows of this label use the kernel's TCP, the others agents."
        ),
    ] = None,
    hosts: Annotated[
        list[Hosts] | None,
        typer.Option(
            help="What sends all flows: the kernel's TCP, with p4cc's senders in it, or agents over UDP. "
            "With --compare, give both for a lab of each."
        ),
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="All variants here and in virtual time: one table, one figure.")
    ] = False,
    trace: Annotated[bool, typer.Option("--trace", help="Log what every packet does in a switch.")] = False,
    live: Annotated[
        bool, typer.Option("--live", help="Watch the lab in a page: look into switches, change their tables.")
    ] = False,
    live_port: LivePort = 0,
    grpc_port: Annotated[int | None, typer.Option(min=1, max=65_535, help="Of the first switch.")] = None,
    thrift_port: Annotated[int | None, typer.Option(min=1, max=65_535, help="Of the first switch.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a lab of other settings in that folder.")] = False,
    clean: Annotated[bool, typer.Option("--clean", help="Remove what killed labs left, and do nothing else.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Run a network on this machine: hosts in namespaces, P4 switches on real interfaces. Needs root.

    Examples:

    * `sudo p4cc lab experiments/lab/incast.yaml`
    * `sudo p4cc lab --import topology.json --program solution/basic.p4 --no-cli --run 'h1 ping -c 3 h2'`
    * `sudo p4cc lab star.yaml --no-agents --no-cli --run 'h1 iperf3 -s &' --run 'h2 iperf3 -c h1 -t 5'`
    * `sudo p4cc lab experiments/cubic/beside.yaml --kernel-tcp linux`
    * `sudo p4cc lab experiments/lab/incast.yaml --hosts linux --set switch.ecn_profile=sce`
    * `sudo p4cc lab experiments/lab/incast.yaml --live`: prints the address of a page
    * `sudo p4cc lab --clean`
    """
    # Planning and P4Runtime take a second to import; other commands need not wait for them.
    from p4cc.lab import run as lab_run
    from p4cc.lab.plan import LabRequest
    from p4cc.running.destination import destination_of

    if clean:
        typer.echo(lab_run.clean())
        return
    kinds: tuple[HostsName, ...] = tuple(dict.fromkeys(_HOSTS[one] for one in hosts or ()))
    if len(kinds) > 1 and not compare:
        raise UserError("a lab has hosts of one kind", place="--hosts", remedy="give one, or add --compare")
    if (scenario is None) == (imported is None):
        raise UserError("name a scenario, or a topology with --import", place="p4cc lab", remedy="see p4cc lab --help")
    file = find_scenario(scenario) if scenario is not None else imported
    if file is None:
        raise ValueError("one of the two is there")
    request = LabRequest(
        file=str(file.resolve()),
        is_import=imported is not None,
        switch=switch.value,
        programs=tuple(str(path.resolve()) for path in program or ()),
        overrides=tuple(assignments or ()),
        variant=variant,
        grpc_base=grpc_port,
        thrift_base=thrift_port,
        kernel_tcp=tuple(kernel_tcp or ()),
        hosts=None if len(kinds) != 1 else kinds[0],
    )
    identity = request.identity(lab_run.COMPARISON if compare else lab_run.LAB)
    place = destination_of(out or request.folder, file, identity, is_asked_for=out is not None)
    options = lab_run.LabOptions(
        folder=place.folder.resolve(),
        cli=cli and not as_json,
        commands=tuple(run or ()),
        pcaps=pcap,
        trace=trace,
        agents=agents,
        force=force,
        say=lambda text: typer.echo(text, err=as_json),
        stands=(lambda _: None) if as_json or compare else _print_switches,
        beside=_page(request, live_port, is_compared=compare) if live else None,
    )
    if compare:
        _compare(request, options, kinds, as_json=as_json)
        return
    report = lab_run.run_lab(request, options)
    if as_json:
        typer.echo(json.dumps({**report.to_plain(), "folder": str(options.folder)}, indent=1))
    else:
        _print(report, options.folder, place.aside)
    if not report.ok:
        raise typer.Exit(FAILED)


def _page(request: LabRequest, port: int, *, is_compared: bool) -> Callable[[Lab], AbstractContextManager[None]]:
    """The server of a lab's page; raises UserError."""
    with needs("--live", "live"):
        from p4cc.live.lab import LabPage, no_scenario

    if is_compared:
        raise UserError("shows one lab, and --compare makes several", place="--live", remedy="leave out one of them")
    if request.is_import:
        raise no_scenario()
    return LabPage(request, port).beside


def _compare(request: LabRequest, options: LabOptions, kinds: tuple[HostsName, ...], *, as_json: bool) -> None:
    needs_figures("--compare")
    from p4cc.lab import compare as lab_compare
    from p4cc.lab.plan import variants_of

    variants = variants_of(request)
    sides, report, figure = lab_compare.compare(request, options, variants, kinds)
    if as_json:
        plain = [{"variant": side.variant, "clock": side.clock, **side.numbers} for side in sides]
        typer.echo(json.dumps({"runs": plain, **report.to_plain(), "figure": str(figure)}, indent=1))
    else:
        console = _console()
        for warning in report.warnings:
            console.print(f"warning: {warning}", style="yellow", highlight=False, soft_wrap=True)
        shown = lab_compare.columns(sides)
        table = Table("variant", "clock", *shown)
        for side in sides:
            values = (side.numbers.get(name) for name in shown)
            table.add_row(side.variant, side.clock, *("-" if value is None else f"{value:,.0f}" for value in values))
        console.print(table)
        for failure in report.failed:
            console.print(f"failed: {failure}", style="red", highlight=False, soft_wrap=True)
        console.print(f"wrote {figure}", highlight=False, soft_wrap=True)
    if not report.ok:
        raise typer.Exit(FAILED)


def _print_switches(report: LabReport) -> None:
    """Switches and their addresses, before the command line opens, in 80 columns."""
    console = _console()
    table = Table("switch", "program", "P4Runtime", "Thrift", "id", "log", title=f"up after {report.up_s} s")
    files: dict[str, str] = {}
    for switch in report.switches:
        program = switch["program"]
        name = "none yet"
        if program is not None:
            name = Path(program["file"]).name
            files[program["file"]] = program["sha256"]
        places = (switch["address"], str(switch["thrift_port"]), str(switch["device_id"]), switch["log"])
        table.add_row(switch["switch"], name, *places)
    console.print(table)
    for file, sha256 in files.items():
        console.print(f"{file}\n  SHA-256 {sha256}", highlight=False, markup=False, soft_wrap=True)


def _print(report: LabReport, folder: Path, aside: str) -> None:
    console, errors = _console(), Console(stderr=True)
    for warning in report.warnings:
        errors.print(f"warning: {warning}", style="yellow", highlight=False, markup=False, soft_wrap=True)
    if report.agents is not None:
        numbers = Table("quantity", "value", title="flows of the scenario", show_header=False)
        for name, value in report.agents.summary.items():
            numbers.add_row(name, "-" if value is None else f"{value:,.0f}")
        console.print(numbers)
    for command in report.commands:
        status = "no end in time" if command["status"] is None else command["status"]
        head = f"{command['host']}: {command['command']} -> {status} ({command['log']})"
        console.print(head, highlight=False, markup=False, soft_wrap=True)
        console.print(command["output"].rstrip(), highlight=False, markup=False, soft_wrap=True)
    for failure in report.failed:
        errors.print(f"failed: {failure}", style="red", highlight=False, markup=False, soft_wrap=True)
    console.print(f"wrote {folder}{f': {aside}' if aside else ''}", highlight=False, markup=False, soft_wrap=True)


def _console() -> Console:
    console = Console()
    return console if console.is_terminal else Console(width=140)
