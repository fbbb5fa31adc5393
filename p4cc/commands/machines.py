"""`--on`, `--store` and what belongs to them, for the commands that run studies."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from p4cc.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Generator

    from p4cc.running.cache import KeptRuns
    from p4cc.running.remote_runs import RemoteRunner

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
    on: str | None, store: str | None, memory: str | None, wheel: Path | None, *, uses_cache: bool
) -> Generator[tuple[RemoteRunner | None, KeptRuns | None]]:
    """Where runs are made and kept, for the time of a command; None is this machine. Raises UserError."""
    if on is None and (memory or wheel):
        place = "--memory" if memory else "--wheel"
        raise UserError("applies only to runs on a cluster", place=place, remedy="add --on, or remove this option")
    if store is not None and not uses_cache:
        raise UserError("cannot be combined with --no-cache", place="--store", remedy="remove one of them")
    if on is None and store is None:
        yield None, None
        return
    # Its packages are an extra, and take a while to import.
    from p4cc.cluster.ray_cluster import ClusterSettings, RayCluster
    from p4cc.cluster.store import RunStore
    from p4cc.commands.cache import size_bytes

    run_store = None if store is None else RunStore(store)
    if on is None:
        yield None, run_store
        return
    reserved = None if memory is None else size_bytes(memory, "--memory")
    cluster = RayCluster(ClusterSettings(on, reserved, wheel), run_store)
    try:
        yield cluster, run_store
    finally:
        cluster.close()
    if (note := cluster.note()) is not None:
        typer.echo(f"note: {note}", err=True)
