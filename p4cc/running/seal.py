"""Files that begin with a seal: their kind, their key, and the SHA-256 of the content, which readers check first."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_READ_BYTES = 1 << 20
_HEX = 64
"""Digits of a key and of a SHA-256."""


class BrokenSealError(ValueError):
    """A file is damaged or not the expected one; the text says why."""


@dataclass(frozen=True)
class Seal:
    """Seal of one kind of file."""

    kind: str
    """Changes with the format of the content."""
    what: str
    """Description of such files, for people."""

    @property
    def size_bytes(self) -> int:
        """Length of the seal; the content follows."""
        return len(self._line("0" * _HEX, "0" * _HEX))

    def sealed(self, key: str, content: bytes) -> bytes:
        """The bytes of a file with this content."""
        return self._line(key, hashlib.sha256(content).hexdigest()) + content

    def write(self, key: str, file: IO[bytes], write: Callable[[Any], object]) -> None:
        """Writes a sealed file; `write` writes the content to a sequential stream."""
        file.seek(self.size_bytes)
        content = _Hashed(file)
        write(content)
        file.seek(0)
        file.write(self._line(key, content.sha256.hexdigest()))

    def is_on(self, key: str, head: bytes) -> bool:
        """Whether the first bytes of a file are a seal with this key."""
        found = self._found(head)
        return found is not None and found[1].decode() == key

    def check(self, key: str, file: IO[bytes]) -> None:
        """Checks a file and positions it at its content; raises BrokenSealError."""
        found = self._found(file.read(self.size_bytes))
        if found is None:
            raise BrokenSealError(f"is not a {self.what} of p4cc")
        if (named := found[1].decode()) != key:
            raise BrokenSealError(
                f"holds another {self.what} than its name says ({named[:16]}… instead of {key[:16]}…)"
            )
        digest = hashlib.sha256()
        while part := file.read(_READ_BYTES):
            digest.update(part)
        if digest.hexdigest() != found[2].decode():
            raise BrokenSealError("holds other bytes than were written (their SHA-256 differs)")
        file.seek(self.size_bytes)

    def _line(self, key: str, sha256: str) -> bytes:
        return f"{self.kind} {key} {sha256}\n".encode()

    def _found(self, head: bytes) -> re.Match[bytes] | None:
        """The key and the hash of the content."""
        return re.match(rb"%b ([0-9a-f]{64}) ([0-9a-f]{64})\n" % re.escape(self.kind.encode()), head)


class _Hashed:
    """Hashes all bytes that are written. It cannot seek, so that no byte is written twice."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.sha256 = hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.sha256.update(data)
        return self._file.write(data)

    def flush(self) -> None:
        self._file.flush()
