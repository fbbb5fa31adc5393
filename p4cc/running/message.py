"""Messages between the process of a call and those that make its runs: a length, then a pickle of plain values.

Both ends are the same p4cc on one machine, and the socket has no name that others could open.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from p4cc.running.progress import Moment

LENGTH_BYTES = 8


@dataclass(frozen=True)
class Moved:
    """Progress of a run."""

    moment: Moment


@dataclass(frozen=True)
class Made:
    """A run is complete, and lies in the shared file."""

    notes: tuple[str, ...]


@dataclass(frozen=True)
class Failed:
    """An error that the user can fix."""

    cause: str
    place: str
    remedy: str


@dataclass(frozen=True)
class Bug:
    """Any other exception."""

    traceback: str


Answer: TypeAlias = Moved | Made | Failed | Bug


def packed_message(value: object) -> bytes:
    """A message as bytes."""
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    return len(data).to_bytes(LENGTH_BYTES, "big") + data


def length_of(head: bytes) -> int:
    """Number of bytes of the message behind its first `LENGTH_BYTES`."""
    return int.from_bytes(head, "big")


def message_of(data: bytes) -> Any:
    """The value of a message."""
    return pickle.loads(data)  # noqa: S301 - from a process that p4cc started


def next_message(stream: IO[bytes]) -> Any:
    """Waits for the next value; None if the stream ends, also amid a message."""
    head = stream.read(LENGTH_BYTES)
    if len(head) < LENGTH_BYTES:
        return None
    data = stream.read(length_of(head))
    return message_of(data) if len(data) == length_of(head) else None
