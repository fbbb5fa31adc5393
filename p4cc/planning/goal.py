"""GOAL schedules in their text form, of LogGOPSim and ATLAHS (docs/algorithms/traffic.md#goal).

    num_ranks 2
    rank 0 {
    l1: calc 1000 cpu 0
    l2: send 8b to 1 tag 3
    l2 requires l1
    }
    rank 1 {
    l1: recv 8b from 0 tag 3
    }

`calc` is in nanoseconds. `requires` waits for the end of another operation of the rank, `irequires` for its start. A
receive takes the send of the same ranks and tag with the same number in the order of the file; what it takes by a
wildcard depends on the run, so that is refused, and so is the binary form.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from p4cc.errors import UserError
from p4cc.files import read_bytes
from p4cc.planning.operation_graph import MAX_RANKS, OperationGraph
from p4cc.planning.whole_numbers import whole_word
from p4cc.scenario.base import MAX_FLOW_BYTES, MAX_TIME_NS
from topos.loaders.words import shown

if TYPE_CHECKING:
    from pathlib import Path

    from p4cc import spec

MAX_TAG = (1 << 32) - 1
_NAME = r"([A-Za-z][A-Za-z0-9_]*)"
_NUMBER = r"([0-9]{1,19})"
_CALC = re.compile(rf"(?:{_NAME}\s*:\s*)?calc\s+{_NUMBER}(?:\s+cpu\s+{_NUMBER})?", re.ASCII)
_MESSAGE = re.compile(
    rf"(?:{_NAME}\s*:\s*)?(?:send\s+{_NUMBER}\s*b\s+to|recv\s+{_NUMBER}\s*b\s+from)\s+(-1|[0-9]{{1,19}})"
    rf"(?:\s+tag\s+(-1|[0-9]{{1,19}}))?(?:\s+cpu\s+{_NUMBER})?(?:\s+nic\s+{_NUMBER})?",
    re.ASCII,
)
_WAITS = re.compile(rf"{_NAME}\s+(i?requires)\s+{_NAME}", re.ASCII)
_RANK = re.compile(rf"rank\s+{_NUMBER}\s*\{{", re.ASCII)
_RANKS = re.compile(rf"num_ranks\s+{_NUMBER}", re.ASCII)
_COMMENT = re.compile(r"/[*/]")
_GRAMMAR = "write LABEL: calc NS, send BYTESb to RANK tag TAG, recv BYTESb from RANK tag TAG, or LABEL requires LABEL"


@dataclass(frozen=True)
class _Message:
    """A send or a receive that has no other half yet."""

    operation: int
    size_bytes: int


class _Reader:
    """Lines of a file; each fault is raised at its line."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._line = 0
        self._graph = OperationGraph(0)
        self._rank: int | None = None
        self._seen: set[int] = set()
        self._labels: dict[str, int] = {}
        self._cpus: dict[tuple[int, int], int] = {}
        self._sends: defaultdict[tuple[int, int, int], list[_Message]] = defaultdict(list)
        self._receives: defaultdict[tuple[int, int, int], list[_Message]] = defaultdict(list)

    def read(self) -> OperationGraph:
        for line, content in enumerate(_text(self._path).split("\n"), start=1):
            self._line = line
            words = content.strip()
            if words:
                self._take(words)
        if self._graph.ranks == 0:
            self._line = 1
            self._fail("the file has no line num_ranks", "give a GOAL schedule as text")
        if self._rank is not None:
            self._fail(f"the block of rank {self._rank} has no end", "add }, or give the whole file")
        self._match()
        return self._graph.check(f"{self._path}:{self._line}")

    def _take(self, words: str) -> None:
        if match := _RANKS.fullmatch(words):
            if self._graph.ranks or self._rank is not None:
                self._fail("num_ranks is given twice, or in a rank", "give it once, first")
            self._graph.ranks = self._number("num_ranks", match[1], 1, MAX_RANKS)
        elif match := _RANK.fullmatch(words):
            self._begin(match[1])
        elif words == "}" and self._rank is not None:
            self._rank = None
        elif self._rank is None:
            self._fail(f"{shown(words)} is outside of the ranks", "write num_ranks NUMBER, then rank NUMBER {")
        elif match := _WAITS.fullmatch(words):
            self._wait(*match.groups())
        elif match := _CALC.fullmatch(words):
            label, duration, cpu = match.groups()
            duration_ns = self._number("calc", duration, 0, MAX_TIME_NS)
            number = self._add(label, {"kind": "compute", "host": self._rank, "duration_ns": duration_ns})
            place = (self._rank, self._number("cpu", cpu or "0", 0, 255))
            self._graph.operations[number]["unit"] = self._cpus.setdefault(place, len(self._cpus))
        elif match := _MESSAGE.fullmatch(words):
            self._message(self._rank, *match.groups()[:5])
        else:
            self._fail(f"{shown(words)} is not an operation", _GRAMMAR)

    def _begin(self, number: str) -> None:
        if self._rank is not None:
            self._fail(f"the block of rank {self._rank} has no end", "add } before the next rank")
        if self._graph.ranks == 0:
            self._fail("a rank comes before num_ranks", "give the number of ranks first")
        self._rank = self._number("rank", number, 0, self._graph.ranks - 1)
        if self._rank in self._seen:
            self._fail(f"rank {self._rank} is given twice", "give each rank one block")
        self._seen.add(self._rank)
        self._labels = {}

    def _add(self, label: str | None, work: spec.Work) -> int:
        operation: spec.OperationSpec = {"work": work}
        name = f"{self._rank}.{label}"
        # One with a longer label goes by its number: labels that begin alike would share a name.
        if label is not None and len(name) <= 64:
            operation["name"] = name
        number = self._graph.add(operation, f"{self._path}:{self._line}")
        if label is not None:
            if label in self._labels:
                self._fail(f"the label {shown(label)} is given twice in the rank", "give each operation its own")
            self._labels[label] = number
        return number

    def _message(
        self, rank: int, label: str | None, sent: str | None, received: str | None, peer: str, tag: str | None
    ) -> None:
        if sent is not None and "-1" in (peer, tag):
            key = "rank" if peer == "-1" else "tag"
            most = self._graph.ranks - 1 if peer == "-1" else MAX_TAG
            self._fail(f"{key} is -1 in a send", f"give a whole number from 0 to {most}")
        if peer == "-1" or tag == "-1":
            what = "source" if peer == "-1" else "tag"
            cause = f"the receive takes a message of any {what}, and which one depends on the run"
            self._fail(cause, "give its rank and its tag")
        other = self._number("rank", peer, 0, self._graph.ranks - 1)
        if other == rank:
            self._fail(f"rank {rank} sends to itself", "name another rank, or use calc")
        numbers = self._number("tag", tag or "0", 0, MAX_TAG)
        size_bytes = self._number("size", sent or received or "", 0, MAX_FLOW_BYTES)
        if sent is not None:
            # A flow has at least one byte.
            work: spec.Work = {"kind": "send", "src": rank, "dst": other, "size_bytes": max(size_bytes, 1)}
            self._sends[rank, other, numbers].append(_Message(self._add(label, work), size_bytes))
        else:
            work = {"kind": "compute", "host": rank, "duration_ns": 0}
            self._receives[other, rank, numbers].append(_Message(self._add(label, work), size_bytes))

    def _wait(self, label: str, how: str, other: str) -> None:
        for one in (label, other):
            if one not in self._labels:
                self._fail(f"there is no label {shown(one)} above in the rank", "correct the label")
        operation = self._graph.operations[self._labels[label]]
        if how == "requires":
            # A send ends with its arrival (docs/algorithms/traffic.md#choice-goal-send).
            is_send = self._graph.operations[self._labels[other]]["work"]["kind"] == "send"
            operation.setdefault("after_arrival" if is_send else "after", []).append(self._labels[other])
        else:
            operation.setdefault("after_start", []).append(self._labels[other])

    def _match(self) -> None:
        """Each receive waits for the arrival of its send."""
        for key, sends in self._sends.items():
            receives = self._receives.pop(key, [])
            if len(sends) > len(receives):
                self._unmatched(sends[len(receives)], key, "no receive takes the send")
            if len(receives) > len(sends):
                self._unmatched(receives[len(sends)], key, "no send is for the receive")
            for send, receive in zip(sends, receives, strict=True):
                if send.size_bytes != receive.size_bytes:
                    cause = f"it receives {receive.size_bytes} B, and the send has {send.size_bytes} B"
                    raise UserError(cause, place=self._graph.places[receive.operation], remedy="correct one of both")
                self._graph.operations[receive.operation].setdefault("after_arrival", []).append(send.operation)
        for key, receives in self._receives.items():
            self._unmatched(receives[0], key, "no send is for the receive")

    def _unmatched(self, message: _Message, key: tuple[int, int, int], what: str) -> NoReturn:
        cause = f"{what} (from rank {key[0]} to {key[1]}, tag {key[2]})"
        raise UserError(cause, place=self._graph.places[message.operation], remedy="add the other half")

    def _number(self, key: str, word: str, least: int, most: int) -> int:
        return whole_word(key, word, least, most, f"{self._path}:{self._line}")

    def _fail(self, cause: str, remedy: str) -> NoReturn:
        raise UserError(cause, place=f"{self._path}:{self._line}", remedy=remedy)


def _text(path: Path) -> str:
    """The text of a schedule without its comments, with its lines; raises UserError for the binary form."""
    data = read_bytes(path, "schedule")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        cause = "the schedule is not text: it seems to be GOAL's binary form, which txt2bin writes"
        raise UserError(cause, place=str(path), remedy="give the text that it was made from")
    return _without_comments(text, path)


def _without_comments(text: str, path: Path) -> str:
    """The text with the line ends of its comments only; raises UserError for one without an end."""
    kept: list[str] = []
    at = 0
    while (begin := _COMMENT.search(text, at)) is not None:
        kept.append(text[at : begin.start()])
        if begin[0] == "//":
            at = text.find("\n", begin.end())
            if at < 0:
                return "".join(kept)
        else:
            end = text.find("*/", begin.end())
            if end < 0:
                place = f"{path}:{text.count(chr(10), 0, begin.start()) + 1}"
                raise UserError("the comment has no end", place=place, remedy="add */, or give the whole file")
            kept.append("\n" * text.count("\n", begin.end(), end))
            at = end + 2
    return "".join(kept) + text[at:]


def read_goal(path: Path) -> OperationGraph:
    """The operations of a schedule; raises UserError with the line of the first fault."""
    return _Reader(path).read()
