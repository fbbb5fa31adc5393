"""`p4cc compile` and `p4cc check`: a P4 program by itself."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from p4cc.digits import counted
from p4cc.files import write_text
from p4cc.planning.programs import CompiledProgram, compile_program

IncludeDirs = Annotated[
    list[Path] | None, typer.Option("--include", "-I", help="Include directory for #include; repeatable.")
]
Defines = Annotated[
    list[str] | None,
    typer.Option("--define", "-D", metavar="NAME[=VALUE]", help="Macro definition; repeatable."),
]
Strict = Annotated[
    str | None,
    typer.Option(
        "--strict",
        metavar="RULES",
        help="Report as errors whatever a chip rejects (tofino), or all warnings (course).",
    ),
]


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command("compile")(compile_command)
    app.command("check")(check)


def compile_command(
    program: Annotated[Path, typer.Argument(help="P4-16 source or BMv2 JSON.")],
    p4info: Annotated[
        Path | None, typer.Option("--p4info", help="Write P4Info in text format to this file; - for standard output.")
    ] = None,
    bfrt: Annotated[
        Path | None,
        typer.Option("--bfrt", help="Write bf-rt.json, the BF Runtime schema of a TNA program, to this file."),
    ] = None,
    bmv2_json: Annotated[
        Path | None,
        typer.Option("--json", help="Write BMv2 JSON of a v1model or PSA program to this file; - for standard output."),
    ] = None,
    ir: Annotated[
        Path | None, typer.Option("--ir", help="Write the text form of the IR to this file; - for standard output.")
    ] = None,
    include: IncludeDirs = None,
    define: Defines = None,
    strict: Strict = None,
) -> None:
    """Compile a P4-16 program, and write P4Info, BMv2 JSON, a BF Runtime schema or the IR.

    Examples:

    * `p4cc compile p4src/v1model/ecn_dual.p4 --p4info ecn_dual.p4info.txtpb`
    * `p4cc compile basic.p4 --json basic.json --p4info basic.p4info.txtpb`: the files of p4c, for BMv2
    * `p4cc compile p4src/v1model/ecn_dual.p4 --ir -`
    * `p4cc compile tna_switch.p4 --bfrt bf-rt.json`
    * `p4cc compile forward.p4 --strict tofino` reports whatever Tofino rejects as errors
    * `p4cc compile forward.p4 --strict course` fails for a program with warnings
    """
    compiled = _compile(program, include, define, strict)
    _fail_on_errors(compiled)
    if p4info is not None:
        _write(p4info, compiled.p4info_text())
    if bfrt is not None:
        _write(bfrt, compiled.bfrt_text())
    if bmv2_json is not None:
        _write(bmv2_json, compiled.bmv2_json())
    if ir is not None:
        _write(ir, compiled.ir_text())


def check(
    programs: Annotated[list[Path], typer.Argument(help="P4-16 sources or BMv2 JSON.")],
    include: IncludeDirs = None,
    define: Defines = None,
    strict: Strict = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the diagnostics as JSON.")] = False,
) -> None:
    """Check P4 programs; exit with code 1 if one has an error.

    Examples:

    * `p4cc check p4src/v1model/*.p4`
    * `p4cc check forward.json`: BMv2 JSON compiled by p4c
    """
    compiled = [_compile(program, include, define, strict) for program in programs]
    if as_json:
        typer.echo(json.dumps([asdict(finding) for one in compiled for finding in one.diagnostics], indent=1))
    else:
        for one in compiled:
            sys.stderr.write(one.rendered)
    failed = [one for one in compiled if not one.ok]
    if failed:
        raise typer.Exit(1)
    if not as_json:
        typer.echo(f"{counted(len(compiled), 'program')} checked, no errors")


def _compile(
    program: Path, include: list[Path] | None, define: list[str] | None, strict: str | None
) -> CompiledProgram:
    return compile_program(program, tuple(include or ()), tuple(define or ()), strict)


def _fail_on_errors(compiled: CompiledProgram) -> None:
    sys.stderr.write(compiled.rendered)
    if not compiled.ok:
        raise typer.Exit(1)


def _write(path: Path, text: str) -> None:
    if str(path) == "-":
        typer.echo(text, nl=False)
        return
    write_text(path, text)
