"""`p4cc drop-in`: p4c's and BMv2's commands, run by p4cc."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Annotated

import typer

from p4cc.drop_in import folder as drop_in_folder


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("drop-in")(drop_in)


def drop_in(
    folder: Annotated[
        Path | None, typer.Argument(help="Where the commands go; default: a folder in the user's data.")
    ] = None,
    env: Annotated[
        bool, typer.Option("--env", help="Print the lines that put the folder on PATH, for a shell.")
    ] = False,
    shadow: Annotated[
        bool, typer.Option("--shadow", help="Take the names of programs that are installed, too.")
    ] = False,
) -> None:
    """Make commands named as those of p4c, BMv2 and p4runtime-shell: p4c, simple_switch_grpc, p4runtime-sh and so on.

    What was written for p4c and BMv2 then runs on p4cc: makefiles, p4-utils, labs of courses. A name that PATH already
    has keeps its program, unless --shadow is given.

    Examples:

    * `source <(p4cc drop-in --env)`, and then `make run` in a folder of p4lang/tutorials
    * `p4cc drop-in ~/p4/bin`
    """
    place = folder or _user_folder()
    made = drop_in_folder.make(place, shadow=shadow)
    if env:
        for name, value in drop_in_folder.environment(place).items():
            typer.echo(f"export {name}={shlex.quote(value)}")
        return
    for command in drop_in_folder.commands(place):
        if command in made:
            typer.echo(f"{place / command.name}: {command.runs}")
        else:
            typer.echo(f"{command.name}: left to {command.shadowed}; --shadow takes the name")


def _user_folder() -> Path:
    """The user's own folder of commands, by the XDG Base Directory Specification."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "p4cc" / "drop-in"
