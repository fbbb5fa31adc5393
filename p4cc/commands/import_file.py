"""`p4cc import`: a scenario made of another tool's file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from p4cc.commands.init import import_file


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("import")(import_scenario)


def import_scenario(
    source: Annotated[Path, typer.Argument(help="File of another tool: configuration, topology or flows.")],
    file: Annotated[Path | None, typer.Argument(help="Scenario to write; named after the file if not given.")] = None,
    programs: Annotated[
        list[Path] | None,
        typer.Option("--program", help="P4 source for the switches that name it, or for all; with a topology.json."),
    ] = None,
    topology: Annotated[
        Path | None, typer.Option("--topology", help="Network of a flow file: a topology of htsim or ns-3.")
    ] = None,
    ranks: Annotated[
        list[str] | None,
        typer.Option("--ranks", help="Hosts by rank, of a file of operations: names, with * and ?; repeatable."),
    ] = None,
    groups: Annotated[
        Path | None, typer.Option("--groups", help="ASTRA-sim's file of communicator groups, of traces of Chakra.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the scenario if there is one.")] = False,
) -> None:
    """Write the scenario that another tool's file describes.

    A configuration of HPCC's simulator is translated key by key. A value that p4cc does not model is an error with its
    line; keys that change no result are listed. `topology.json` of the P4 tutorials and `p4app.json` of p4-utils bring
    their programs and entries. A topology or a flow file of htsim (`.topo`, `.cm`) or ns-3, a table of flows (CSV,
    Parquet), a GOAL schedule, the traces of Chakra or a workload of SimAI gets NSCC as its sender.

    Examples:

    * `p4cc import simulation/mix/config.txt`
    * `p4cc import exercises/ecn/topology.json my-ecn.yaml --program solution/ecn.p4`
    * `p4cc import topologies/leaf_spine_tiny.topo`
    * `p4cc import all_reduce/8npus_1MB/all_reduce.0.et`
    * `p4cc import llm/llm.0.et --groups llm/groups.json --topology rails.topo --ranks 'h*'`
    * `p4cc import connection_matrices/perm_32n_32c_2MB.cm --topology topologies/leaf_spine_tiny.topo`
    """
    import_file(source, file, programs or (), force=force, topology=topology, ranks=ranks or (), groups=groups)
