"""Runs that were made before: one file each (`kept_run`), named by the hash of all that decides the run.

What decides a run: the engine's description (topology, traffic, senders, limits), what the controller installs, the P4
program, the seed, the engine itself, and the code that turns its results into tables. A file takes its name only when
it is whole. One that is not what was written is removed, and its run is made again.
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
"""Beyond this the runs that were longest not used are removed."""

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
    """Runs of a cache."""

    runs: int = 0
    size_bytes: int = 0
    oldest_ns: int | None = None
    """Since the Epoch: when the one that was longest not used was used."""
    newest_ns: int | None = None

    def add(self, used_ns: int, size_bytes: int) -> None:
        """Counts one more."""
        self.runs += 1
        self.size_bytes += size_bytes
        self.oldest_ns = used_ns if self.oldest_ns is None else min(self.oldest_ns, used_ns)
        self.newest_ns = used_ns if self.newest_ns is None else max(self.newest_ns, used_ns)


class KeptRuns(Protocol):
    """Where finished runs are kept: a folder of this machine, or a store that several share."""

    @property
    def threads(self) -> Executor | None:
        """Threads for those who wait for it; the loop's own if there are none."""
        ...

    def load(self, key: str) -> SeedRun | None:
        """The run of this key, if it is there."""
        ...

    def store(self, key: str, run: SeedRun) -> None:
        """Keeps a run."""
        ...

    def prune(self) -> object:
        """Makes room, where that is its own business."""
        ...


class RunCache:
    """The runs in a folder; without a folder it holds nothing and keeps nothing."""

    threads: Executor | None = None

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self.damaged: list[str] = []
        """What was wrong with files that were removed, for people."""

    def load(self, key: str) -> SeedRun | None:
        """The run of this key, if it is there; a file that is not what was written is removed."""
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
        """Keeps a run; a folder that cannot be written keeps nothing."""
        if self._folder is None:
            return
        write_whole(path_of(self._folder, key), lambda file: write_run(file, key, run))

    def prune(self, most_bytes: int = MAX_CACHE_BYTES) -> Held:
        """Removes the runs that were longest not used until the rest fits; what was removed."""
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
        """What the cache holds."""
        found = Held()
        for path, used_ns, size in cache_files(self._folder):
            if path.suffix != CALL:
                found.add(used_ns, size)
        return found


def run_keys(parts: Iterable[str | bytes], seeds: Iterable[int]) -> dict[int, str]:
    """The names of runs by seed: hashes of what decides them, the engine and the seed."""
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
    """A part with its length before it: no two lists of parts are the same bytes."""
    raw = part.encode() if isinstance(part, str) else part
    return len(raw).to_bytes(8, "big") + raw


@cache
def _program_digest() -> bytes:
    """The engine as built, and the code between it and the tables kept here."""
    digest = hashlib.sha256()
    package = Path(__file__).parents[1]
    controller = package.parent / "controller"
    sources = [package / name for name in _KEEPING]
    for path in (Path(_engine.__file__), *sources, *sorted(controller.glob("*.py"))):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.digest()
