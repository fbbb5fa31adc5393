"""Flows over the kernel's TCP at one host of a lab: `python -m p4cc.lab.tcp_host PLAN.json HOST`, in its namespace.

Writes lines as `p4cc-agent` does: the ends of flows, and samples of windows from TCP_INFO. Imports the standard library
only: every host starts one. Exit code 0 when all its flows are complete, 1 otherwise.
"""

from __future__ import annotations

import contextlib
import json
import selectors
import socket
import struct
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, TypedDict, cast

from p4cc.lab.clock import monotonic_at

if TYPE_CHECKING:
    from p4cc.json_data import JsonObject

TCP_WINDOW_CLAMP = 10
DEADLINE = 0x7034
"""The option of p4cc's senders (docs/how-to/linux-hosts.md)."""
INFO_BYTES = 256
SO_RCVBUFFORCE = 33
RECEIVE_BUFFERS, MIN_RECEIVE_BUFFER_BYTES = 4, 1 << 16
"""A fixed buffer, which the kernel does not size: room for the bookkeeping of a full window."""
MAX_BYTES = (1 << 30) - 1
"""The kernel's largest buffer, as a C int that it doubles; TCP's largest window is a little less (RFC 7323)."""
TIMESTAMPS_BYTES = 12
"""Options in each segment, which the kernel counts into its maximum segment size."""
ZEROS = memoryview(bytes(1 << 16))
ROUNDS = 16
"""Reads or writes of one flow before the next flow's turn."""
BACKLOG = 4_096
# struct tcp_info of linux/tcp.h: offsets of what is read here.
_RTO_US, _SSTHRESH, _CWND, _RTT_US, _UNACKED = 8, 76, 80, 68, 24
_TOTAL_RETRANS, _BYTES_ACKED, _DATA_SEGS_OUT, _TOTAL_RTO = 100, 120, 156, 240
_INFINITE_SSTHRESH = 0x7FFFFFFF


class FlowPlan(TypedDict):
    """A flow in the plan."""

    id: int
    src: str
    dst: str
    size_bytes: int | None
    """None for a flow without an end."""
    start_ns: int
    congestion: str
    """The kernel's name of its congestion control."""
    mss_bytes: int
    deadline_ns: int | None
    """Time from its start by which it should be complete, where its sender knows deadlines."""


class TcpSettings(TypedDict):
    """Settings of all hosts; `start_ns` is since 1970, the other times since then."""

    start_ns: int
    stop_ns: int
    sample_ns: int | None
    port: int
    window_bytes: int


class TcpPlan(TypedDict):
    """The plan of all hosts."""

    hosts: dict[str, str]
    """Addresses."""
    flows: list[FlowPlan]
    tcp: TcpSettings


@dataclass
class Info:
    """The kernel's TCP_INFO of a connection."""

    data: bytes

    @classmethod
    def of(cls, connection: socket.socket) -> Info:
        """The present one."""
        return cls(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, INFO_BYTES))

    def u32(self, offset: int) -> int:
        """A field of 32 bits."""
        return int(struct.unpack_from("=I", self.data, offset)[0])

    @property
    def acked_bytes(self) -> int:
        """SYN and FIN included."""
        return int(struct.unpack_from("=Q", self.data, _BYTES_ACKED)[0])

    @property
    def timeouts(self) -> int | None:
        """None on kernels before 6.7, which do not report it."""
        if len(self.data) < _TOTAL_RTO + 2:
            return None
        return int(struct.unpack_from("=H", self.data, _TOTAL_RTO)[0])


