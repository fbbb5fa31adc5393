"""The command line: finds the command and turns user errors into one message and exit code 2."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from io import TextIOWrapper
from typing import Annotated, cast

import typer

from p4cc.commands.listed import ListedGroup
from p4cc.errors import UserError
from p4cc.exit_codes import epilog
from p4cc.leftovers import Process
from p4cc.quick_help import prepare

COLLECTIONS = (200_000, 20, 20)
"""After how many new objects Python looks for cycles of garbage among them, and how many times before it looks among
older ones; its own values are 700, 10 and 10."""

app = typer.Typer(
    name="p4cc",
    cls=ListedGroup,
    help="A P4 dataplane with a host stack for data-centre congestion control.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=epilog(),
)


def _version(wanted: bool) -> None:
    if wanted:
        from p4cc.version import commit, p4cc_version

        known = commit()
        typer.echo(f"p4cc {p4cc_version()}" + (f" ({known})" if known else ""))
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """A P4 dataplane with a host stack for data-centre congestion control."""
    del version


def whole_command() -> ListedGroup:
    """The command line with all commands imported, for pages and tests that read their options."""
    group = cast("ListedGroup", typer.main.get_command(app))
    group.load_all()
    return group


def main() -> None:
    """Entry point of the `p4cc` command."""
    Process.is_ours = True
    # Imports and plans make many objects and hardly any garbage.
    gc.set_threshold(*COLLECTIONS)
    code = _run(sys.argv[1:])
    if (loaded := sys.modules.get("p4cc.user_watch")) is not None:
        # Code of users may have left threads that never end.
        loaded.WATCH.end_with(code)
    # The process ends: looking for garbage among all that was imported would take a fifth of a small run.
    gc.freeze()
    sys.exit(code)


def _run(arguments: list[str]) -> int:
    """Runs a command; the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # Names of files need not be UTF-8.
            stream.reconfigure(errors="backslashreplace")
    prepare(arguments)
    try:
        _check(arguments)
        try:
            app()
        finally:
            sys.stdout.flush()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except UserError as error:
        return _fail(error)
    except BrokenPipeError:
        # The reader of our output has gone (`p4cc run … | head`); there is no one left to tell.
        _write_nothing_more()
        return 0
    except OSError as error:
        # Whatever could not be read or written; standard output has no name.
        _write_nothing_more()
        place = "standard output" if error.filename is None else str(error.filename)
        remedy = "check that it exists, that you may write to it, and that the disk has space left"
        return _fail(UserError(error.strerror or str(error), place=place, remedy=remedy))
    return 0


def _check(arguments: list[str]) -> None:
    """Raises UserError for an argument of which no text can be made: tables and reports could not name it."""
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError:
            shown = argument.encode(errors="backslashreplace").decode()
            raise UserError("is not valid UTF-8", place=shown, remedy="rename the file or folder") from None


def _fail(error: UserError) -> int:
    # Colours take a while to import; commands that end well need not wait for them.
    from rich.console import Console

    Console(stderr=True, highlight=False, soft_wrap=True).print("[bold red]error:[/bold red] ", end="")
    print(error, file=sys.stderr)
    return error.exit_code


def _write_nothing_more() -> None:
    """Discards the buffer of standard output, which would fail again at the end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
