"""Flows and paths in the text formats of HPCC's ns-3 simulator (docs/algorithms/traffic.md#uniform).

Flow file: the number of flows, then `source destination priority destination_port bytes start_seconds` for each; words
count, not lines, and what follows the last flow is not read, as in that simulator. Where the first flow's line has five
words, each flow has five, without a destination port, as in ConWeave's simulator.

Path map, for comparisons although the two ECMP hashes differ: on each line the place of a flow in the flow file, from
0, a colon, and the ids of the switches on its way; then, if ACKs are to return by another way than by hash, a slash and
the switches of theirs. `#` begins a comment.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from p4cc.errors import UserError
from p4cc.files import read_text
from p4cc.scenario.base import MAX_FLOW_BYTES, MAX_TIME_NS
from topos.loaders.words import Words

if TYPE_CHECKING:
    from pathlib import Path

MAX_FLOWS = 1_000_000
MAX_HOPS = 16
MAX_NODE = 10**9
_CONWEAVE_WORDS = 5
_HOPS = r"([0-9]{1,9}(?:\s+[0-9]{1,9})*)"
_PATH = re.compile(rf"([0-9]{{1,9}})\s*:\s*{_HOPS}\s*(?:/\s*{_HOPS}\s*)?", re.ASCII)


@dataclass(frozen=True)
class Ns3Flow:
    """A flow of the file; ends are the ids of nodes."""

    source: int
    destination: int
    priority: int
    destination_port: int | None
    """None where the format has none."""
    size_bytes: int
    start_ns: int


@dataclass(frozen=True)
class Ns3Path:
    """Ids of the switches on a flow's way, and of those on the way of its ACKs, if the file has them."""

    there: tuple[int, ...]
    back: tuple[int, ...] | None = None


def read_ns3_flows(path: Path) -> list[Ns3Flow]:
    """The flows of a file in its order; raises UserError with the line of the first fault."""

    def fault(line: int, cause: str, remedy: str) -> UserError:
        return UserError(cause, place=f"{path}:{line}", remedy=remedy)

    text = read_text(path, "flow file")
    words = Words(text, fault)
    count = words.whole("number of flows", 1, MAX_FLOWS)
    lines = (line for line in text.splitlines() if line.strip())
    next(lines)
    has_port = len(next(lines, "").split()) != _CONWEAVE_WORDS
    flows: list[Ns3Flow] = []
    for number in range(count):
        if words.at_end():
            cause = f"the file has {number} of the {count} flows that its first line promises"
            raise words.error(cause, "correct the number, or give the whole file")
        flows.append(_flow(words, has_port=has_port))
    return flows


def read_ns3_paths(path: Path, flows: int) -> dict[int, Ns3Path]:
    """The paths of a map by place in a file of this many flows; raises UserError with the line of the first error."""
    found: dict[int, Ns3Path] = {}
    for number, line in enumerate(read_text(path, "path map").splitlines(), start=1):
        content = line.split("#", 1)[0].strip()
        if not content:
            continue
        place = f"{path}:{number}"
        match = _PATH.fullmatch(content)
        if match is None:
            cause = f"{content[:60]!r} is not a path"
            raise UserError(cause, place=place, remedy="write FLOW: SWITCH SWITCH ... / SWITCH SWITCH ...")
        flow = int(match[1])
        if flow >= flows:
            raise UserError(f"flow {flow} does not exist", place=place, remedy=f"flows are numbered 0 to {flows - 1}")
        if flow in found:
            raise UserError(f"flow {flow} has two paths", place=place, remedy="write one line per flow")
        there = _hops(match[2], place)
        found[flow] = Ns3Path(there, _hops(match[3], place) if match[3] else None)
    return found


def _hops(text: str, place: str) -> tuple[int, ...]:
    hops = tuple(int(word) for word in text.split())
    if len(hops) > MAX_HOPS:
        raise UserError(f"the path has {len(hops)} switches", place=place, remedy=f"give at most {MAX_HOPS}")
    return hops


def _flow(words: Words, *, has_port: bool) -> Ns3Flow:
    return Ns3Flow(
        source=words.whole("source", 0, MAX_NODE),
        destination=words.whole("destination", 0, MAX_NODE),
        priority=words.whole("priority", 0, 7),
        destination_port=words.whole("destination port", 0, 65_535) if has_port else None,
        size_bytes=words.whole("size", 1, MAX_FLOW_BYTES),
        start_ns=int((words.number("start", 0, MAX_TIME_NS // 10**9) * 10**9).to_integral_value()),
    )
