"""The user's packets at one host of a lab: `python -m p4cc.lab.packet_host PLAN.json HOST`, in its namespace.

Sends frames at their times, and records arrivals that belong to no flow. Imports the standard library only: every host
starts one, so it has to start fast. It ends some time after it has sent everything, at the plan's end, or on SIGTERM,
and then writes what it saw.
"""

from __future__ import annotations

import heapq
import json
import select
import signal
import socket
import struct
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypedDict

from p4cc.lab.clock import monotonic_at

LINGER_NS = 500_000_000
"""How long to wait for an answer to the last packet."""
ALL_PROTOCOLS = 3
OUTGOING = 4
"""PACKET_OUTGOING: the host's own packets, as its interface shows them."""
RECEIVE_BUFFER_BYTES = 8 << 20
SO_TIMESTAMPNS = 35
_TIMESPEC = struct.Struct("=qq")
ETHERNET_BYTES = 14
_IPV4, _UDP, _TCP = 0x0800, 17, 6


class FrameSpec(TypedDict):
    """A frame in the engine's description: its bytes, then zeros; the time to the next one."""

    hex: str
    zeros: int
    gap_ps: int


class SourceSpec(TypedDict):
    """A source of packets in the engine's description."""

    name: str
    host: str
    frames: list[FrameSpec]
    count: int
    start_ns: int
    end_ns: int


class RecordSpec(TypedDict):
    """How much to keep of packets that arrive."""

    snap_bytes: int
    max_packets: int


class HostPlan(TypedDict):
    """One host's part of the plan."""

    ipv4: str
    interface: str
    record: RecordSpec | None
    out: str


class PacketPlan(TypedDict):
    """The plan of all hosts; times since 1970 and since the start."""

    start_ns: int
    stop_ns: int
    flow_ports: list[int]
    hosts: dict[str, HostPlan]
    sources: list[SourceSpec]


@dataclass
class SentCounts:
    """Packets that one item of traffic sent."""

    name: str
    sent_pkts: int = 0
    sent_bytes: int = 0
    failed_pkts: int = 0
    """The kernel took no more, or the interface was down."""
    most_late_ns: int = 0


