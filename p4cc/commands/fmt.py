"""`p4cc fmt`: P4 sources in one style."""

from __future__ import annotations

import shutil
import tempfile
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

    Exit code with `--check`: 1 if a file would change. A file that cannot be formatted is left alone with a message;
    the exit code is 2 after all others.

    Examples:

    * `p4cc fmt forward.p4`
    * `p4cc fmt --check p4src`
    """
    changed, left_alone = 0, 0
    for path in _sources(paths):
        try:
            text, formatted = _formatted(path)
        except UserError as error:
            left_alone += 1
            typer.echo(f"error: {error}", err=True)
            continue
        if formatted == text:
            continue
        changed += 1
        typer.echo(f"{'would change' if check else 'formatted'} {path}")
        if not check:
            _replace(path, formatted)
    if left_alone:
        raise typer.Exit(2)
    if check and changed:
        raise typer.Exit(DIFFERS)


def _formatted(path: Path) -> tuple[bytes, bytes]:
    """A file's bytes before and after, with the ends of lines that it has; raises UserError."""
    from p4cc import _engine

    try:
        text = path.read_bytes()
        formatted = _engine.format_p4(text.decode())
    except OSError as error:
        raise UserError(f"cannot read: {error.strerror}", place=str(path), remedy="give a file that exists") from None
    except UnicodeDecodeError:
        raise UserError("is not UTF-8", place=str(path), remedy="save it as UTF-8") from None
    except ValueError as why:
        raise UserError(str(why), place=str(path), remedy="change that line, or leave the file out") from None
    lines = formatted.encode()
    return text, lines.replace(b"\n", b"\r\n") if b"\r\n" in text and b"\r\n" not in lines else lines


def _replace(path: Path, text: bytes) -> None:
    """Writes a file in one step: what is interrupted leaves the file as it was."""
    file = path.resolve()
    try:
        with tempfile.NamedTemporaryFile(dir=file.parent, prefix=f".{file.name}.", delete=False) as partial:
            try:
                partial.write(text)
                partial.close()
                shutil.copymode(file, partial.name)
                Path(partial.name).replace(file)
            except BaseException:
                Path(partial.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        cause = f"cannot write: {error.strerror}"
        raise UserError(cause, place=str(path), remedy="give a file that you can write to") from error


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
