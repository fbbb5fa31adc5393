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
        list[Path], typer.Argument(metavar="FOLDER...", help="Folders written by p4cc run or p4cc lab.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Output file; default: report.html in the folder, or in the working directory for several folders.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that p4cc did not write.")] = False,
) -> None:
    """Write results as one HTML file: interactive figures, sortable tables, what was run and how to repeat it.

    The file is self-contained and loads nothing from the network. With several folders, the report shows them side by
    side, with all differences in settings and metrics. Unfinished runs and labs have reports, too.

    Examples:

    * `p4cc report results/gst-incast`
    * `p4cc report results/dctcp results/gst -o both.html`
    """
    # Tables and figures take a second to import; other commands need not wait for them.
    with needs("p4cc report", "report"):
        from p4cc.report.write import write_report

    typer.echo(f"wrote {write_report(folders, out, force=force)}")
