"""Precision and recall of marks, by the captures of a run of accuracy.yaml.

A packet should be marked if it waited long enough, and its flow sent enough bytes between its arrival and its
departure: what the queue before it held of its flow, itself included.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from p4cc.planning.capture import Captured, read_capture

OUT_PORT = 10
"""Of the switch, to the receiver."""
LEAST_BYTES = 64 * 1024
LEAST_WAIT_PS = 15_000_000
_IPV4, _TCP, _CE = b"\x08\x00", 6, 3
_ACK_BYTES = 100
"""IPv4 packets below this length carry no data."""


@dataclass
class Marks:
    """How often packets were marked, rightly or not, and how often not."""

    right: int = 0
    wrong: int = 0
    missed: int = 0
    unmarked: int = 0

    @property
    def precision(self) -> float:
        """Of the packets that were marked, those that should be."""
        return self.right / max(self.right + self.wrong, 1)

    @property
    def recall(self) -> float:
        """Of the packets that should be marked, those that were."""
        return self.right / max(self.right + self.missed, 1)


def judge(folder: Path) -> Marks:
    """Marks of all packets with data that left by `OUT_PORT`."""
    arrived: dict[tuple[bytes, bytes], list[int]] = defaultdict(list)
    left: list[Captured] = []
    for path in sorted(folder.glob("s1-*.pcapng")):
        packets = [one for one in read_capture(path) if _has_data(one.data)]
        if path.stem == f"s1-{OUT_PORT}":
            left = packets
            continue
        for packet in packets:
            arrived[_flow(packet.data), packet.data[38:42]].append(_time(packet))
    marks = Marks()
    times: dict[bytes, list[int]] = defaultdict(list)
    sent: dict[bytes, list[int]] = defaultdict(lambda: [0])
    for packet in left:
        flow, now = _flow(packet.data), _time(packet)
        times[flow].append(now)
        sent[flow].append(sent[flow][-1] + int.from_bytes(packet.data[16:18], "big"))
        came = max(time for time in arrived[flow, packet.data[38:42]] if time <= now)
        own_bytes = sent[flow][-1] - sent[flow][bisect_right(times[flow], came)]
        _count(marks, own_bytes >= LEAST_BYTES and now - came >= LEAST_WAIT_PS, packet.data[15] & 3 == _CE)
    return marks


def _count(marks: Marks, should: bool, marked: bool) -> None:
    if marked:
        marks.right += should
        marks.wrong += not should
    else:
        marks.missed += should
        marks.unmarked += not should


def _has_data(frame: bytes) -> bool:
    return frame[12:14] == _IPV4 and frame[23] == _TCP and int.from_bytes(frame[16:18], "big") >= _ACK_BYTES


def _flow(frame: bytes) -> bytes:
    """Addresses and ports."""
    return frame[26:38]


def _time(packet: Captured) -> int:
    if packet.time_ps is None:
        raise ValueError("the capture has no times")
    return packet.time_ps


if __name__ == "__main__":
    found = judge(Path(sys.argv[1]))
    print(f"{found}: precision {found.precision:.3f}, recall {found.recall:.3f}")
