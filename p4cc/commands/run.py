"""`p4cc run`: one scenario, all its variants, points and seeds."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from p4cc.analysis.human import WIDE
from p4cc.bundled import find_scenario
from p4cc.commands import options
from p4cc.commands.drivers import DriverOptions
from p4cc.errors import UserError
from p4cc.exit_codes import DIFFERS
from p4cc.extras import needs
from p4cc.leftovers import left_until_done
from p4cc.planning.execution import Exec
from p4cc.running.call_cache import Call, cached_outcome, this_code

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from p4cc.running.outcome import RunOutcome
    from p4cc.running.request import RunRequest


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("run")(run)


def run(
    scenario: Annotated[
        Path | None, typer.Argument(help="Scenario file (YAML; see `p4cc schema`), or a name such as gst/incast.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for results; results/NAME or, with changes, NAME-HASH if not given."),
    ] = None,
    assignments: Annotated[
        list[str] | None,
        typer.Option("--set", "-s", metavar="KEY=VALUE", help="Change a field, e.g. topology.senders=25; repeatable."),
    ] = None,
    topology: Annotated[
        Path | None, typer.Option("--topology", help="Topology file of an ns-3 scenario, instead of the scenario's.")
    ] = None,
    flows: Annotated[
        Path | None, typer.Option("--flows", help="Flow file of an ns-3 scenario, instead of the scenario's.")
    ] = None,
    paths: Annotated[Path | None, typer.Option("--paths", help="Path map for the flow file.")] = None,
    imported: Annotated[
        Path | None,
        typer.Option(
            "--import", help="topology.json of the P4 tutorials, or p4app.json of p4-utils, with its entries."
        ),
    ] = None,
    programs: options.Programs = None,
    variants: Annotated[list[str] | None, typer.Option("--variant", help="Run this variant only; repeatable.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print summary.json instead of the table.")] = False,
    jobs: options.Jobs = options.CORES,
    threads: Annotated[
        int,
        typer.Option("--threads", min=1, max=64, help="Threads of each run; its results are the same with any number."),
    ] = 1,
    cache: options.Cache = True,
    force: options.Force = False,
    on: options.On = None,
    store: options.Store = None,
    memory: options.Memory = None,
    wheel: options.Wheel = None,
    back_end: Annotated[
        Exec | None,
        typer.Option(
            "--exec",
            help="What runs the P4 programs: the interpreter, or native code from the first packet on; "
            "native code for busy switches if not given. Results are the same.",
        ),
    ] = None,
    serve: Annotated[
        str | None,
        typer.Option(
            metavar="PORT",
            help="Serve P4Runtime of all switches on a port of the loopback, for controllers of any kind.",
        ),
    ] = None,
    speed: Annotated[
        str | None,
        typer.Option(
            help="With --serve and --live: virtual seconds per real second, or max; with --serve also epochs (a "
            "controller leads). 1 for --serve and 0.001 for --live if not given."
        ),
    ] = None,
    live: Annotated[
        bool,
        typer.Option(
            "--live", help="Watch the run in a page: pause it, step it, look into switches, change their tables."
        ),
    ] = False,
    live_port: options.LivePort = 0,
    traces: Annotated[
        list[str] | None,
        typer.Option(
            "--trace",
            metavar="FLOW|HOST[:acks][:N[-M]]",
            help="Print what every table did at every hop with packets of a flow, or of a host; the first three "
            "if no numbers are given. Repeatable.",
        ),
    ] = None,
    trace_limit: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="With --trace: steps that are printed at most.")
    ] = 2_000,
    figures: Annotated[bool, typer.Option("--figures/--no-figures", help="Draw the scenario's figures.")] = True,
    report: Annotated[bool, typer.Option("--report", help="Write report.html, a page to read, too.")] = False,
    again: Annotated[
        Path | None,
        typer.Option("--again", metavar="FOLDER", help="Repeat the run of this results folder and compare."),
    ] = None,
) -> None:
    """Run a scenario: compile the P4 program, install it over P4Runtime, simulate, write tables and figures.

    p4cc includes its experiments: if there is no such file, `gst/incast` and `experiments/gst/incast.yaml` name one.

    Examples:

    * `p4cc run experiments/gst/incast.yaml`
    * `p4cc run experiments/gst/incast.yaml --set topology.senders=25 --set seeds=[1,2] --json`
    * `p4cc run experiments/gst/incast.yaml --set variant=d2tcp,gst+d2tcp --set transport.recovery=sack`
    * `p4cc run experiments/gst/fig8.yaml --variant DCTCP --out results/dctcp`
    * `p4cc run experiments/hpcc/ns3_compare.yaml --topology fat.txt --flows flow.txt --json`
    * `p4cc run --import exercises/ecn/topology.json --program exercises/ecn/solution/ecn.p4`: each host sends to the
      next; `--set` changes the traffic, and `p4cc init topology.json` writes it down as a scenario
    * `p4cc run experiments/gst/incast.yaml --serve 9559 --speed 0.001`: for p4runtime-shell or finsy by hand
    * `p4cc run experiments/gst/incast.yaml --variant GST --set seeds=[1] --trace 1:2-4`: packets 2 to 4 of flow 1, step
      by step; `--trace 1:acks:1` is its first ACK, `--trace h1:7` the seventh packet that host h1 sends
    * `p4cc run experiments/gst/fig8.yaml --variant DCTCP --live`: prints the address of a page; changes made there are
      recorded as a scenario
    * `p4cc run gst/incast --on ray://HEAD:10001 --store s3://BUCKET/FOLDER`: on a cluster, so that others can continue
    * `p4cc run --again results/incast`: exit code 0 if every table has the same bytes, 1 if not
    """
    path = _source(again, scenario, imported, has_programs=bool(programs))
    named = _named_files(topology, flows, paths)
    overrides, chosen = (*named, *(assignments or ())), tuple(variants or ())
    ways = DriverOptions(serve, speed, live, live_port, traces, trace_limit)
    call = None
    if cache and not any((again, imported, on, store, memory, wheel, ways.are_given, speed)):
        call = Call(path, out, overrides, chosen, figures, report, force, this_code())
        if (unchanged := cached_outcome(call)) is not None:
            _show(unchanged, as_json=as_json)
            return
    # Plotting and tables take a second to import; calls whose results exist need not wait for them.
    from p4cc.running.request import RunRequest

    request = RunRequest(
        scenario=path,
        out=out,
        overrides=overrides,
        variants=chosen,
        jobs=jobs,
        threads=threads,
        figures=figures,
        quiet=as_json or serve is not None or live,
        use_cache=cache,
        back_end=back_end,
        force=force,
        report=_reporter() if report else None,
        driver=ways.driver(),
        call=call,
    )
    if again is not None and (overrides or chosen or out is not None or ways.are_given or store is not None):
        cause = "runs what was run: nothing of it can be changed, and nothing is written"
        raise UserError(cause, place="--again", remedy="leave out the other options, or name the scenario")
    with options.machines(request, on, store, memory, wheel) as request:
        if again is not None:
            _again(again, request, as_json=as_json)
            return
        outcome = _run(request, imported, programs or ())
    _show(outcome, as_json=as_json)


def _source(again: Path | None, scenario: Path | None, imported: Path | None, *, has_programs: bool) -> Path:
    """The scenario, or an import to make one of; raises UserError."""
    if sum(source is not None for source in (again, scenario, imported)) != 1:
        cause = "name a scenario, a topology with --import, or a folder with --again"
        raise UserError(cause, place="p4cc run", remedy="see p4cc run --help")
    if has_programs and imported is None:
        raise UserError("is for imports", place="--program", remedy="set switch.program of the scenario")
    return find_scenario(scenario) if scenario is not None else again or imported or Path()


def _named_files(topology: Path | None, flows: Path | None, paths: Path | None) -> list[str]:
    """Files of an ns-3 scenario, as `--set` has them."""
    files = (("topology.file", topology), ("traffic.file", flows), ("traffic.paths", paths))
    # A JSON string is a YAML string, whatever the path holds.
    return [f"{field}={json.dumps(str(path.absolute()))}" for field, path in files if path is not None]


def _reporter() -> Callable[[Path, str], str]:
    with needs("--report", "report"):
        from p4cc.report.write import report_of

    return report_of


def _run(request: RunRequest, imported: Path | None, programs: Sequence[Path]) -> RunOutcome:
    from p4cc.running.runner import run_scenario

    if imported is None:
        return run_scenario(request)
    from p4cc.planning.imported import write_scenario

    # The results keep the scenario with all that it names.
    with TemporaryDirectory(prefix="p4cc-import-") as folder, left_until_done(Path(folder), lambda: rmtree(folder)):
        made = write_scenario(imported, programs, Path(folder))
        return run_scenario(replace(request, scenario=made, made_of=imported))


def _show(outcome: RunOutcome, *, as_json: bool) -> None:
    """Warnings, notes and the table; or all as JSON."""
    if as_json:
        traced = {} if outcome.traced is None else {"trace": outcome.traced.plain()}
        typer.echo(json.dumps({**outcome.summary, **traced}, indent=1))
        if outcome.aside:
            typer.echo(f"note: {_last_written(outcome, outcome.folder)}", err=True)
        return
    # JSON needs neither tables nor colours.
    from rich.console import Console

    from p4cc.analysis import summary_table

    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDE)
    if outcome.traced is not None:
        from p4cc.running.trace_text import trace_lines

        for line in trace_lines(outcome.traced):
            typer.echo(line)
    errors = Console(stderr=True, soft_wrap=True, highlight=False)
    for warning in outcome.warnings:
        errors.print(f"warning: {warning}", style="yellow", markup=False)
    for note in outcome.notes:
        errors.print(f"note: {note}", markup=False)
    console.print(summary_table.table(outcome.title, outcome.rows(), outcome.row_keys, console.width))
    *others, last = (*outcome.figures, outcome.folder, *filter(None, [outcome.report]))
    lines = [*(_written(outcome, path) for path in others), _last_written(outcome, last)]
    for line in lines:
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def _written(outcome: RunOutcome, path: Path) -> str:
    """A line about a file or the folder of the results."""
    return f"{'unchanged' if outcome.up_to_date else 'wrote'} {path}"


def _last_written(outcome: RunOutcome, path: Path) -> str:
    """The same, with the reason where results are not in the folder of their name."""
    return _written(outcome, path) + (f": {outcome.aside}" if outcome.aside else "")


def _again(folder: Path, request: RunRequest, *, as_json: bool) -> None:
    from p4cc.running.rerun import rerun

    found = rerun(folder, request)
    if as_json:
        typer.echo(json.dumps(asdict(found), indent=1))
    else:
        for name in found.differing:
            typer.echo(f"differs: {name}")
        for change in found.changed:
            typer.echo(f"another p4cc: {change}")
        typer.echo(f"{len(found.equal)} tables with the same bytes, {len(found.differing)} that differ")
    if found.differing:
        raise typer.Exit(DIFFERS)
