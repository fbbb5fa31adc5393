"""Temporary folders that a process leaves when it has to end at once."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

LEFT: dict[Path, Callable[[], object]] = {}
"""What removes each."""

ON_CHANGE: list[Callable[[], object]] = []
"""Called when a folder is added or gone: who ends the process may get no chance to ask for them then."""


@contextmanager
def left_until_done(folder: Path, remove: Callable[[], object]) -> Generator[None]:
    """Within, `folder` is there, which `remove` removes; at the end it is the caller's to remove."""
    LEFT[folder] = remove
    _changed()
    try:
        yield
    finally:
        del LEFT[folder]
        _changed()


def _changed() -> None:
    for call in ON_CHANGE:
        call()


class Process:
    """The process that p4cc runs in."""

    is_ours: ClassVar[bool] = False
    """Whether p4cc may end it: it is the command line's."""
