"""`p4cc lsp`: the language server for editors."""

from __future__ import annotations

import signal
from typing import Annotated

import typer

from p4cc.errors import UserError


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("lsp")(lsp)


def lsp(
    stdio: Annotated[
        bool, typer.Option("--stdio", help="Accepted because editors pass it: the server always uses standard streams.")
    ] = True,
) -> None:
    """Serve an editor over the Language Server Protocol on standard input and output.

    It reports what `p4cc check` reports while you type, and answers with types, widths, definitions, references,
    completions, signatures, names and remedies. Include folders and macros come from `p4cc.toml` in the program's
    folder or above.

    Example: Neovim starts it by `vim.lsp.config('p4cc', {cmd = {'p4cc', 'lsp'}, filetypes = {'p4'}})`.
    docs/how-to/editor.md has the lines for each editor.
    """
    del stdio
    from p4cc import _engine

    # The engine waits for the client without looking at Python's signals.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if cause := _engine.serve_lsp():
        raise UserError(
            cause, place="standard input", remedy="start `p4cc lsp` from an editor; it speaks the protocol, not text"
        )
