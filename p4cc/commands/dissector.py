"""`p4cc dissector`: Lua for Wireshark."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from p4cc.commands.program import Defines, IncludeDirs
from p4cc.dissector.generate import program_dissector, transport_dissector
from p4cc.errors import UserError
from p4cc.planning.programs import compile_program


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("dissector")(dissector)


def dissector(
    program: Annotated[
        Path | None, typer.Argument(help="P4-16 source or BMv2 JSON; default: p4cc's transport header.")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Lua file; default: standard output.")] = None,
    include: IncludeDirs = None,
    define: Defines = None,
) -> None:
    """Write a Wireshark dissector for p4cc's transport header and TCP option, or for the headers that a program parses.

    Examples:

    * `p4cc dissector -o p4cc.lua`
    * `p4cc dissector p4src/v1model/int_hpcc.p4 -o int_hpcc.lua`, and then
      `tshark -X lua_script:p4cc.lua -X lua_script:int_hpcc.lua -r s1-1.pcapng -V`
    """
    if program is None:
        made = transport_dissector()
    else:
        compiled = compile_program(program, tuple(include or ()), tuple(define or ()))
        sys.stderr.write(compiled.rendered)
        if not compiled.ok:
            raise typer.Exit(1)
        made = program_dissector(compiled.parser(), program.stem)
    if output is None:
        typer.echo(made, nl=False)
        return
    try:
        output.write_text(made, encoding="utf-8")
    except OSError as error:
        raise UserError(error.strerror or str(error), place=str(output), remedy="choose another file name") from error
