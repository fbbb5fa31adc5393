"""`p4cc stf`: packet tests in the language of p4c's own, the Simple Test Framework."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from p4cc.commands.program import Defines, IncludeDirs
from p4cc.planning.execution import Exec
from p4cc.running.bars import counted
from p4cc.running.stf import Outcome, Result, find_pairs, run_pairs

if TYPE_CHECKING:
    from collections.abc import Mapping

INTERRUPTED = 130


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("stf")(stf)


def stf(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PROGRAM TEST.stf...",
            help="A program (P4-16 source or BMv2 JSON) followed by its tests, any number of times; or a folder, "
            "in which programs and tests are paired by name.",
        ),
    ],
    include: IncludeDirs = None,
    define: Defines = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON record per test file.")] = False,
    back_end: Annotated[
        Exec | None,
        typer.Option("--exec", help="Execution engine: the interpreter, or native code from the first packet on."),
    ] = None,
    trace: Annotated[
        bool, typer.Option("--trace", help="Below a failed test, show the path of the packets that it is about.")
    ] = False,
    failed_only: Annotated[bool, typer.Option("--failed", help="Print only the tests that failed.")] = False,
) -> None:
    """Run tests of the Simple Test Framework (STF) on the embedded switch.

    Output packets are compared port by port, in order. A mismatch is printed as expected and received packet, with
    carets under the differing hexadecimal digits; `*` matches any digit, `$` the end of the packet.

    Exit code: 0 all tests passed, 1 a test failed, 2 bad input (a missing file, a program with errors, an unknown
    command).

    Examples:

    * `p4cc stf forward.p4 forward.stf`
    * `p4cc stf forward.p4 unicast.stf multicast.stf`
    * `p4cc stf forward.json forward.stf`: BMv2 JSON compiled by p4c
    * `p4cc stf one.p4 one.stf two.p4 two.stf --json`
    * `p4cc stf forward.p4 forward.stf --trace`: why a packet went where it went
    * `p4cc stf p4c/testdata/p4_16_samples --failed`

    Commands: add, setdefault, remove, packet, expect, no_packet, wait, check_counter, counter_read, counter_write,
    register_read, register_write, register_reset, meter_get_rates, meter_set_rates, meter_array_set_rates,
    mirroring_add, mirroring_add_mc, mirroring_delete, mirroring_get, mc_mgrp_create, mc_node_create, mc_node_update,
    mc_node_associate. `docs/reference/p4-support.md` says what each does.
    """
    pairs = find_pairs(paths)
    results: list[Result] = []
    interrupted = False
    # A bar that moves and lines between do not go together;
    # where there is no bar, lines come as they are found.
    at_once = not as_json and not sys.stderr.isatty()
    try:
        with counted("testing", len(pairs), quiet=as_json) as advance:
            for result in run_pairs(pairs, tuple(include or ()), tuple(define or ()), back_end, trace=trace):
                results.append(result)
                if at_once:
                    _print(result, failed_only)
                advance(result.test.name)
    except KeyboardInterrupt:
        interrupted = True
    if as_json:
        typer.echo(json.dumps([_record(result) for result in results], indent=1))
    else:
        for result in () if at_once else results:
            _print(result, failed_only)
        _print_sums(results)
    if interrupted:
        print(f"interrupted: {len(results)} of {len(pairs)} tests ran", file=sys.stderr)
        raise typer.Exit(INTERRUPTED)
    outcomes = {result.outcome for result in results}
    if Outcome.ERROR in outcomes:
        raise typer.Exit(2)
    if Outcome.FAILED in outcomes:
        raise typer.Exit(1)


def _record(result: Result) -> dict[str, object]:
    """Plain data of one test."""
    report = result.report
    fields = ("line", "kind", "message", "port", "packet", "expected", "got", "first_byte")
    return {
        "program": str(result.program),
        "test": str(result.test),
        "outcome": result.outcome.value,
        "error": result.error,
        "packets_in": report.packets_in if report else 0,
        "packets_expected": report.packets_expected if report else 0,
        "problems": [{field: getattr(one, field) for field in fields} for one in (report.problems if report else ())],
        **({"packets": _concerned(result)} if result.packets else {}),
        "printed": [{"line": line, "text": text} for line, text in (report.printed if report else ())],
    }


def _print(result: Result, failed_only: bool) -> None:
    """A line for the test, and below it what is wrong."""
    if failed_only and result.outcome is Outcome.PASSED:
        return
    report = result.report
    counts = f"{report.packets_in} packets in, {report.packets_expected} expected" if report else ""
    typer.echo(f"{result.outcome.value.upper():5} {result.test} on {result.program.name}  {counts}".rstrip())
    for line, text in report.printed if report else ():
        typer.echo(f"  line {line}: {text}")
    if result.error:
        typer.echo(_indented(result.error))
    for problem in report.problems if report else ():
        place = f"line {problem.line}: " if problem.line else ""
        typer.echo(_indented(place + problem.message))
    if result.packets:
        from p4cc.packet_way.lines import packet_text

        for packet in _concerned(result):
            typer.echo(_indented(packet_text(packet)))


def _concerned(result: Result) -> list[Mapping[str, Any]]:
    from p4cc.packet_way.concerned import concerned

    return concerned(result.packets, result.report.problems if result.report else ())


def _print_sums(results: list[Result]) -> None:
    count = {outcome: sum(result.outcome is outcome for result in results) for outcome in Outcome}
    parts = [f"{count[Outcome.PASSED]} passed"]
    parts += [f"{number} {name}" for outcome, name in _BAD if (number := count[outcome])]
    typer.echo(f"{len(results)} tests: {', '.join(parts)}")


_BAD = ((Outcome.FAILED, "failed"), (Outcome.ERROR, "not run"))


def _indented(text: str) -> str:
    return "\n".join(f"  {line}".rstrip() for line in text.rstrip().splitlines())
