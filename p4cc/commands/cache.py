"""`p4cc cache`: what the cache of finished runs holds, and making it smaller."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from p4cc.errors import UserError

_UNITS = {"kB": 10**3, "MB": 10**6, "GB": 10**9}


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("cache")(cache)


def cache(
    folder: Annotated[Path | None, typer.Option("--folder", help="Cache folder; default: results/.p4cc-cache.")] = None,
    prune: Annotated[
        str | None,
        typer.Option(
            "--prune",
            metavar="SIZE",
            help="Remove the least recently used runs until the cache fits this size: 500MB, 1GB, 0.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Show the cache of finished runs. It is limited to 4 GiB; p4cc only ever removes files that it created.

    Examples:

    * `p4cc cache`
    * `p4cc cache --prune 500MB`
    * `p4cc cache --folder proj/.p4cc-cache --prune 0`
    """
    # Arrow takes half a second to import; other commands need not wait for it.
    from p4cc.running.cache import RunCache
    from p4cc.running.cache_files import FOLDER

    place = folder or Path("results") / FOLDER
    if folder is not None and not folder.is_dir():
        raise UserError(
            "the folder does not exist", place=str(folder), remedy="name the folder .p4cc-cache next to the results"
        )
    runs = RunCache(place)
    removed = None if prune is None else runs.prune(size_bytes(prune, "--prune"))
    contents = runs.held()
    if as_json:
        gone = {} if removed is None else {"removed": {"runs": removed.runs, "size_bytes": removed.size_bytes}}
        typer.echo(json.dumps({"folder": str(place), **asdict(contents), **gone}, indent=1))
        return
    if removed is not None:
        typer.echo(f"removed {removed.runs} runs, {_human(removed.size_bytes)}")
    used = ""
    if contents.oldest_ns is not None and contents.newest_ns is not None:
        used = f", last used between {_day(contents.oldest_ns)} and {_day(contents.newest_ns)}"
    typer.echo(f"{place}: {contents.runs} runs, {_human(contents.size_bytes)}{used}")


def size_bytes(text: str, option: str) -> int:
    """A size as people write it; raises UserError."""
    number, unit = text.strip(), 1
    for name, factor in _UNITS.items():
        if number.endswith(name):
            number, unit = number.removesuffix(name).strip(), factor
            break
    try:
        size = float(number) * unit
    except ValueError:
        size = -1.0
    if not 0 <= size < 2**63:
        raise UserError(f"{text!r} is not a size", place=option, remedy="write it as, for example, 500MB, 1.5GB or 0")
    return int(size)


def _human(size_bytes: int) -> str:
    for name, factor in reversed(_UNITS.items()):
        if size_bytes >= factor:
            return f"{size_bytes / factor:.1f} {name}"
    return f"{size_bytes} B"


def _day(since_epoch_ns: int) -> str:
    return datetime.fromtimestamp(since_epoch_ns / 1e9, UTC).strftime("%Y-%m-%d %H:%M UTC")
