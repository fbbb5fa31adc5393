"""Where a cache keeps finished runs and calls: names of files, without what reads and writes them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FOLDER = ".p4cc-cache"
RUN = ".zip"
CALL = ".call"
"""What a call left in a folder of results (`standing`)."""

_OURS = re.compile(r"[0-9a-f]{2}/([0-9a-f]{62}\.(zip|call)|\.[0-9a-z_]{8}\.partial)")
"""Names that a cache gives; other files in its folder are somebody else's."""


def path_of(folder: Path, key: str, ending: str = RUN) -> Path:
    """The file of a run, or of a call, by its key."""
    return folder / key[:2] / f"{key[2:]}{ending}"


def kept_files(folder: Path | None) -> Iterator[tuple[Path, int, int]]:
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