@dataclass
class Source:
    """Packets of one item of traffic, sent in turn."""

    counts: SentCounts
    frames: list[tuple[bytes, int]]
    """Bytes, and the time to the next frame in ps."""
    left: int
    due_ps: int
    end_ps: int
    at: int = 0

    @classmethod
    def of(cls, spec: SourceSpec) -> Source:
        """From the engine's description."""
        frames = [(bytes.fromhex(frame["hex"]) + bytes(frame["zeros"]), frame["gap_ps"]) for frame in spec["frames"]]
        counts = SentCounts(spec["name"])
        return cls(counts, frames, spec["count"], spec["start_ns"] * 1000, spec["end_ns"] * 1000)

    @property
    def is_over(self) -> bool:
        """Whether everything is sent."""
        return self.left == 0 or self.due_ps >= self.end_ps

    def send(self, link: socket.socket, now_ns: int) -> None:
        """Sends the next frame."""
        (frame, gap_ps), counts = self.frames[self.at], self.counts
        try:
            link.send(frame)
        except OSError:
            counts.failed_pkts += 1
        else:
            counts.sent_pkts += 1
            counts.sent_bytes += len(frame)
            counts.most_late_ns = max(counts.most_late_ns, now_ns - self.due_ps // 1000)
        self.at = (self.at + 1) % len(self.frames)
        self.left -= 1
        self.due_ps += gap_ps


@dataclass
class Arrivals:
    """Packets that arrived."""

    snap_bytes: int
    max_packets: int
    delivered_pkts: int = 0
    refused_address_pkts: int = 0
    refused_malformed_pkts: int = 0
    left_out: int = 0
    rows: list[tuple[int, str, int, str]] = field(default_factory=list[tuple[int, str, int, str]])
    """Time in ns, cause, length in bytes, first bytes."""

    def take(self, frame: bytes, now_ns: int, own_ipv4: bytes, flow_ports: list[int]) -> None:
        """Counts a frame; keeps it unless it belongs to a flow."""
        cause = "protocol"
        if _is_of_flow(frame, flow_ports):
            if frame[30:34] == own_ipv4:
                self.delivered_pkts += 1
                return
            cause = "address"
            self.refused_address_pkts += 1
        else:
            self.refused_malformed_pkts += 1
        if len(self.rows) < self.max_packets:
            self.rows.append((max(0, now_ns), cause, len(frame), frame[: self.snap_bytes].hex()))
        elif self.max_packets:
            self.left_out += 1


def _is_of_flow(frame: bytes, flow_ports: list[int]) -> bool:
    """Whether a frame is one of the scenario's flows: IPv4 with UDP or TCP from or to one of their ports."""
    if len(frame) < ETHERNET_BYTES + 20 or int.from_bytes(frame[12:14], "big") != _IPV4 or frame[14] >> 4 != 4:
        return False
    header = ETHERNET_BYTES + 4 * (frame[14] & 15)
    if frame[23] not in (_UDP, _TCP) or len(frame) < header + 4:
        return False
    ports = int.from_bytes(frame[header : header + 2], "big"), int.from_bytes(frame[header + 2 : header + 4], "big")
    return any(port in flow_ports for port in ports)


class _Ended(BaseException):
    """SIGTERM."""


def _end(_signal: int, _frame: object) -> None:
    raise _Ended


def run(plan: PacketPlan, host: HostPlan, link: socket.socket, sources: list[Source], arrivals: Arrivals) -> None:
    """Sends and receives to the end."""
    start_ns = monotonic_at(plan["start_ns"])
    own_ipv4 = socket.inet_aton(host["ipv4"])
    due = [(source.due_ps, number) for number, source in enumerate(sources) if not source.is_over]
    heapq.heapify(due)
    linger_ns = plan["stop_ns"] if not due else None
    poll = select.poll()
    poll.register(link, select.POLLIN)
    while True:
        now_ns = time.monotonic_ns() - start_ns
        while due and due[0][0] <= now_ns * 1000:
            source = sources[heapq.heappop(due)[1]]
            source.send(link, now_ns)
            if not source.is_over:
                heapq.heappush(due, (source.due_ps, sources.index(source)))
            now_ns = time.monotonic_ns() - start_ns
        if not due and linger_ns is None:
            linger_ns = now_ns + LINGER_NS
        until_ns = min(plan["stop_ns"], linger_ns or plan["stop_ns"])
        if now_ns >= until_ns:
            return
        next_ns = min(due[0][0] // 1000, until_ns) if due else until_ns
        if poll.poll(max(0.0, (next_ns - now_ns) / 1e6)):
            _receive(link, plan["start_ns"], own_ipv4, plan["flow_ports"], arrivals)


def _receive(link: socket.socket, start_ns: int, own_ipv4: bytes, flow_ports: list[int], arrivals: Arrivals) -> None:
    """Takes waiting packets, up to a bound so that sending continues; `start_ns` is since 1970.

    The time of an arrival is the kernel's: a busy machine reads packets later.
    """
    for _ in range(64):
        try:
            frame, ancillary, _, address = link.recvmsg(65_535, socket.CMSG_SPACE(_TIMESPEC.size))
        except BlockingIOError:
            return
        except OSError:
            # The interface went down; it may come up again.
            time.sleep(0.001)
            return
        if address[2] != OUTGOING:
            seconds, ns = _TIMESPEC.unpack(ancillary[0][2])
            arrivals.take(frame, seconds * 1_000_000_000 + ns - start_ns, own_ipv4, flow_ports)


def main(path: str, name: str) -> int:
    """The process."""
    signal.signal(signal.SIGTERM, _end)
    plan: PacketPlan = json.loads(Path(path).read_text(encoding="utf-8"))
    host = plan["hosts"][name]
    sources = [Source.of(spec) for spec in plan["sources"] if spec["host"] == name]
    record = host["record"] or {"snap_bytes": 0, "max_packets": 0}
    arrivals = Arrivals(record["snap_bytes"], record["max_packets"])
    try:
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_PROTOCOLS)) as link:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_BYTES)
            link.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
            link.bind((host["interface"], ALL_PROTOCOLS))
            link.setblocking(False)
            run(plan, host, link, sources, arrivals)
    except _Ended:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    results = {"sent": [asdict(source.counts) for source in sources], "received": asdict(arrivals)}
    Path(host["out"]).write_text(json.dumps(results), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
