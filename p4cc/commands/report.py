"""`p4cc report`: results as one page to read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from p4cc.extras import needs


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("report")(report)


def report(
    folders: Annotated[
        list[Path], typer.Argument(metavar="FOLDER...", help="Folders that p4cc run or p4cc lab wrote.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="File to write; report.html in the folder, or here for several, if not given."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that p4cc did not write.")] = False,
) -> None:
    """Write results as one HTML file: figures to zoom and point at, tables to sort, what was run and how to repeat it.

    The file holds all that it needs, and asks no network for anything. Two folders and more stand side by side, with
    what differs in settings and in every metric. Runs that are not finished, and labs, have reports too.

    Examples:

    * `p4cc report results/gst-incast`
    * `p4cc report results/dctcp results/gst -o both.html`
    """
    # Tables and figures take a second to import; other commands need not wait for them.
    with needs("p4cc report", "report"):
        from p4cc.report.write import write_report

    typer.echo(f"wrote {write_report(folders, out, force=force)}")
