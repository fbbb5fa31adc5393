"""`p4cc tables`: what a folder of results holds, and all of it as CSV."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("tables")(tables)


def tables(
    folder: Annotated[Path, typer.Argument(help="A folder that p4cc run wrote.")],
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FOLDER", help="Write every table as CSV into this folder.")
    ] = None,
) -> None:
    """List the tables of results with their rows and columns, or write all of them as CSV.

    `runs.csv` has a row for each run, `statistics.csv` each of its numbers over the seeds: mean with its 95 %
    confidence interval (Student's t, or the scenario's `interval`), median, seeds. The others are the Parquet tables.
    In Python `p4cc.load(FOLDER)` has `to_csv(FOLDER)` and `to_pandas()`.

    Examples:

    * `p4cc tables results/incast`
    * `p4cc tables results/incast --csv incast-csv`
    """
    # Tables take a second to import; other commands need not wait for them.
    from p4cc.analysis.all_tables import all_tables, write_csv
    from p4cc.analysis.recorded import read_results

    found = all_tables(read_results(folder))
    if csv is not None:
        for path in write_csv(found, csv):
            typer.echo(f"wrote {path}")
        return
    for name, frame in found:
        typer.echo(f"{name}: {frame.height:,} rows of {', '.join(frame.columns)}")
    typer.echo(f"\nnext: p4cc tables {folder} --csv FOLDER")
