"""The function that Ray calls in a worker's process, in plain values: the head that passes them on needs no p4cc."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, TypedDict

from p4cc.cluster.bundle import Bundle
from p4cc.cluster.content import packed
from p4cc.cluster.store import RunStore
from p4cc.cluster.worker import Studies, Task, made
from p4cc.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

STUDIES = Studies()
"""Of this process."""


class Failed(TypedDict):
    """What the user can mend."""

    cause: str
    place: str
    remedy: str


class Answer(TypedDict):
    """What a task gives back."""

    failed: Failed | None
    data: bytes | None
    """The run; None where it is in the store."""
    notes: list[str]
    peak_bytes: int


def run_task(
    bundle: str, fetch: Callable[[], tuple[bytes, Mapping[str, bytes]]], task: Mapping[str, Any], store: str | None
) -> Answer:
    """Makes a run, unless the store holds it: a task that is tried again may have ended before its worker died."""
    asked = Task(**task)
    try:
        kept = None if store is None else _store(store)
        if kept is not None and kept.holds(asked.key):
            return Answer(failed=None, data=None, notes=[], peak_bytes=0)
        done = made(STUDIES.get(bundle, lambda: Bundle(*fetch())), asked)
        data = packed(asked.key, done.run)
        if kept is not None:
            kept.put(asked.key, data)
    except UserError as error:
        failed = Failed(cause=error.cause, place=error.place, remedy=error.remedy)
        return Answer(failed=failed, data=None, notes=[], peak_bytes=0)
    return Answer(failed=None, data=data if kept is None else None, notes=list(done.notes), peak_bytes=done.peak_bytes)


@cache
def _store(url: str) -> RunStore:
    return RunStore(url)
