"""What a worker answers for a run, as bytes: JSON, and behind it the pieces of tables and captures that it tells of."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from p4cc.errors import UserError
from p4cc.running.pieces import Group, Piece
from p4cc.running.worked import Facts, Worked

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_LENGTH_BYTES = 8


class _Blobs:
    """Bytes one behind the other; those that were there before are not repeated."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self._places: dict[bytes, list[int]] = {}
        self._at = 0

    def add(self, part: bytes) -> list[int]:
        """Where a part begins and ends."""
        if part not in self._places:
            self.parts.append(part)
            self._places[part] = [self._at, self._at + len(part)]
            self._at += len(part)
        return self._places[part]


def packed_answers(answers: Iterable[tuple[Worked, Iterable[str]]]) -> bytes:
    """Runs that are worked out with the notes of each; what their tables have in common is there once."""
    blobs = _Blobs()
    told = [_plain(worked, notes, blobs) for worked, notes in answers]
    head = json.dumps(told).encode()
    return b"".join([len(head).to_bytes(_LENGTH_BYTES, "big"), head, *blobs.parts])


def unpacked_answers(data: bytes, place: str) -> list[tuple[Worked, tuple[str, ...]]]:
    """What was packed; raises UserError for what cannot be read."""
    try:
        begin = _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "big")
        told = json.loads(data[_LENGTH_BYTES:begin])
        whole = memoryview(data)[begin:]
        return [(_worked(one, whole), tuple(map(str, one["notes"]))) for one in told]
    except (ValueError, LookupError, TypeError) as error:
        cause = f"a worker's answer cannot be read: {type(error).__name__}"
        raise UserError(cause, place=place, remedy="give the workers this very p4cc, and run again") from error


def _plain(worked: Worked, notes: Iterable[str], blobs: _Blobs) -> dict[str, Any]:
    return {
        "seed": worked.seed,
        "summary": worked.summary,
        "numbers": worked.numbers,
        "facts": worked.facts.plain(),
        "notes": list(notes),
        "pieces": {name: _plain_piece(piece, blobs) for name, piece in worked.pieces.items()},
        "captures": {name: blobs.add(data) for name, data in worked.captures.items()},
    }


def _plain_piece(piece: Piece, blobs: _Blobs) -> dict[str, Any]:
    parts = {name: blobs.add(getattr(piece, name)) for name in ("before", "after", "pages")}
    groups = [_plain_group(group, blobs) for group in piece.groups]
    return {**parts, "rows": piece.rows, "groups": groups}


def _plain_group(group: Group, blobs: _Blobs) -> dict[str, Any]:
    lengths = [len(part) for part in group.parts]
    return {"lengths": lengths, "offsets": group.offsets, "at": blobs.add(b"".join(group.parts))}


def _worked(told: Mapping[str, Any], whole: memoryview) -> Worked:
    facts = told["facts"]
    return Worked(
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
        pieces={name: _piece(one, whole) for name, one in told["pieces"].items()},
        captures={name: _blob(one, whole) for name, one in told["captures"].items()},
    )


def _piece(told: Mapping[str, Any], whole: memoryview) -> Piece:
    return Piece(
        before=_blob(told["before"], whole),
        after=_blob(told["after"], whole),
        rows=int(told["rows"]),
        pages=_blob(told["pages"], whole),
        groups=tuple(_group(one, whole) for one in told["groups"]),
    )


def _group(told: Mapping[str, Any], whole: memoryview) -> Group:
    joined, at = _blob(told["at"], whole), 0
    parts: list[bytes] = []
    for length in told["lengths"]:
        parts.append(joined[at : at + length])
        at += length
    return Group(tuple(parts), tuple(told["offsets"]))


def _blob(place: list[int], whole: memoryview) -> bytes:
    begin, end = place
    if not 0 <= begin <= end <= len(whole):
        raise ValueError("a part that is not there")
    return bytes(whole[begin:end])
