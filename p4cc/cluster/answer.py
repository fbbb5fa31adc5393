"""A worker's answer for runs, as bytes: JSON, followed by tables and captures."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypedDict

from p4cc.errors import UserError
from p4cc.running.derived_run import DerivedRun, Facts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from p4cc.json_data import JsonValue

_LENGTH_BYTES = 8


class _FactsHead(TypedDict):
    warnings: list[str]
    captures: list[str]
    drops: list[tuple[str, str, int]]
    refused: tuple[int, list[str]]
    installed: list[dict[str, JsonValue]]
    lossless: list[tuple[str, int, str, int]]
    ending: str | None


class _RunHead(TypedDict):
    seed: int
    summary: dict[str, JsonValue]
    numbers: dict[str, JsonValue]
    facts: _FactsHead
    notes: list[str]
    tables: dict[str, list[int]]
    captures: dict[str, list[int]]


class _Blobs:
    """Parts in sequence, each once."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self._at = 0

    def add(self, part: bytes) -> list[int]:
        """Adds a part; returns where it begins and ends."""
        begin, self._at = self._at, self._at + len(part)
        self.parts.append(part)
        return [begin, self._at]


def packed_answers(answers: Iterable[tuple[DerivedRun, Iterable[str]]]) -> bytes:
    """Packs derived runs with their notes."""
    blobs = _Blobs()
    head = json.dumps([_run_head(derived, notes, blobs) for derived, notes in answers]).encode()
    return b"".join([len(head).to_bytes(_LENGTH_BYTES, "big"), head, *blobs.parts])


def unpacked_answers(data: bytes, place: str) -> list[tuple[DerivedRun, tuple[str, ...]]]:
    """Unpacks runs; raises UserError for invalid bytes."""
    try:
        begin = _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "big")
        heads: list[_RunHead] = json.loads(data[_LENGTH_BYTES:begin])
        whole = memoryview(data)[begin:]
        return [(_derived(head, whole), tuple(map(str, head["notes"]))) for head in heads]
    except (ValueError, LookupError, TypeError) as error:
        cause = f"a worker's answer cannot be read: {type(error).__name__}"
        raise UserError(cause, place=place, remedy="give the workers this very p4cc, and run again") from error


def _run_head(derived: DerivedRun, notes: Iterable[str], blobs: _Blobs) -> dict[str, object]:
    return {
        "seed": derived.seed,
        "summary": derived.summary,
        "numbers": derived.numbers,
        "facts": derived.facts.plain(),
        "notes": list(notes),
        "tables": {name: blobs.add(data) for name, data in derived.tables.items()},
        "captures": {name: blobs.add(data) for name, data in derived.captures.items()},
    }


def _derived(head: _RunHead, whole: memoryview) -> DerivedRun:
    facts = head["facts"]
    return DerivedRun(
        seed=int(head["seed"]),
        summary=dict(head["summary"]),
        numbers=dict(head["numbers"]),
        facts=Facts(
            warnings=list(facts["warnings"]),
            captures=list(facts["captures"]),
            drops=[(switch, text, pkts) for switch, text, pkts in facts["drops"]],
            refused=(facts["refused"][0], list(facts["refused"][1])),
            installed=list(facts["installed"]),
            lossless=[(switch, priority, cause, pkts) for switch, priority, cause, pkts in facts["lossless"]],
            ending=facts["ending"],
        ),
        tables={name: _blob(one, whole) for name, one in head["tables"].items()},
        captures={name: _blob(one, whole) for name, one in head["captures"].items()},
    )


def _blob(place: list[int], whole: memoryview) -> bytes:
    begin, end = place
    if not 0 <= begin <= end <= len(whole):
        raise ValueError("a part that is not there")
    return bytes(whole[begin:end])
