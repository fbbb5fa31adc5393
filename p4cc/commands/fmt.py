"""`p4cc fmt`: P4 sources in one style."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from p4cc.errors import UserError
from p4cc.exit_codes import DIFFERS

ENDINGS = (".p4", ".p4h")


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("fmt")(fmt)


def fmt(
    paths: Annotated[
        list[Path], typer.Argument(metavar="FILE_OR_FOLDER...", help="P4-16 sources, or folders of them.")
    ],
    check: Annotated[bool, typer.Option("--check", help="Write nothing; name the files that would change.")] = False,
) -> None:
    """Format P4 sources: indentation, blanks between tokens, blanks at ends of lines, repeated empty lines.

    Lines stay lines, and comments, directives and annotations stay as they are. The compiled program is the same.

    Exit code with `--check`: 1 if a file would change.

    Examples:

    * `p4cc fmt forward.p4`
    * `p4cc fmt --check p4src`
    """
    from p4cc import _engine

    changed = 0
    for path in _sources(paths):
        try:
            text = path.read_bytes().decode()
        except UnicodeDecodeError:
            raise UserError("is not UTF-8", place=str(path), remedy="save it as UTF-8") from None
        try:
            formatted = _engine.format_p4(text)
        except ValueError as why:
            raise UserError(str(why), place=str(path), remedy="change that line, or leave the file out") from None
        if formatted == text:
            continue
        changed += 1
        typer.echo(f"{'would change' if check else 'formatted'} {path}")
        if not check:
            path.write_bytes(formatted.encode())
    if check and changed:
        raise typer.Exit(DIFFERS)


def _sources(paths: list[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found += sorted(file for file in path.rglob("*") if file.suffix in ENDINGS and file.is_file())
        else:
            found.append(path)
    if not found:
        raise UserError(
            f"there is no file that ends in {' or '.join(ENDINGS)}", place=str(paths[0]), remedy="name files"
        )
    return found
