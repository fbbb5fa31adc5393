"""Connection matrices of htsim, its `.cm` files (docs/algorithms/traffic.md#connection-matrix).

    Nodes 16
    Connections 2
    7->5 id 1 start 0 size 2000000
    5->7 start 1000000 size 0

`start` is in picoseconds, as that simulator's `ConnectionMatrix::load` reads it, and `size` in bytes; a flow of size 0
never ends. Triggers (a flow that starts when another is done), messages of one connection and failed links are
refused with their line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from p4cc.errors import UserError
from p4cc.files import read_text
from p4cc.scenario.base import MAX_FLOW_BYTES, MAX_TIME_NS
from topos.loaders.words import shown

if TYPE_CHECKING:
    from pathlib import Path

MAX_FLOWS = 1_000_000
MAX_NODES = 1_000_000
_PS_PER_NS = 1_000
_ENDS = re.compile(r"([0-9]{1,9})->([0-9]{1,9})", re.ASCII)
_WHOLE = re.compile(r"([0-9]{1,18})(?:\.0*)?", re.ASCII)
_FRACTION = re.compile(r"[0-9]{1,18}\.[0-9]+", re.ASCII)
_HEADER = {"Nodes": MAX_NODES, "Connections": MAX_FLOWS, "Triggers": MAX_FLOWS, "Failures": MAX_FLOWS}
_NUMBERS = {"id": (1, 10**9), "start": (0, MAX_TIME_NS * _PS_PER_NS), "size": (0, MAX_FLOW_BYTES), "prio": (0, 10**9)}
"""Words of a connection that a number follows, with the least and the largest."""
_WITHOUT = {
    **dict.fromkeys(
        ("trigger", "send_done_trigger", "recv_done_trigger", "addon"),
        ("starts a flow when another is done, which p4cc does not model", "give each flow a start"),
    ),
    "msg": ("makes the flow one of several messages on a connection, which p4cc does not model", "remove msg"),
    "failure": ("removes a link from the first moment on", "remove it, and write the scenario's faults"),
}


@dataclass(frozen=True)
class HtsimFlow:
    """A connection of the file; ends are numbers of hosts."""

    source: int
    destination: int
    size_bytes: int | None
    """None for a flow without an end."""
    start_ns: int
    line: int


@dataclass(frozen=True)
class ConnectionMatrix:
    """The number of hosts that a file is for, and its flows in order."""

    nodes: int
    flows: tuple[HtsimFlow, ...]


class _Reader:
    """Lines of a file; each fault is raised at its line."""

    def __init__(self, path: Path, *, leave_out_prio: bool) -> None:
        self._path = path
        self._leave_out_prio = leave_out_prio
        self._header: dict[str, int] = {}
        self._flows: list[HtsimFlow] = []

    def read(self) -> ConnectionMatrix:
        text = read_text(self._path, "connection matrix")
        for line, content in enumerate(text.splitlines(), start=1):
            words = content.split("#", 1)[0].split()
            if not words:
                continue
            if words[0] in _HEADER:
                self._add_header(line, words)
            elif words[0] in _WITHOUT:
                self._refuse(line, words[0])
            else:
                self._flows.append(self._flow(line, words))
        nodes = self._header.get("Nodes")
        count = self._header.get("Connections")
        if nodes is None or count is None:
            missing = "Connections" if count is None and nodes is not None else "Nodes"
            self._fail(1, f"the file has no line {missing}", "give a connection matrix of htsim")
        if count != len(self._flows):
            cause = f"the file has {len(self._flows)} of the {count} connections that it promises"
            self._fail(None, cause, "correct Connections, or give the whole file")
        return ConnectionMatrix(nodes, tuple(self._flows))

    def _add_header(self, line: int, words: list[str]) -> None:
        key = words[0]
        if len(words) != 2:
            self._fail(line, f"{shown(' '.join(words))} is not a key and its value", f"write {key} NUMBER")
        if key in self._header or self._flows:
            self._fail(line, f"{key} is given twice, or after a connection", "give each key once, first")
        self._header[key] = self._number(line, key, words[1], 1 if key in ("Nodes", "Connections") else 0, _HEADER[key])
        if key in ("Triggers", "Failures") and self._header[key]:
            self._refuse(line, key[:-1].lower())

    def _flow(self, line: int, words: list[str]) -> HtsimFlow:
        ends = _ENDS.fullmatch(words[0])
        if ends is None:
            self._fail(line, f"{shown(words[0])} is not a connection", "write SOURCE->DESTINATION start PS size BYTES")
        if "Nodes" not in self._header:
            self._fail(line, "a connection comes before Nodes", "give the number of hosts first")
        source, destination = int(ends[1]), int(ends[2])
        if (most := max(source, destination)) >= self._header["Nodes"]:
            self._fail(line, f"there is no host {most}", f"hosts are numbered 0 to {self._header['Nodes'] - 1}")
        if source == destination:
            self._fail(line, f"a connection leads from host {source} to itself", "correct the connection")
        values = self._values(line, words[1:])
        for key in ("start", "size"):
            if key not in values:
                self._fail(line, f"the connection has no {key}", f"add {key} NUMBER")
        start_ns = (values["start"] + _PS_PER_NS // 2) // _PS_PER_NS
        return HtsimFlow(source, destination, values["size"] or None, start_ns, line)

    def _values(self, line: int, words: list[str]) -> dict[str, int]:
        values: dict[str, int] = {}
        rest = iter(words)
        for key in rest:
            if key in _WITHOUT:
                self._refuse(line, key)
            if key not in _NUMBERS or key in values:
                cause = f"{key} is given twice" if key in values else f"{shown(key)} is not a word of a connection"
                self._fail(line, cause, f"words: {', '.join(_NUMBERS)}, each once with a number")
            if key == "prio" and not self._leave_out_prio:
                cause = "prio orders what an NDP receiver asks for, which p4cc does not model; other senders ignore it"
                self._fail(line, cause, "set prio: leave_out on the traffic")
            values[key] = self._number(line, key, next(rest, ""), *_NUMBERS[key])
        return values

    def _number(self, line: int, key: str, word: str, least: int, most: int) -> int:
        match = _WHOLE.fullmatch(word)
        value = int(match[1]) if match is not None else -1
        if key == "start" and match is None and _FRACTION.fullmatch(word):
            cause = f"start is {shown(word)}: picoseconds have no fraction, and older files are in microseconds"
            self._fail(line, cause, "multiply microseconds by 1,000,000")
        if not least <= value <= most:
            self._fail(line, f"{key} is {shown(word)}", f"give a whole number from {least} to {most}")
        return value

    def _refuse(self, line: int, word: str) -> NoReturn:
        what, remedy = _WITHOUT[word]
        self._fail(line, f"{word} {what}", remedy)

    def _fail(self, line: int | None, cause: str, remedy: str) -> NoReturn:
        place = str(self._path) if line is None else f"{self._path}:{line}"
        raise UserError(cause, place=place, remedy=remedy)


def read_connection_matrix(path: Path, *, leave_out_prio: bool = False) -> ConnectionMatrix:
    """The flows of a file in its order; raises UserError with the line of the first fault."""
    return _Reader(path, leave_out_prio=leave_out_prio).read()
