"""`p4cc tofino-report`: what programs take of a Tofino, by p4c's own back end."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from p4cc.commands.program import Defines, IncludeDirs
from p4cc.exit_codes import DIFFERS
from p4cc.running.bars import counted
from p4cc.tofino.compiler import Chip, Job, Options, find_compiler
from p4cc.tofino.report import Outcome, compile_all, find_programs, is_for
from p4cc.tofino.table import COLUMNS, LEGEND, OF_THE_RUN, as_markdown, as_records, failures, rows, sizes

INTERRUPTED = 130


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("tofino-report")(tofino_report)


def tofino_report(
    programs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[PROGRAM]...", help="TNA programs or folders of them; default: p4cc's programs."),
    ] = None,
    p4c: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Driver of a p4c with Tofino targets; default: the variable P4C, then PATH."),
    ] = None,
    chip: Annotated[
        list[Chip] | None, typer.Option(help="Compile only for this chip; repeatable. Default: both.")
    ] = None,
    include: IncludeDirs = None,
    define: Defines = None,
    jobs: Annotated[int, typer.Option(min=1, max=256, help="Number of parallel compilations.")] = os.cpu_count() or 1,
    limit: Annotated[float, typer.Option(metavar="SECONDS", min=1, help="Time limit of one compilation.")] = 600.0,
    keep: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Keep the compiler's output here, one folder per job.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all figures as JSON.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the table as Markdown.")] = False,
) -> None:
    """Show the Tofino resources that programs use: stages, memories, PHV, parser.

    p4c's Tofino back end compiles each program for each chip; the numbers come from the compiler's reports.

    Exit code: 0 all programs compiled, 1 a program failed to compile for a chip (the compiler's message is shown),
    2 no compiler, or bad input.

    Examples:

    * `p4cc tofino-report --p4c ~/p4c/build/p4c`
    * `p4cc tofino-report mine.p4 --chip tofino2 --keep out` also keeps the compiler's output
    * `p4cc tofino-report p4src/tna --markdown`
    """
    chips = tuple(dict.fromkeys(chip or tuple(Chip)))
    found = find_programs(programs or ())
    wanted = [Job(program, one) for program in found for one in chips if chip or is_for(program, one)]
    compiler = find_compiler(p4c, chips)
    options = Options(tuple(include or ()), tuple(define or ()), limit)
    try:
        with _scratch(keep) as folder, counted("compiling", len(wanted), quiet=as_json) as advance:
            outcomes = compile_all(compiler, wanted, folder, options, jobs, advance)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None
    if as_json:
        typer.echo(json.dumps(as_records(outcomes, compiler.version), indent=1))
    elif markdown:
        typer.echo(as_markdown(outcomes, compiler.version), nl=False)
    else:
        _print(outcomes, compiler.version)
    if any(outcome.failure for outcome in outcomes):
        raise typer.Exit(DIFFERS)


@contextmanager
def _scratch(keep: Path | None) -> Generator[Path]:
    """The folder to compile in."""
    if keep is not None:
        yield keep.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="p4cc-tofino-") as folder:
        yield Path(folder)


def _print(outcomes: list[Outcome], version: str) -> None:
    table = Table()
    for number, name in enumerate(COLUMNS):
        table.add_column(name, justify="left" if number < 2 else "right", no_wrap=True)
    for row in rows(outcomes):
        table.add_row(*row)
    # Wide if the output is not a terminal: a reader of lines wants whole rows.
    Console(width=None if sys.stdout.isatty() else 200, highlight=False).print(table)
    typer.echo("\n".join((version, f"{LEGEND} {OF_THE_RUN}", *sizes(outcomes))))
    for name, failure in failures(outcomes):
        typer.echo(f"{name}:\n" + "\n".join(f"  {line}" for line in failure.splitlines()))
