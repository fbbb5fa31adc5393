"""`p4cc schema` and `p4cc algorithms`: what can be written in a scenario."""

from __future__ import annotations

import json
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from p4cc.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p4cc.algorithms import Algorithm as Entry

MAX_WIDTH = 100


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command("schema")(schema)
    app.command("algorithms")(algorithms)


def schema(
    part: Annotated[
        str | None, typer.Argument(help="Part of a scenario, as a dotted path; kinds are steps of the path.")
    ] = None,
) -> None:
    """Explain a part of a scenario: type, unit, default and meaning of each field. Without a part, print JSON Schema.

    Examples:

    * `p4cc schema topology.leaf_spine`
    * `p4cc schema switch.thresholds.k_rule`
    * `p4cc schema > scenario.schema.json`, for editors that validate YAML as you type
    """
    # The models of a scenario take a while to build; other commands need not wait for them.
    from p4cc.scenario import parts

    if part is None:
        typer.echo(json.dumps(parts.schema(), indent=1))
        typer.echo(f"parts to explain with p4cc schema PART: {', '.join(parts.names())}", err=True)
        return
    width = min(Console().width, MAX_WIDTH)
    typer.echo(parts.text(parts.find(part), width))


def algorithms(
    own: Annotated[
        str | None,
        typer.Argument(metavar="[NAME|FILE.py:CLASS]", help="Show only this algorithm, or your class FILE.py:CLASS."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the registry as JSON.")] = False,
) -> None:
    """List the algorithms that senders can run, with parameters, defaults and sources.

    Algorithms from installed packages follow the builtin ones.

    Examples:

    * `p4cc algorithms`
    * `p4cc algorithms dctcp`
    * `p4cc algorithms mine.py:Mine`
    """
    from p4cc.algorithms import registry
    from p4cc.user_algorithms.load import load_any, load_offered, offered

    if own is not None and ":" in own:
        entries = [load_any(own, Path("here.yaml")).entry]
    else:
        entries = [*registry(), *(load_offered(name).entry for name in offered())]
        if own is not None:
            entries = _named(own, entries)
    if as_json:
        typer.echo(json.dumps([entry.model_dump(mode="json") for entry in entries], indent=1))
        return
    table = Table(title="algorithms", title_justify="left")
    for heading in ("name", "kind", "parameter", "default", "values", "switches", "source", "meaning"):
        table.add_column(heading)
    for entry in entries:
        needs = entry.switch_needs.replace("_", " ")
        table.add_row(entry.name, entry.kind, "", "", "", needs, entry.source, entry.summary, style="bold")
        for parameter in entry.parameters:
            name, default, values = parameter.name, parameter.default_text(), parameter.values()
            table.add_row("", "", name, default, values, "", parameter.source, parameter.summary)
    console = Console()
    if not console.is_terminal:
        console = Console(width=200)
    console.print(table)


def _named(name: str, entries: Sequence[Entry]) -> list[Entry]:
    """The algorithms of a name; raises UserError with names that are near."""
    result = [entry for entry in entries if entry.name == name]
    if not result:
        names = [entry.name for entry in entries]
        near = get_close_matches(name, names, n=3) or names
        remedy = f"similar names: {', '.join(near)}; write your own class as FILE.py:CLASS"
        raise UserError("unknown algorithm", place=name, remedy=remedy)
    return result
