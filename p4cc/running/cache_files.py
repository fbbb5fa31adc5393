"""Where a cache keeps finished runs and calls: names of files, without what reads and writes them."""

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
"""What a call left in a folder of results (`call_cache.py`)."""

_OURS = re.compile(r"[0-9a-f]{2}/([0-9a-f]{62}\.(zip|call)|\.[0-9a-z_]{8}\.partial)")
"""Names that a cache gives; other files in its folder are somebody else's."""


def path_of(folder: Path, key: str, ending: str = RUN) -> Path:
    """The file of a run, or of a call, by its key."""
    return folder / key[:2] / f"{key[2:]}{ending}"


def cache_files(folder: Path | None) -> Iterator[tuple[Path, int, int]]:
    """Runs, calls, and what killed processes left of them, with the time of their last use and their size."""
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
    """Writes a file that has its name only when it is whole; none where the folder cannot be written."""
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
