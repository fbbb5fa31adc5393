"""What a worker answers for a run, as bytes: JSON, and behind it the tables and captures that it tells of."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from p4cc.errors import UserError
from p4cc.running.derived_run import DerivedRun, Facts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_LENGTH_BYTES = 8


class _Blobs:
    """Bytes one behind the other."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self._at = 0

    def add(self, part: bytes) -> list[int]:
        """Where a part begins and ends."""
        begin, self._at = self._at, self._at + len(part)
        self.parts.append(part)
        return [begin, self._at]


def packed_answers(answers: Iterable[tuple[DerivedRun, Iterable[str]]]) -> bytes:
    """Runs that are worked out, with the notes of each."""
    blobs = _Blobs()
    told = [_plain(derived, notes, blobs) for derived, notes in answers]
    head = json.dumps(told).encode()
    return b"".join([len(head).to_bytes(_LENGTH_BYTES, "big"), head, *blobs.parts])


def unpacked_answers(data: bytes, place: str) -> list[tuple[DerivedRun, tuple[str, ...]]]:
    """What was packed; raises UserError for what cannot be read."""
    try:
        begin = _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "big")
        told = json.loads(data[_LENGTH_BYTES:begin])
        whole = memoryview(data)[begin:]
        return [(_derived(one, whole), tuple(map(str, one["notes"]))) for one in told]
    except (ValueError, LookupError, TypeError) as error:
        cause = f"a worker's answer cannot be read: {type(error).__name__}"
        raise UserError(cause, place=place, remedy="give the workers this very p4cc, and run again") from error


def _plain(derived: DerivedRun, notes: Iterable[str], blobs: _Blobs) -> dict[str, Any]:
    return {
        "seed": derived.seed,
        "summary": derived.summary,
        "numbers": derived.numbers,
        "facts": derived.facts.plain(),
        "notes": list(notes),
        "tables": {name: blobs.add(data) for name, data in derived.tables.items()},
        "captures": {name: blobs.add(data) for name, data in derived.captures.items()},
    }


def _derived(told: Mapping[str, Any], whole: memoryview) -> DerivedRun:
    facts = told["facts"]
    return DerivedRun(
        seed=int(told["seed"]),
        summary=dict(told["summary"]),
        numbers=dict(told["numbers"]),
        facts=Facts(
            warnings=list(facts["warnings"]),
            captures=list(facts["captures"]),
            drops=[(switch, text, pkts) for switch, text, pkts in facts["drops"]],
            refused=(facts["refused"][0], list(facts["refused"][1])),
            installed=list(facts["installed"]),
            lossless=[(switch, priority, cause, pkts) for switch, priority, cause, pkts in facts["lossless"]],
            ending=facts["ending"],
        ),
        tables={name: _blob(one, whole) for name, one in told["tables"].items()},
        captures={name: _blob(one, whole) for name, one in told["captures"].items()},
    )


def _blob(place: list[int], whole: memoryview) -> bytes:
    begin, end = place
    if not 0 <= begin <= end <= len(whole):
        raise ValueError("a part that is not there")
    return bytes(whole[begin:end])
