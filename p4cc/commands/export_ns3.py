"""`p4cc export-ns3`: the network and the flows of a run as files of HPCC's ns-3 simulator."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from p4cc.errors import UserError


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("export-ns3")(export_ns3)


def export_ns3(
    results: Annotated[Path, typer.Argument(help="A folder that p4cc run wrote.")],
    out: Annotated[Path, typer.Argument(help="Folder for topology.txt and flows.txt; made if it is not there.")],
    seed: Annotated[int | None, typer.Option(help="Whose flows; the first seed's if not given.")] = None,
) -> None:
    """Write network and flows of a run in the formats of HPCC's ns-3 simulator, so that both run the same flows.

    All variants have the same traffic, so one file serves all of them. `p4cc run --topology FILE --flows FILE` reads
    such files into a scenario of kind ns3.

    Examples:

    * `p4cc export-ns3 results/figure ns3 --seed 1`
    """
    # Tables take a second to import; other commands need not wait for them.
    from p4cc.analysis.recorded import read_results, read_table
    from p4cc.commands.topo import scenario_topology
    from p4cc.planning.ns3_export import flows_text, topology_text

    flows = read_table(read_results(results).folder, "flows")
    if flows is None:
        raise UserError("holds no flows", place=str(results), remedy="name other results")
    seeds = flows["seed"].unique(maintain_order=True).to_list()
    chosen = seeds[0] if seed is None else seed
    if chosen not in seeds:
        raise UserError(f"seed {seed} was not run", place="--seed", remedy=f"seeds: {', '.join(map(str, seeds))}")
    topology = scenario_topology(results / "scenario.json", ())
    first = flows.filter((flows["seed"] == chosen) & (flows["variant"] == flows["variant"][0]))
    out.mkdir(parents=True, exist_ok=True)
    texts = {"topology.txt": topology_text(topology), "flows.txt": flows_text(first, topology, 3)}
    for name, text in texts.items():
        (out / name).write_text(text, encoding="utf-8")
        typer.echo(f"wrote {out / name}")
