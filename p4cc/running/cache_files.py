"""File names of cached runs and calls, without the code that reads and writes them."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FOLDER = ".p4cc-cache"
RUN = ".zip"
CALL = ".call"
"""The record of a call (`call_cache.py`)."""

_OURS = re.compile(r"[0-9a-f]{2}/([0-9a-f]{62}\.(zip|call)|\.[0-9a-z_]{8}\.partial)")
"""Names that a cache assigns; other files in its folder are not p4cc's."""


def path_of(folder: Path, key: str, ending: str = RUN) -> Path:
    """The file of a run or call with this key."""
    return folder / key[:2] / f"{key[2:]}{ending}"


def cache_files(folder: Path | None) -> Iterator[tuple[Path, int, int]]:
    """Runs, calls and leftovers of killed processes, each with the time of its last use and its size."""
    if folder is None:
        return
    for path in folder.glob("??/*"):
        if _OURS.fullmatch(f"{path.parent.name}/{path.name}") is None:
            continue
        try:
            status = path.stat()
        except OSError:
            continue
        yield path, status.st_mtime_ns, status.st_size


def write_whole(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Writes a file that gets its name only when complete; writes nothing if the folder is not writable."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(prefix=".", suffix=".partial", dir=path.parent)
    except OSError:
        return
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
        Path(partial).replace(path)
    except OSError:
        Path(partial).unlink(missing_ok=True)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise
