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
    source: Annotated[Path, typer.Argument(help="config.txt of HPCC's ns-3 simulator, topology.json or p4app.json.")],
    file: Annotated[Path | None, typer.Argument(help="Scenario to write; named after the file if not given.")] = None,
    programs: Annotated[
        list[Path] | None,
        typer.Option("--program", help="P4 source for the switches that name it, or for all; with a topology.json."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the scenario if there is one.")] = False,
) -> None:
    """Write the scenario that another tool's file describes.

    A configuration of HPCC's simulator is translated key by key. A value that p4cc does not model is an error with its
    line; keys that change no result are listed. `topology.json` of the P4 tutorials and `p4app.json` of p4-utils bring
    their programs and entries.

    Examples:

    * `p4cc import simulation/mix/config.txt`
    * `p4cc import exercises/ecn/topology.json my-ecn.yaml --program solution/ecn.p4`
    """
    import_file(source, file, programs or (), force=force)