@dataclass
class Flow:
    """A flow that this host sends."""

    plan: FlowPlan
    left: int | None = field(init=False)
    """Bytes to be sent; None without an end."""
    has_deadline: bool = False
    """Whether the sender was told of one."""
    connection: socket.socket | None = None
    port: int | None = None
    """Of this end, once it is open."""
    started_ns: int = 0
    finished_ns: int | None = None
    failed: str | None = None
    last: Info | None = None

    def __post_init__(self) -> None:
        self.left = self.plan["size_bytes"]

    @property
    def is_over(self) -> bool:
        """Complete, or failed."""
        return self.finished_ns is not None or self.failed is not None

    def acked_bytes(self) -> int:
        """Payload bytes that are acknowledged."""
        size = self.plan["size_bytes"]
        if self.finished_ns is not None and size is not None:
            return size
        if self.last is None:
            return 0
        acked = max(0, self.last.acked_bytes - 1)
        return acked if size is None else min(size, acked)

    def end_line(self) -> JsonObject:
        """The line of its end."""
        info = self.last
        return {
            "type": "flow",
            "flow": self.plan["id"],
            "port": self.port,
            "start_ns": self.started_ns,
            "fct_ns": None if self.finished_ns is None else self.finished_ns - self.started_ns,
            "acked_bytes": self.acked_bytes(),
            "data_pkts": 0 if info is None else info.u32(_DATA_SEGS_OUT),
            "retransmitted_segments": 0 if info is None else info.u32(_TOTAL_RETRANS),
            "timeouts": None if info is None else info.timeouts,
            "fast_retransmits": None,
        }


