"""`p4cc sweep`: which setting of an algorithm is best, for each kind of traffic."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from p4cc.bundled import find_scenario
from p4cc.commands.options import CORES, Cache, Force, Jobs, Memory, On, Store, Wheel, machines
from p4cc.extras import draws_figures, needs_figures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p4cc.running.sweep import SweepOutcome


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("sweep")(sweep)


def sweep(
    scenario: Annotated[Path, typer.Argument(help="Scenario file (YAML), or a name such as gst/incast.")],
    over: Annotated[
        list[str],
        typer.Option("--over", metavar="PARAM=a,b,c", help="A parameter of its algorithms, or a path; repeatable."),
    ],
    metrics: Annotated[
        list[str] | None, typer.Option("--metric", help="Compare by this metric; repeatable. See below.")
    ] = None,
    front: Annotated[
        str | None, typer.Option("--front", metavar="METRIC,METRIC", help="The two metrics of the Pareto front.")
    ] = None,
    assignments: Annotated[
        list[str] | None, typer.Option("--set", "-s", metavar="KEY=VALUE", help="Change a field; repeatable.")
    ] = None,
    variants: Annotated[list[str] | None, typer.Option("--variant", help="This variant only; repeatable.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all settings and the best ones as JSON.")] = False,
    jobs: Jobs = CORES,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for results; results/NAME-sweep-HASH if not given.")
    ] = None,
    cache: Cache = True,
    force: Force = False,
    on: On = None,
    store: Store = None,
    memory: Memory = None,
    wheel: Wheel = None,
    figure: Annotated[
        str | None, typer.Option("--figure", metavar="NAME", help="Name of the picture: .png, .pdf or .svg.")
    ] = None,
    figures: Annotated[bool, typer.Option("--figures/--no-figures", help="Draw the trade-off.")] = True,
) -> None:
    """Run an algorithm over values of its parameters: every setting, the Pareto front, the best for each metric.

    Every variant that has all the parameters runs with every combination of their values, for each point of the
    scenario's sweep (such as kinds of traffic) and each seed. Every metric is shown with its range over the seeds, also
    in the folder's settings.parquet. The Pareto front uses the first two metrics given, or slowdown_p99 and
    goodput_bps. Settings that leave more flows unfinished than others, or have no value in some seed, are not
    compared. Metrics: slowdown_mean, slowdown_p50, slowdown_p95, slowdown_p99, fct_mean_ns, fct_p99_ns, goodput_bps,
    finish_ns, pauses, queue_p99_bytes, jain_index.

    Examples:

    * `p4cc sweep experiments/skew/base.yaml --over eta=0.9,0.95,0.98 --over max_stage=0,5`
    * `p4cc sweep experiments/hpcc/incast.yaml --variant DCQCN --over switch.red.p_max=0.01,0.2 --metric finish_ns`
    * `p4cc sweep experiments/skew/base.yaml --over eta=0.9,0.95 --front slowdown_p99,pauses --figure front.svg`
    """
    # Tables take a second to import; other commands need not wait for them.
    from p4cc.running.request import RunRequest
    from p4cc.running.sweep import DEFAULT_FIGURE, SweepRequest, parse_over
    from p4cc.running.sweep import sweep as run_sweep

    run = RunRequest(
        scenario=find_scenario(scenario),
        out=out,
        overrides=tuple(assignments or ()),
        variants=tuple(variants or ()),
        jobs=jobs,
        quiet=as_json,
        use_cache=cache,
        force=force,
    )
    swept = tuple(parse_over(one) for one in over)
    objectives = tuple(front.split(",")) if front is not None else ()
    if figure is not None:
        needs_figures("--figure")
    picture = (figure or DEFAULT_FIGURE) if figures and draws_figures() else None
    with machines(run, on, store, memory, wheel) as run:
        request = SweepRequest(run, swept, tuple(metrics or ()), objectives, picture)
        outcome = run_sweep(request)
    _show(outcome, request.compared, as_json=as_json)


def _show(outcome: SweepOutcome, compared: Sequence[str], *, as_json: bool) -> None:
    """Every setting and the best ones by each metric."""
    from p4cc.analysis.tradeoff_table import print_best, print_group

    if as_json:
        typer.echo(json.dumps(outcome.plain(), indent=1, allow_nan=False))
        if outcome.aside:
            typer.echo(f"note: wrote {outcome.folder}: {outcome.aside}", err=True)
        return
    console = Console(highlight=False)
    for group in outcome.groups:
        of_group = {"variant": group.variant, **group.point}
        print_group(console, group, outcome.objectives, compared)
        print_best(console, [row for row in outcome.best if of_group.items() <= row.items()])
        console.print()
    if outcome.figure is not None:
        console.print(f"wrote {outcome.figure}", soft_wrap=True, markup=False)
    aside = f": {outcome.aside}" if outcome.aside else ""
    console.print(f"wrote {outcome.folder}{aside}", soft_wrap=True, markup=False)
