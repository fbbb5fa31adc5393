"""`p4cc sweep`: which setting of an algorithm is best, for each kind of traffic."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("sweep")(sweep)


def sweep(
    scenario: Annotated[Path, typer.Argument(help="Scenario file (YAML); `p4cc schema` describes it.")],
    over: Annotated[
        list[str],
        typer.Option("--over", metavar="PARAM=a,b,c", help="A parameter of its algorithms, or a path; repeatable."),
    ],
    metrics: Annotated[
        list[str] | None, typer.Option("--metric", help="Compare by this metric; repeatable. See below.")
    ] = None,
    assignments: Annotated[
        list[str] | None, typer.Option("--set", "-s", metavar="KEY=VALUE", help="Change a field; repeatable.")
    ] = None,
    variants: Annotated[list[str] | None, typer.Option("--variant", help="This variant only; repeatable.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all settings and the best ones as JSON.")] = False,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, max=256, help="Runs at the same time.")] = (
        os.cpu_count() or 1
    ),
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for results; results/NAME-sweep-HASH if not given.")
    ] = None,
    cache: Annotated[
        bool, typer.Option("--cache/--no-cache", help="Use and keep finished runs (.p4cc-cache beside the results).")
    ] = True,
    force: Annotated[bool, typer.Option("--force", help="Replace results of other settings in that folder.")] = False,
) -> None:
    """Run an algorithm over values of its own parameters and name the best setting for each metric.

    Every variant that has all the parameters is run with every combination of their values, for each point of the
    scenario's own sweep (such as kinds of traffic) and each seed. Settings that leave more flows unfinished than others
    are not compared. Metrics: slowdown_mean, slowdown_p50, slowdown_p95, slowdown_p99, fct_mean_ns, fct_p99_ns,
    goodput_bps, finish_ns, pauses, queue_p99_bytes, jain_index.

    Examples:

    * `p4cc sweep experiments/skew/base.yaml --over eta=0.9,0.95,0.98 --over max_stage=0,5`
    * `p4cc sweep experiments/hpcc/incast.yaml --variant DCQCN --over switch.red.p_max=0.01,0.2 --metric finish_ns`
    """
    # Tables take a second to import; other commands need not wait for them.
    from p4cc.sweep import DEFAULT_METRICS, SweepRequest, parse_over
    from p4cc.sweep import sweep as run_sweep

    request = SweepRequest(
        scenario=scenario,
        over=tuple(parse_over(one) for one in over),
        metrics=tuple(metrics or DEFAULT_METRICS),
        overrides=tuple(assignments or ()),
        variants=tuple(variants or ()),
        out=out,
        jobs=jobs,
        quiet=as_json,
        use_cache=cache,
        force=force,
    )
    outcome = run_sweep(request)
    if as_json:
        typer.echo(json.dumps(outcome.plain(), indent=1, allow_nan=False))
        return
    console = Console()
    if not console.is_terminal:
        console = Console(width=160)
    console.print(_table(outcome.best))
    console.print(f"wrote {outcome.folder}", highlight=False, soft_wrap=True)


_FIXED = ("variant", "metric", "best", "value", "worst", "worst_value", "settings", "left_out")


def _table(best: Sequence[dict[str, Any]]) -> Table:
    """A row for each variant, point and metric."""
    table = Table(title="best settings (medians over the seeds)", title_justify="left")
    points = [name for name in (best[0] if best else {}) if name not in _FIXED]
    for heading in ("variant", *points, "metric", "best setting", "value", "worst setting", "value", "not compared"):
        table.add_column(heading, justify="right" if heading in ("value", "not compared") else "left")
    for row in best:
        table.add_row(
            row["variant"],
            *(str(row[name]) for name in points),
            row["metric"],
            _setting(row["best"]),
            f"{row['value']:.5g}",
            _setting(row["worst"]),
            f"{row['worst_value']:.5g}",
            f"{row['left_out']} of {row['settings']}",
        )
    return table


def _setting(values: dict[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in values.items())
