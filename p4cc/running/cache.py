"""Cache of finished runs: one file each (`cached_run`), named by the hash of everything that determines the run.

What determines a run: the engine's description (topology, traffic, senders, limits), what the controller installs, the
P4 program, the seed, the engine itself, and the code that turns its results into tables. A file gets its name only when
it is complete. A damaged file is removed, and its run is repeated.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from p4cc import _engine
from p4cc.running.cache_files import CALL, cache_files, path_of, write_whole
from p4cc.running.cached_run import WrongRunError, read_run, write_run

if TYPE_CHECKING:
    from collections.abc import Iterable
    from concurrent.futures import Executor

    from p4cc.running.cached_run import SeedRun

MAX_CACHE_BYTES = 4 << 30
"""Above this size, the least recently used runs are removed."""

_KEEPING = (
    "running/cache.py",
    "running/network_driver.py",
    "running/captures.py",
    "running/cached_run.py",
    "running/result_writer.py",
    "running/seal.py",
    "running/streams.py",
    "analysis/long_tables.py",
    "analysis/tables.py",
)
"""The code between the engine and the tables kept here."""


@dataclass
class Held:
    """Number of runs in the cache."""

    runs: int = 0
    size_bytes: int = 0
    oldest_ns: int | None = None
    """Seconds since the Epoch: last use of the least recently used run."""
    newest_ns: int | None = None

    def add(self, used_ns: int, size_bytes: int) -> None:
        """Adds one run."""
        self.runs += 1
        self.size_bytes += size_bytes
        self.oldest_ns = used_ns if self.oldest_ns is None else min(self.oldest_ns, used_ns)
        self.newest_ns = used_ns if self.newest_ns is None else max(self.newest_ns, used_ns)


class KeptRuns(Protocol):
    """Storage of finished runs: a folder of this machine, or a shared store."""

    @property
    def threads(self) -> Executor | None:
        """Threads for waiting calls; None for those of the event loop."""
        ...

    def load(self, key: str) -> SeedRun | None:
        """Returns the run with this key, or None."""
        ...

    def store(self, key: str, run: SeedRun) -> None:
        """Stores a run."""
        ...

    def prune(self) -> object:
        """Frees space, if the storage limits its size."""
        ...


class RunCache:
    """The runs in a folder; without a folder, nothing is stored."""

    threads: Executor | None = None

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self.damaged: list[str] = []
        """The reason why files were removed, for people."""

    def load(self, key: str) -> SeedRun | None:
        """Returns the run with this key, or None; removes a damaged file."""
        if self._folder is None:
            return None
        path = path_of(self._folder, key)
        try:
            with path.open("rb") as file:
                run = read_run(file, key, path.parent)
            os.utime(path)
        except OSError:
            return None
        except WrongRunError as error:
            self.damaged.append(f"{path} {error}")
            path.unlink(missing_ok=True)
            return None
        return run

    def store(self, key: str, run: SeedRun) -> None:
        """Stores a run; does nothing if the folder is not writable."""
        if self._folder is None:
            return
        write_whole(path_of(self._folder, key), lambda file: write_run(file, key, run))

    def prune(self, most_bytes: int = MAX_CACHE_BYTES) -> Held:
        """Removes the least recently used runs until the rest fits, and returns what it removed."""
        removed = Held()
        kept_bytes = 0
        for path, used_ns, size in sorted(cache_files(self._folder), key=lambda one: one[1], reverse=True):
            kept_bytes += size
            if kept_bytes > most_bytes:
                path.unlink(missing_ok=True)
                if path.suffix != CALL:
                    removed.add(used_ns, size)
        return removed

    def held(self) -> Held:
        """Number, size and age of the runs in the cache."""
        found = Held()
        for path, used_ns, size in cache_files(self._folder):
            if path.suffix != CALL:
                found.add(used_ns, size)
        return found


def run_keys(parts: Iterable[str | bytes], seeds: Iterable[int]) -> dict[int, str]:
    """Keys of runs by seed: hashes of what determines them, of the engine and of the seed."""
    common = hashlib.sha256(_framed(_program_digest()))
    for part in parts:
        common.update(_framed(part))
    keys: dict[int, str] = {}
    for seed in seeds:
        digest = common.copy()
        digest.update(_framed(str(seed)))
        keys[seed] = digest.hexdigest()
    return keys


def _framed(part: str | bytes) -> bytes:
    """A part preceded by its length, so that different lists of parts never give the same bytes."""
    raw = part.encode() if isinstance(part, str) else part
    return len(raw).to_bytes(8, "big") + raw


@cache
def _program_digest() -> bytes:
    """The built engine, and the code between it and the cached tables."""
    digest = hashlib.sha256()
    package = Path(__file__).parents[1]
    controller = package.parent / "controller"
    sources = [package / name for name in _KEEPING]
    for path in (Path(_engine.__file__), *sources, *sorted(controller.glob("*.py"))):
        # The engine has tens of megabytes; they need not be in memory at once.
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.digest()
