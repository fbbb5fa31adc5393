"""Finished runs in a store that several machines share, given by a URL: `s3://bucket/folder`, `file:///shared/runs`.

Each run is one object with its content's hash in front (`content`). What the store holds is checked before it is
believed. Nothing is removed from it: how long runs stay is the store's own business.
"""

# fsspec is not typed.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import os
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import urlsplit

from p4cc.errors import UserError
from p4cc.extras import needs
from p4cc.running.cached_run import HEAD_BYTES, is_head_of, packed, unpacked

if TYPE_CHECKING:
    from p4cc.running.cached_run import SeedRun

FOLDER = "runs"
THREADS = 32
"""Of a caller that looks for its runs: an answer of a store far away takes a hundredth of a second or more."""
_FILE = "file"


class RunStore:
    """The runs of a store; raises UserError for one that cannot be used."""

    def __init__(self, url: str) -> None:
        """Opens the store; `url` has no password, as it appears in messages."""
        self.url = checked_url(url)
        with needs("--store", "ray"):
            import fsspec
        try:
            system, root = fsspec.core.url_to_fs(self.url, skip_instance_cache=True)
        except (ImportError, ValueError) as error:
            self._fail(error)
        self._system = system
        self._root = str(root).rstrip("/")
        self.threads = ThreadPoolExecutor(THREADS, "p4cc store")

    def place(self, key: str) -> str:
        """The URL of a run's object, for people."""
        return f"{self.url}/{_name(key)}"

    def load(self, key: str) -> SeedRun | None:
        """The run of this key, checked; None if it is not there. Raises UserError for an object that is wrong."""
        data = self._read(key)
        return None if data is None else unpacked(key, data, self.place(key))

    def holds(self, key: str) -> bool:
        """Whether an object says that it is this run."""
        head = self._read(key, HEAD_BYTES)
        return head is not None and is_head_of(key, head)

    def store(self, key: str, run: SeedRun) -> None:
        """Keeps a run; raises UserError, as others wait for it."""
        self.put(key, packed(key, run))

    def put(self, key: str, data: bytes) -> None:
        """Keeps a run that is packed already; raises UserError. It takes its name only when it is whole."""
        try:
            if urlsplit(self.url).scheme == _FILE:
                _write_file(Path(self._root, _name(key)), data)
            else:
                self._system.pipe_file(f"{self._root}/{_name(key)}", data)
        except Exception as error:  # noqa: BLE001 - each kind of store has errors of its own
            self._fail(error)

    def prune(self) -> None:
        """Nothing: how long runs stay in a store is its own business."""

    def _read(self, key: str, end: int | None = None) -> bytes | None:
        path = f"{self._root}/{_name(key)}"
        try:
            return bytes(self._system.cat_file(path, end=end))
        except FileNotFoundError:
            return None
        except Exception as error:  # noqa: BLE001 - each kind of store has errors of its own
            self._fail(error)

    def _fail(self, error: Exception) -> NoReturn:
        cause = f"the store cannot be used: {type(error).__name__}: {str(error).partition(chr(10))[0][:300]}"
        remedy = "check the URL, and that this machine and the workers may read and write there"
        raise UserError(cause, place=self.url, remedy=remedy) from error


def checked_url(url: str) -> str:
    """A store's URL without a slash at its end; raises UserError for one that names no store or holds a password."""
    example = "for example s3://BUCKET/FOLDER or file:///SHARED/FOLDER"
    parts = urlsplit(url)
    if not parts.scheme or "://" not in url or "::" in url or not (parts.netloc or parts.path.strip("/")):
        raise UserError(f"{url.rpartition('@')[2]!r} is not the URL of a store", place="--store", remedy=example)
    if "@" in parts.netloc or parts.query:
        cause = "the URL holds a name, a password or options, which messages would show"
        remedy = "omit them; set the store's environment variables instead, here and on the workers"
        raise UserError(cause, place="--store", remedy=remedy)
    if parts.scheme == _FILE and parts.netloc:
        raise UserError(f"{url!r} names a machine", place="--store", remedy="write file:///FOLDER, with three slashes")
    return url.rstrip("/")


def _name(key: str) -> str:
    return f"{FOLDER}/{key[:2]}/{key[2:]}"


def _write_file(path: Path, data: bytes) -> None:
    """Writes a file that has its name only when it is whole; several machines may write it at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{uuid.uuid4().hex}.partial")
    try:
        with partial.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
