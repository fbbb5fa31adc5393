"""The function that Ray calls in a worker's process. Its values are plain, so that the head needs no p4cc."""

from __future__ import annotations

import time
from functools import cache
from typing import TYPE_CHECKING, TypedDict

from p4cc.cluster.answer import packed_answers
from p4cc.cluster.bundle import Bundle
from p4cc.cluster.store import RunStore
from p4cc.cluster.worker import Studies, Task, made, peak_bytes
from p4cc.errors import UserError
from p4cc.running.cached_run import packed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from p4cc.cluster.worker import TaskFields

STUDIES = Studies()
"""Of this process."""


class Failed(TypedDict):
    """An error that the user can fix."""

    cause: str
    place: str
    remedy: str


class Answer(TypedDict):
    """A task's answer for runs of one command."""

    failed: Failed | None
    """The first error of a run."""
    derived: bytes
    """Finished runs (`answer`)."""
    made: list[str]
    """Their keys, in order."""
    data: list[bytes]
    """The same, as in a cache; empty where they are in the store."""
    seconds: float
    """Their duration."""
    peak_bytes: int


def run_task(
    bundle: str,
    fetch: Callable[[], tuple[bytes, Mapping[str, bytes]]],
    tasks: Sequence[TaskFields],
    store: str | None,
) -> Answer:
    """Makes the runs that the store lacks, so that a retried task continues where its worker died."""
    wanted = [Task(**fields) for fields in tasks]
    begun = time.monotonic()
    try:
        run_store = None if store is None else _store(store)
        missing = [task for task in wanted if run_store is None or not run_store.holds(task.key)]
        study = STUDIES.get(bundle, lambda: Bundle(*fetch()))
        done = made(study, missing, None if run_store is None else run_store.store)
    except UserError as error:
        failed = Failed(cause=error.cause, place=error.place, remedy=error.remedy)
        return Answer(failed=failed, derived=b"", made=[], data=[], seconds=0.0, peak_bytes=0)
    keys = [task.key for task in missing]
    return Answer(
        failed=None,
        derived=packed_answers((one.derived, one.notes) for one in done),
        made=keys,
        data=[packed(key, one.run) for key, one in zip(keys, done, strict=True)] if run_store is None else [],
        seconds=time.monotonic() - begun,
        peak_bytes=peak_bytes(),
    )


@cache
def _store(url: str) -> RunStore:
    return RunStore(url)
