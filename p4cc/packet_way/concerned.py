"""Which packets of a test a failure is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


class Failure(Protocol):
    """What `p4cc stf` says of a test that fails."""

    @property
    def line(self) -> int:
        """Line of the test; 0 when none is to blame."""
        ...

    @property
    def port(self) -> int | None:
        """Port of the packet that is wrong or missing."""
        ...

    @property
    def packet(self) -> int | None:
        """Its place among those of the port."""
        ...


def concerned(packets: Sequence[Mapping[str, Any]], failures: Iterable[Failure]) -> list[Mapping[str, Any]]:
    """The packets that failures are about, in order; all where no failure names one.

    A wrong packet is the one that came out at its place; for one that is missing, it is the last one sent before.
    """
    found: set[int] = set()
    for failure in failures:
        at = _came_out(packets, failure)
        if at is None:
            before = [at for at, packet in enumerate(packets) if packet["line"] < failure.line]
            at = before[-1] if before else None
        if at is not None:
            found.add(at)
    return [packets[at] for at in sorted(found)] or list(packets)


def _came_out(packets: Sequence[Mapping[str, Any]], failure: Failure) -> int | None:
    out = (at for at, packet in enumerate(packets) for sent in packet["sent"] if sent["port"] == failure.port)
    return next((at for place, at in enumerate(out) if place == failure.packet), None)
