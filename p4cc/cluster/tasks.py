"""The function that Ray calls in a worker's process, in plain values: the head that passes them on needs no p4cc."""

from __future__ import annotations

import time
from functools import cache
from typing import TYPE_CHECKING, Any, TypedDict

from p4cc.cluster.answer import packed_answers
from p4cc.cluster.bundle import Bundle
from p4cc.cluster.store import RunStore
from p4cc.cluster.worker import Studies, Task, made, peak_bytes
from p4cc.errors import UserError
from p4cc.running.cached_run import packed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

STUDIES = Studies()
"""Of this process."""


class Failed(TypedDict):
    """What the user can mend."""

    cause: str
    place: str
    remedy: str


class Answer(TypedDict):
    """What a task gives back for runs of one command."""

    failed: Failed | None
    """Of all of them: what a run says is wrong."""
    derived: bytes
    """Runs that were made (`answer`)."""
    made: list[str]
    """Keys of these, in their order."""
    data: list[bytes]
    """The same as they are kept; empty where they are in the store."""
    seconds: float
    """That they took."""
    peak_bytes: int


def run_task(
    bundle: str,
    fetch: Callable[[], tuple[bytes, Mapping[str, bytes]]],
    tasks: Sequence[Mapping[str, Any]],
    store: str | None,
) -> Answer:
    """Makes runs, those excepted that the store holds: a task that is tried again goes on where its worker died."""
    asked = [Task(**task) for task in tasks]
    begun = time.monotonic()
    try:
        kept = None if store is None else _store(store)
        missing = [task for task in asked if kept is None or not kept.holds(task.key)]
        study = STUDIES.get(bundle, lambda: Bundle(*fetch()))
        done = made(study, missing, None if kept is None else kept.store)
    except UserError as error:
        failed = Failed(cause=error.cause, place=error.place, remedy=error.remedy)
        return Answer(failed=failed, derived=b"", made=[], data=[], seconds=0.0, peak_bytes=0)
    keys = [task.key for task in missing]
    return Answer(
        failed=None,
        derived=packed_answers((one.derived, one.notes) for one in done),
        made=keys,
        data=[packed(key, one.run) for key, one in zip(keys, done, strict=True)] if kept is None else [],
        seconds=time.monotonic() - begun,
        peak_bytes=peak_bytes(),
    )


@cache
def _store(url: str) -> RunStore:
    return RunStore(url)
