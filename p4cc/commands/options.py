"""How and where runs are made: options that the commands that run scenarios share."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from p4cc.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Generator

    from p4cc.running.request import RunRequest

Jobs = Annotated[int, typer.Option("--jobs", "-j", min=1, max=256, help="Runs at the same time.")]
CORES = os.cpu_count() or 1
"""As many runs as there are processors, if nothing else is said."""
Cache = Annotated[
    bool, typer.Option("--cache/--no-cache", help="Use and keep finished runs (.p4cc-cache next to the results).")
]
LivePort = Annotated[
    int, typer.Option(min=0, max=65_535, help="With --live: port of the loopback; 0 is any that is free.")
]
Programs = Annotated[
    list[Path] | None,
    typer.Option("--program", help="P4 source for the switches that name it, or for all; with --import."),
]
Force = Annotated[bool, typer.Option("--force", help="Replace results of other settings in that folder.")]
On = Annotated[
    str | None,
    typer.Option(
        "--on",
        metavar="ray|ray://HEAD:10001",
        help="Execute the runs on a Ray cluster: `ray` is the one in RAY_ADDRESS, or a local one.",
    ),
]
Store = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Store finished runs here (s3://BUCKET/FOLDER, file:///FOLDER), so that other machines can reuse them.",
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE", help="With --on: memory that Ray reserves for each run; estimated from the network by default."
    ),
]
Wheel = Annotated[Path | None, typer.Option(metavar="FILE", help="With --on: a p4cc wheel for the workers to install.")]


@contextmanager
def machines(
    request: RunRequest, on: str | None, store: str | None, memory: str | None, wheel: Path | None
) -> Generator[RunRequest]:
    """The request with where its runs are made and kept, for the time of a command; raises UserError."""
    if on is None and (memory or wheel):
        place = "--memory" if memory else "--wheel"
        raise UserError("applies only to runs on a cluster", place=place, remedy="add --on, or remove this option")
    if store is not None and not request.use_cache:
        raise UserError("cannot be combined with --no-cache", place="--store", remedy="remove one of them")
    if on is None and store is None:
        yield request
        return
    # Its packages are an extra, and take a while to import.
    from p4cc.cluster.ray_cluster import ClusterSettings, RayCluster
    from p4cc.cluster.store import RunStore
    from p4cc.commands.cache import size_bytes
    from p4cc.running.cluster_driver import ClusterDriver
    from p4cc.running.local_driver import LocalDriver

    run_store = None if store is None else RunStore(store)
    if on is None:
        yield replace(request, store=run_store)
        return
    if request.driver != LocalDriver():
        remedy = "leave out --on, or --serve, --live and --trace"
        raise UserError("a run that is served, watched or traced runs on this machine", place="--on", remedy=remedy)
    reserved = None if memory is None else size_bytes(memory, "--memory")
    cluster = RayCluster(ClusterSettings(on, reserved, wheel), run_store)
    try:
        yield replace(request, driver=ClusterDriver(cluster), store=run_store)
    finally:
        cluster.close()
    if (note := cluster.note()) is not None:
        typer.echo(f"note: {note}", err=True)
