"""`p4cc trace-packet`: follows packets through a program."""

from __future__ import annotations

import json
import re
import string
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from p4cc.commands.program import Defines, IncludeDirs
from p4cc.errors import UserError
from p4cc.exit_codes import DIFFERS
from p4cc.files import read_text, write_text
from p4cc.planning.programs import compile_program

if TYPE_CHECKING:
    from collections.abc import Mapping


_NO_ENTRIES = re.compile(
    r"^\s*(packet|expect|no_packet|wait|check_counter|\w+_(read|get|get_rates))\b.*$", re.MULTILINE
)
"""Commands of a test that send, compare or read."""


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("trace-packet")(trace_packet)


def trace_packet(
    program: Annotated[Path, typer.Argument(help="P4-16 source or BMv2 JSON.")],
    test: Annotated[
        Path | None, typer.Argument(metavar="[TEST.stf]", help="Entries and packets, in the language of `p4cc stf`.")
    ] = None,
    packet: Annotated[
        str | None,
        typer.Option("--packet", metavar="HEX", help="Trace this packet in place of TEST's. Hexadecimal digits."),
    ] = None,
    port: Annotated[int, typer.Option("--port", min=0, max=511, help="Port on which --packet comes in.")] = 0,
    page: Annotated[Path | None, typer.Option("--html", help="Write the page to this file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print steps and values as JSON.")] = False,
    include: IncludeDirs = None,
    define: Defines = None,
) -> None:
    """Show the path of each packet through a program, step by step, on the embedded switch.

    For each packet: parser states, headers that become valid, tables with the entry that matched or the closest entry
    and the differing bits, actions with their parameters, every value that changes, and the bytes that come out.

    Exit code: 0 the packets were followed, 1 a command of the test failed, 2 bad input.

    Examples:

    * `p4cc trace-packet forward.p4 forward.stf`
    * `p4cc trace-packet forward.p4 forward.stf --html way.html`
    * `p4cc trace-packet forward.p4 entries.stf --port 1 --packet "0a000102 0a000203"`
    """
    compiled = compile_program(program, tuple(include or ()), tuple(define or ()))
    if not compiled.ok:
        typer.echo(compiled.rendered, err=True)
        raise typer.Exit(2)
    packets, problems = compiled.trace_stf(_commands(test, packet, port))
    if packet is not None:
        packets = packets[-1:]
    if page is not None:
        from p4cc.packet_way.page import page as page_of

        write_text(page, page_of(f"Packets through {program.name}", packets, problems))
    if as_json:
        typer.echo(json.dumps({"packets": packets, "problems": problems}, indent=1))
    else:
        for line, text in problems:
            typer.echo(f"{test or '--packet'}: line {line}: {text}", err=True)
        for one in packets:
            _show(one)
        if page is not None:
            typer.echo(f"wrote {page}")
    if problems:
        raise typer.Exit(DIFFERS)


def _commands(test: Path | None, packet: str | None, port: int) -> str:
    """The commands of the file, and the packet of the command line behind them."""
    if test is None and packet is None:
        raise UserError("no packet is given", place="p4cc trace-packet", remedy="name a test, or give --packet HEX")
    text = ""
    if test is not None:
        text = read_text(test, "test")
        if packet is not None:
            # Lines keep their numbers.
            text = _NO_ENTRIES.sub("", text)
    if packet is not None:
        digits = "".join(packet.removeprefix("0x").split())
        if not digits or len(digits) % 2 or set(digits) - set(string.hexdigits):
            raise UserError(
                "is not a number of whole bytes", place="--packet", remedy="give pairs of hexadecimal digits"
            )
        text += f"\npacket {port} {digits}\n"
    return text


def _show(packet: Mapping[str, Any]) -> None:
    from p4cc.packet_way.lines import packet_text

    typer.echo(packet_text(packet))
    typer.echo("")
