"""The command line: mounts the commands and turns user errors into one message and exit code 2."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from p4cc.commands import (
    algorithm,
    cache,
    compare,
    controller,
    dissector,
    info,
    init,
    lab,
    program,
    report,
    reproduce,
    run,
    stf,
    sweep,
    tofino,
    topo,
)
from p4cc.errors import UserError
from p4cc.exit_codes import epilog
from p4cc.quick_help import prepare

app = typer.Typer(
    name="p4cc",
    help="A P4 dataplane with a host stack for data-centre congestion control.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=epilog(),
)
init.register(app)
algorithm.register(app)
run.register(app)
compare.register(app)
report.register(app)
reproduce.register(app)
sweep.register(app)
program.register(app)
dissector.register(app)
stf.register(app)
info.register(app)
topo.register(app)
tofino.register(app)
lab.register(app)
cache.register(app)
controller.register(app)


def _version(wanted: bool) -> None:
    if wanted:
        from p4cc.version import commit, p4cc_version

        known = commit()
        typer.echo(f"p4cc {p4cc_version()}" + (f" ({known})" if known else ""))
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    """A P4 dataplane with a host stack for data-centre congestion control."""
    del version


def main() -> None:
    """Entry point of the `p4cc` command."""
    prepare(sys.argv[1:])
    try:
        app()
    except UserError as error:
        # Colours take a while to import; commands that end well need not wait for them.
        from rich.console import Console

        Console(stderr=True, highlight=False, soft_wrap=True).print("[bold red]error:[/bold red] ", end="")
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # The reader of our output has gone (`p4cc run … | head`); there is no one left to tell.
        sys.stderr.close()
        sys.exit(0)


if __name__ == "__main__":
    main()
