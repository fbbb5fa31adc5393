"""`p4cc new algorithm` and `p4cc check-algorithm`: a user's algorithm in Python."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from p4cc.errors import UserError
from p4cc.exit_codes import DIFFERS

_new = typer.Typer(help="Create files to start from.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    _new.command("algorithm")(new_algorithm)
    app.add_typer(_new, name="new")
    app.command("check-algorithm")(check_algorithm)


def new_algorithm(
    name: Annotated[str, typer.Argument(help="Class name; the files are named after it in lower case.")],
    kind: Annotated[
        Literal["window", "slow-start", "rate", "receiver"],
        typer.Option("--kind", help="Congestion avoidance, slow start, rate of a paced sender, or a host's receiver."),
    ] = "window",
    folder: Annotated[Path, typer.Option("--folder", help="Output folder.")] = Path(),
) -> None:
    """Write a working Python algorithm: the class, a scenario that compares it, and a test.

    Examples:

    * `p4cc new algorithm Gentle`
    * `p4cc new algorithm Paced --kind rate --folder mine`
    * `p4cc new algorithm Pulls --kind receiver`
    """
    from p4cc.user_algorithms.scaffold import files_of, write

    files = files_of(name, kind, folder)
    write(files)
    for path in files:
        typer.echo(f"wrote {path}")
    code, scenario, _ = files
    class_name = next(line for line in files[code].splitlines() if line.startswith("class ")).split("(")[0][6:]
    typer.echo(f"\nnext: p4cc run {scenario}\n      p4cc check-algorithm {code}:{class_name}")


def check_algorithm(
    own: Annotated[str, typer.Argument(metavar="FILE.py:CLASS", help="The class to check, as FILE.py:CLASS.")],
    values: Annotated[
        list[str] | None, typer.Option("--set", metavar="PARAMETER=VALUE", help="Set a parameter; repeatable.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Check an algorithm class for the invariants of the builtin ones, with random ACKs, marks, losses and timeouts.

    A receiver is checked with the data of random flows: each must be allowed to send all of its data, and no more. If
    an invariant is violated, the command prints the event sequence that violates it and exits with code 1.

    Examples:

    * `p4cc check-algorithm mine.py:Mine`
    * `p4cc check-algorithm mine.py:Mine --set k=20 --set beta=0.9`
    """
    from p4cc.user_algorithms.check import check
    from p4cc.user_algorithms.load import load_any

    chosen = load_any(own, Path.cwd() / "-")
    try:
        sender = chosen.with_values(dict(_value(text) for text in values or ()))
    except UserError as error:
        raise UserError(error.cause, place=f"{own}: {error.place}", remedy=error.remedy) from error
    findings = check(sender)
    if as_json:
        typer.echo(json.dumps([{**asdict(one), "holds": one.holds} for one in findings], indent=1))
    else:
        for one in findings:
            typer.echo(f"{'holds ' if one.holds else 'BROKEN'}  {one.name:<11} {one.text}")
            if not one.holds:
                typer.echo(f"        {one.broken}")
    if not all(one.holds for one in findings):
        raise typer.Exit(DIFFERS)


def _value(text: str) -> tuple[str, float | str]:
    """A parameter and its value; raises UserError."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise UserError("is not an assignment", place=f"--set {text}", remedy="write PARAMETER=VALUE")
    try:
        return name, float(value.replace("_", ""))
    except ValueError:
        return name, value
