"""`p4cc reproduce`: the figures of a paper beside what the paper says."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("reproduce")(reproduce)


def reproduce(
    study: Annotated[str | None, typer.Argument(help="gst, timely, … (see --list), or the file of a study.")] = None,
    list_studies: Annotated[bool, typer.Option("--list", help="List studies and their figures; run nothing.")] = False,
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="FIG", help="This figure only; repeatable.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="20 seeds instead of 5, and figures that run on request only.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the records as JSON instead of the table.")] = False,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, max=256, help="Runs at the same time.")] = (
        os.cpu_count() or 1
    ),
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for results; results/STUDY (or STUDY-full) if not given.")
    ] = None,
    cache: Annotated[
        bool, typer.Option("--cache/--no-cache", help="Use and keep finished runs (.p4cc-cache beside the results).")
    ] = True,
    force: Annotated[bool, typer.Option("--force", help="Replace results of other settings in that folder.")] = False,
) -> None:
    """Run every figure of a paper and set its numbers beside the paper's.

    Each figure is a scenario; what the paper says, the band expected (with its source) and the likely cause of a
    deviation stand in it. A number outside its band is reported, never adjusted: the exit code is 0 all the same. It
    is 2 when a run fails or a file is wrong, 130 after Ctrl-C; the same command then goes on where it stopped.

    Examples:

    * `p4cc reproduce --list`
    * `p4cc reproduce gst`
    * `p4cc reproduce gst --only 9a --only headline --json`
    * `p4cc reproduce rfb_ss --full`
    """
    if list_studies:
        _list(study, as_json)
        return
    if study is None:
        raise typer.BadParameter("name a study, or use --list", param_hint="STUDY")
    # Plotting and tables take a second to import; other commands need not wait for them.
    from p4cc.reproduce.run import ReproduceRequest
    from p4cc.reproduce.run import reproduce as run_study
    from p4cc.reproduce.study import find_study
    from p4cc.reproduce.table import causes, rich_table

    found = find_study(study)
    request = ReproduceRequest(
        study=found, only=tuple(only or ()), full=full, jobs=jobs, out=out, quiet=as_json, use_cache=cache, force=force
    )
    outcome = run_study(request)
    if as_json:
        typer.echo(json.dumps(outcome.records, indent=1))
        return
    console = Console()
    if not console.is_terminal:
        console = Console(width=180)
    console.print(rich_table(found.study.title, outcome.records))
    for line in causes(outcome.records):
        console.print(f"- {line}", highlight=False, markup=False, soft_wrap=True)
    for path in (*outcome.pictures, outcome.folder):
        console.print(f"wrote {path}", highlight=False, markup=False, soft_wrap=True)


def _list(study: str | None, as_json: bool) -> None:
    from p4cc.reproduce.run import listing
    from p4cc.reproduce.study import find_study, known_studies

    studies = list(known_studies().values()) if study is None else [find_study(study)]
    listed = [listing(one) for one in studies]
    if as_json:
        typer.echo(json.dumps(listed, indent=1))
        return
    lines: list[str] = []
    for entry in listed:
        lines.append(f"{entry['study']}: {entry['title']} ({entry['source']})")
        for figure in entry["figures"]:
            asked = " (on request: --only or --full)" if figure["on_request"] else ""
            lines.append(f"  {figure['figure']:<12} {figure['title']}{asked}")
    typer.echo("\n".join(lines))
