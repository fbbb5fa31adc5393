"""`p4cc reproduce`: the figures of a paper, compared with the paper's numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from p4cc.commands.options import CORES, Cache, Force, Jobs, Memory, On, Store, Wheel, machines
from p4cc.errors import UserError
from p4cc.exit_codes import DIFFERS
from p4cc.extras import needs, needs_figures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p4cc.reproduce.results import StudyResults
    from p4cc.reproduce.run import ReproduceOutcome
    from p4cc.reproduce.study import StudyFile


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("reproduce")(reproduce)


def reproduce(
    study: Annotated[str | None, typer.Argument(help="gst, timely, … (see --list), or the file of a study.")] = None,
    list_studies: Annotated[bool, typer.Option("--list", help="List studies and their figures; run nothing.")] = False,
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="FIG", help="This figure only; repeatable.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Figures that run on request only, too.")] = False,
    full: Annotated[
        bool, typer.Option("--full", help="20 seeds instead of 5, longer runs, and figures that run on request only.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the records as JSON instead of the table.")] = False,
    jobs: Jobs = CORES,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for results; results/STUDY (or STUDY-full) if not given.")
    ] = None,
    cache: Cache = True,
    force: Force = False,
    on: On = None,
    store: Store = None,
    memory: Memory = None,
    wheel: Wheel = None,
    report: Annotated[
        bool, typer.Option("--report", help="Write a page of the source; without STUDY, of all results that are there.")
    ] = False,
    report_to: Annotated[
        Path | None,
        typer.Option(
            "--report-to", metavar="FOLDER", help="The same, into this folder; results/reproduction if not given."
        ),
    ] = None,
) -> None:
    """Run every figure of a paper and compare its numbers with the paper's.

    Each figure is a scenario with the paper's numbers, how they are known, and likely causes of deviations. The band of
    a paper's number follows from how it is known, and a number outside of it is a finding. What it states without a
    number, and p4cc's own expectations, are counted separately. Exit code 1: one of these is not met; 2: a run failed
    or a file is wrong; 130: Ctrl-C, after which the same command continues where it stopped.

    Without a STUDY, `--all` runs every study and writes `experiments/verdicts.json` (in a checkout; else
    `results/verdicts.json`); `--json` prints the sums of each.

    `--report` writes a Markdown page with pictures: every figure, table and number of the source in its order, each
    with ours or the reason why there is none. With a STUDY it runs the study first (finished runs come from the cache).
    Without one it runs nothing and uses the results in results/STUDY, for all studies that have some.

    Examples:

    * `p4cc reproduce --list`
    * `p4cc reproduce gst`
    * `p4cc reproduce gst --only 9a --only headline --json`
    * `p4cc reproduce rfb_ss --full`
    * `p4cc reproduce rfb_ss --report`
    * `p4cc reproduce --all --json`
    """
    if list_studies:
        _list(study, as_json)
        return
    if study is None and every:
        _everything(jobs, full, cache, force)
        return
    if study is None:
        if not report and report_to is None:
            raise typer.BadParameter("name a study, or use --list or --report", param_hint="STUDY")
        _report_all(out or Path("results"), report_to)
        return
    # Plotting and tables take a second to import; other commands need not wait for them.
    from p4cc.reproduce.results import read_results
    from p4cc.reproduce.run import ReproduceRequest
    from p4cc.reproduce.run import reproduce as run_study
    from p4cc.reproduce.study import find_study
    from p4cc.running.request import RunRequest

    if report or report_to is not None:
        needs_figures("--report")
    found = find_study(study)
    run = RunRequest(found.path, out, jobs=jobs, quiet=as_json, use_cache=cache, force=force)
    with machines(run, on, store, memory, wheel) as run:
        outcome = run_study(ReproduceRequest(found, run, tuple(only or ()), every, full))
    pages = _report([read_results(found, outcome.folder)], report_to) if report or report_to is not None else []
    if as_json:
        typer.echo(json.dumps(outcome.records, indent=1))
    else:
        _print(found, outcome, pages)
    if outcome.not_met:
        raise typer.Exit(DIFFERS)


def _print(study: StudyFile, outcome: ReproduceOutcome, pages: Sequence[Path]) -> None:
    from p4cc.reproduce.table import causes, rich_tables

    console = Console()
    if not console.is_terminal:
        console = Console(width=180)
    for table in rich_tables(study.study.title, outcome.records, outcome.leagues):
        console.print(table)
    for line in causes(outcome.records):
        console.print(f"- {line}", highlight=False, markup=False, soft_wrap=True)
    for path in (*outcome.pictures, outcome.folder, *pages):
        console.print(f"wrote {path}", highlight=False, markup=False, soft_wrap=True)


def _everything(jobs: int, full: bool, cache: bool, force: bool) -> None:
    """Every study: the file of verdicts, and the sums as JSON."""
    from p4cc.reproduce.every_study import reproduce_all
    from p4cc.reproduce.run import ReproduceRequest
    from p4cc.reproduce.study import known_studies
    from p4cc.running.request import RunRequest

    first = next(iter(known_studies().values()))
    run = RunRequest(first.path, jobs=jobs, quiet=True, use_cache=cache, force=force)
    typer.echo(json.dumps(reproduce_all(ReproduceRequest(first, run, every=True, full=full)), indent=1))


def _report(results: Sequence[StudyResults], folder: Path | None) -> list[Path]:
    with needs("--report", "figures"):
        from p4cc.reproduce.report import DEFAULT_FOLDER, write_pages

    return write_pages(results, folder or DEFAULT_FOLDER)


def _report_all(results: Path, folder: Path | None) -> None:
    """Pages of all studies that have results; runs nothing."""
    from p4cc.reproduce.results import read_results
    from p4cc.reproduce.run import RECORDS_FILE
    from p4cc.reproduce.study import known_studies

    studies = known_studies()
    present = [name for name in studies if (results / name / RECORDS_FILE).is_file()]
    if not present:
        remedy = f"run a study, such as: p4cc reproduce {next(iter(studies), 'STUDY')} --report"
        raise UserError("no study has results here", place=str(results), remedy=remedy)
    pages = _report([read_results(studies[name], results / name) for name in present], folder)
    lines = [f"wrote {path}" for path in pages]
    lines += [f"no results of {name}: p4cc reproduce {name} --report" for name in studies if name not in present]
    typer.echo("\n".join(lines))


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
            asked = " (on request: --only, --all or --full)" if figure["on_request"] else ""
            lines.append(f"  {figure['figure']:<12} {figure['title']}{asked}")
    typer.echo("\n".join(lines))
