"""`p4cc topo`: the network of a scenario as a table, JSON or a picture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from p4cc.bundled import find_scenario
from p4cc.digits import counted
from p4cc.errors import UserError
from p4cc.extras import needs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p4cc.scenario.overrides import Origins
    from topos import Topology


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("topo")(topo)


def topo(
    scenario: Annotated[Path, typer.Argument(help="Scenario file (YAML), or a name such as gst/incast.")],
    assignments: Annotated[
        list[str] | None, typer.Option("--set", "-s", metavar="KEY=VALUE", help="Change a field; repeatable.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print hosts, switches and links as JSON.")] = False,
    png: Annotated[Path | None, typer.Option("--png", help="Draw the network into this file.")] = None,
) -> None:
    """Show the network that a scenario builds.

    Examples:

    * `p4cc topo experiments/gst/incast.yaml`
    * `p4cc topo experiments/gst/incast.yaml --set topology.senders=4 --png star.png`
    """
    topology = scenario_topology(scenario, assignments or ())
    if png is not None:
        # Plotting takes a second to import; the text needs none of it.
        with needs("--png", "figures"):
            from p4cc.figures import network

        network.draw(topology, png)
    if as_json:
        typer.echo(json.dumps(topology.to_plain(), indent=1))
    elif png is None:
        _print(topology)
    else:
        typer.echo(f"wrote {png}")


def scenario_topology(scenario: Path, assignments: Sequence[str]) -> Topology:
    """The network of a scenario with changes from the command line; raises UserError."""
    # The models of a scenario take a while to build; other commands need not wait for them.
    from p4cc.scenario.load import validate
    from p4cc.scenario.overrides import apply_overrides
    from p4cc.scenario.yaml import read_document
    from topos import TopologyError

    scenario = find_scenario(scenario)
    document = read_document(scenario)
    origins: Origins = {}
    settings = validate(document, apply_overrides(document.plain(), list(assignments), origins), origins)
    try:
        return settings.topology.build(scenario)
    except TopologyError as error:
        raise UserError(str(error), place=document.place(("topology",)), remedy="correct the scenario") from error


def _print(topology: Topology) -> None:
    console = Console()
    if not console.is_terminal:
        console = Console(width=140)
    kinds = {"host": topology.hosts, "switch": topology.switches, "link": topology.links}
    table = Table(title=", ".join(counted(len(found), what) for what, found in kinds.items()), title_justify="left")
    for heading in ("switch:port", "to", "rate Gb/s", "delay us", "queue packets"):
        table.add_column(heading, justify="left" if heading in ("switch:port", "to") else "right")
    for switch, ports in topology.ports.items():
        for port in ports:
            link = topology.links[port.link_index]
            table.add_row(
                f"{switch}:{port.number}",
                port.peer,
                f"{link.rate_bps / 1e9:g}",
                f"{link.delay_ns / 1e3:g}",
                str(link.queue_capacity_pkts),
            )
    console.print(table)
