"""`p4cc explain`: what bounded the slow flows of a finished run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("explain")(explain)


def explain(
    folder: Annotated[Path, typer.Argument(help="A folder that p4cc run wrote.")],
    variant: Annotated[str | None, typer.Option("--variant", metavar="NAME", help="Only runs of this variant.")] = None,
    flows: Annotated[int, typer.Option("--flows", min=0, help="Flows printed of each run, the slowest first.")] = 10,
    slow: Annotated[
        float, typer.Option("--slow", min=1.0, help="Slowdown from which a finished flow is explained.")
    ] = 1.25,
    as_json: Annotated[bool, typer.Option("--json", help="Print all slow flows with their shares as JSON.")] = False,
) -> None:
    """Say what bounded each slow flow of finished runs, with shares of its time.

    Causes: timeouts, loss recovery, pauses (PFC), the application, the sender's least window or rate, the receiver
    window, slow start, a collision of paths (ECMP), queueing behind others, the line rate, the sender's own control.
    Only the run's tables are read; what they do not record is said, with the key of `record` that would.

    Examples:

    * `p4cc explain results/incast`
    * `p4cc explain results/incast --variant DCTCP --flows 40`
    * `p4cc explain results/incast --json`
    """
    # Tables take a second to import; other commands need not wait for them.
    from p4cc.analysis.recorded import read_results
    from p4cc.errors import UserError
    from p4cc.explain.explained import explain as explain_folder
    from p4cc.explain.text import lines, plain

    runs = explain_folder(read_results(folder), slow, wanted=lambda row: variant in (None, row.variant))
    if not runs and variant is None:
        cause = "has no run of a case that its run.json names"
        raise UserError(cause, place=str(folder), remedy="run the scenario again")
    if not runs:
        raise UserError(f"has no runs of {variant!r}", place=str(folder), remedy="name one of its variants")
    if as_json:
        typer.echo(json.dumps(plain(runs), indent=1))
        return
    for at, run in enumerate(runs):
        if at:
            typer.echo("")
        for line in lines(run, flows):
            typer.echo(line)