class Host:
    """All flows of one host."""

    def __init__(self, plan: TcpPlan, name: str, metrics: TextIO) -> None:
        self._tcp = plan["tcp"]
        self._window_bytes = min(self._tcp["window_bytes"], MAX_BYTES)
        self._addresses = plan["hosts"]
        self._metrics = metrics
        self._start_ns = monotonic_at(self._tcp["start_ns"])
        self._waiting = sorted(
            (Flow(flow) for flow in plan["flows"] if flow["src"] == name), key=lambda flow: flow.plan["start_ns"]
        )
        self.flows = list(self._waiting)
        arriving = [flow["size_bytes"] is not None for flow in plan["flows"] if flow["dst"] == name]
        self._incoming = sum(arriving)
        """Flows that arrive here and whose end is waited for."""
        self._receives_endless = not all(arriving)
        self._select = selectors.DefaultSelector()
        if arriving:
            self._listen(self._addresses[name])

    def _now_ns(self) -> int:
        return time.monotonic_ns() - self._start_ns

    def _listen(self, address: str) -> None:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # The least window of all flows; connections inherit it.
        buffer_bytes = min(RECEIVE_BUFFERS * self._window_bytes + MIN_RECEIVE_BUFFER_BYTES, MAX_BYTES)
        listener.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, buffer_bytes)
        listener.setsockopt(socket.IPPROTO_TCP, TCP_WINDOW_CLAMP, self._window_bytes)
        listener.setblocking(False)
        listener.bind((address, self._tcp["port"]))
        listener.listen(BACKLOG)
        self._select.register(listener, selectors.EVENT_READ, None)

    def run(self) -> bool:
        """Runs to the end of all flows, or the plan's; returns whether all are complete."""
        stop_ns, sample_ns = self._tcp["stop_ns"], self._tcp["sample_ns"]
        next_sample_ns = 0 if sample_ns else stop_ns
        while self._incoming or self._receives_endless or any(not flow.is_over for flow in self.flows):
            now_ns = self._now_ns()
            if now_ns >= stop_ns:
                break
            while self._waiting and self._waiting[0].plan["start_ns"] <= now_ns:
                self._open(self._waiting.pop(0))
            if sample_ns and now_ns >= next_sample_ns:
                self._sample(now_ns)
                next_sample_ns += ((now_ns - next_sample_ns) // sample_ns + 1) * sample_ns
            until_ns = min(stop_ns, next_sample_ns)
            if self._waiting:
                until_ns = min(until_ns, self._waiting[0].plan["start_ns"])
            for key, _ in self._select.select(max(0.0, (until_ns - self._now_ns()) / 1e9)):
                self._ready(key)
        for flow in self.flows:
            self._note(flow)
            self._write(flow.end_line())
        ending = [flow for flow in self.flows if flow.plan["size_bytes"] is not None or flow.failed is not None]
        return self._incoming <= 0 and all(flow.finished_ns is not None for flow in ending)

    def _open(self, flow: Flow) -> None:
        connection = socket.socket()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, flow.plan["congestion"].encode())
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, flow.plan["mss_bytes"] + TIMESTAMPS_BYTES)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setblocking(False)
        flow.connection, flow.started_ns = connection, self._now_ns()
        self._select.register(connection, selectors.EVENT_WRITE, flow)
        with contextlib.suppress(BlockingIOError):
            connection.connect((self._addresses[flow.plan["dst"]], self._tcp["port"]))
        flow.port = int(connection.getsockname()[1])

    def _ready(self, key: selectors.SelectorKey) -> None:
        ready = cast("socket.socket", key.fileobj)
        if key.data is None:
            with contextlib.suppress(BlockingIOError):
                connection, _ = ready.accept()
                connection.setblocking(False)
                self._select.register(connection, selectors.EVENT_READ, "arrives")
        elif isinstance(key.data, Flow):
            self._send(key.data, ready)
        elif _read(ready):
            self._hold_window(ready)
        else:
            self._select.unregister(ready)
            ready.close()
            self._incoming -= 1

    def _hold_window(self, connection: socket.socket) -> None:
        """Sets the receiver's window again where the kernel has replaced it.

        It does so when it first sees how much memory a segment takes, and later only where it sizes the buffer itself.
        """
        if connection.getsockopt(socket.IPPROTO_TCP, TCP_WINDOW_CLAMP) > self._window_bytes:
            connection.setsockopt(socket.IPPROTO_TCP, TCP_WINDOW_CLAMP, self._window_bytes)

    def _send(self, flow: Flow, connection: socket.socket) -> None:
        """Sends as much as the kernel takes; after all data, waits until the receiver closes."""
        try:
            self._set_deadline(flow, connection)
            for _ in range(ROUNDS):
                if flow.left == 0:
                    break
                if flow.left is None:
                    connection.send(ZEROS)
                else:
                    flow.left -= connection.send(ZEROS[: min(flow.left, len(ZEROS))])
            if flow.left != 0:
                return
            if self._select.get_key(connection).events == selectors.EVENT_WRITE:
                connection.shutdown(socket.SHUT_WR)
                self._select.modify(connection, selectors.EVENT_READ, flow)
            elif not _read(connection):
                flow.finished_ns = self._now_ns()
        except BlockingIOError:
            return
        except OSError as error:
            flow.failed = error.strerror or str(error)
            print(f"flow {flow.plan['id']}: {flow.failed}", file=sys.stderr)
        if flow.is_over:
            self._note(flow)
            self._select.unregister(connection)
            connection.close()
            flow.connection = None

    def _set_deadline(self, flow: Flow, connection: socket.socket) -> None:
        """Sets a flow's deadline before its first byte; raises OSError."""
        deadline_ns, size = flow.plan["deadline_ns"], flow.plan["size_bytes"]
        if flow.has_deadline or deadline_ns is None or size is None:
            return
        flow.has_deadline = True
        # Zero would be none.
        left_ns = max(1, flow.started_ns + deadline_ns - self._now_ns())
        connection.setsockopt(socket.IPPROTO_TCP, DEADLINE, struct.pack("=QQ", size, left_ns))

    def _note(self, flow: Flow) -> None:
        if flow.connection is not None:
            flow.last = Info.of(flow.connection)

    def _sample(self, now_ns: int) -> None:
        for flow in self.flows:
            if flow.connection is None:
                continue
            info = flow.last = Info.of(flow.connection)
            ssthresh = info.u32(_SSTHRESH)
            self._write(
                {
                    "type": "sample",
                    "flow": flow.plan["id"],
                    "time_ns": now_ns,
                    "cwnd_segments": float(info.u32(_CWND)),
                    "ssthresh_segments": None if ssthresh >= _INFINITE_SSTHRESH else float(ssthresh),
                    "flight_segments": info.u32(_UNACKED),
                    "srtt_ns": info.u32(_RTT_US) * 1_000,
                    "rto_ns": info.u32(_RTO_US) * 1_000,
                    "acked_bytes": flow.acked_bytes(),
                }
            )

    def _write(self, line: JsonObject) -> None:
        self._metrics.write(json.dumps(line) + "\n")


def _read(connection: socket.socket) -> bool:
    """Reads what has arrived; False at the end of the stream."""
    try:
        for _ in range(ROUNDS):
            if not connection.recv(1 << 16):
                return False
    except BlockingIOError:
        return True
    except OSError:
        return False
    return True


def main(path: str, name: str, metrics: str) -> int:
    """The process."""
    plan = json.loads(Path(path).read_text(encoding="utf-8"))
    with Path(metrics).open("w", encoding="utf-8") as file:
        return 0 if Host(plan, name, file).run() else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
