"""Depth of a switch's queue over time, worked out from what its ports captured.

A packet is in the queue from its arrival until it begins to be sent, which is the link's delay and its own sending time
before it is seen to leave. Packets are identified by bytes after the IPv4 header that no switch changes.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl
from scapy.error import Scapy_Exception
from scapy.utils import RawPcapReader

from p4cc.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_IPV4 = b"\x08\x00"
_ETHERNET_BYTES = 14
_TCP, _UDP = 6, 17
# Ports, then the fixed part of our header (flow, sequence, timestamps, which make each packet one of its
# kind) without the extension's length, which a switch may change as it may UDP's.
_UDP_PARTS = ((0, 4), (8, 26), (27, 44))
# Ports and numbers; a segment that is sent again has another identification in its IP header.
_TCP_PARTS = ((0, 12),)
# Times are of the capture; leaving a little before arriving is the clock's grain.
_GRAIN_NS = 1_000_000


@dataclass(frozen=True)
class Port:
    """The port whose queue is looked at: what left it, and the link behind it."""

    left: Path
    delay_ns: int
    rate_bps: int | None


def depth_of(arrivals: Sequence[Path], port: Port, start_ns: int) -> tuple[pl.DataFrame, int]:
    """Columns `time_ns` (from `start_ns`, since 1970) and `depth_pkts`, a row per change; and packets that never left.

    Only UDP and TCP packets over IPv4 count, and of the arrivals only those to a destination that packets leave to.
    """
    departures = list(_packets(port.left))
    leaving: dict[bytes, deque[int]] = defaultdict(deque)
    for time_ns, key, _, ip_bytes in departures:
        sending_ns = 0 if port.rate_bps is None else ip_bytes * 8 * 1_000_000_000 // port.rate_bps
        leaving[key].append(time_ns - port.delay_ns - sending_ns)
    destinations = {destination for _, _, destination, _ in departures}
    changes: list[tuple[int, int]] = []
    lost = 0
    for path in arrivals:
        for time_ns, key, destination, _ in _packets(path):
            if destination not in destinations:
                continue
            times = leaving.get(key)
            if not times:
                lost += 1
            elif (begins := times.popleft()) > time_ns - _GRAIN_NS:
                changes += [(time_ns - start_ns, 1), (max(begins, time_ns) - start_ns, -1)]
    # A packet that is sent at once was never waiting: of one instant, leaving comes first in the sum.
    changes.sort()
    frame = pl.DataFrame(changes, schema={"time_ns": pl.Int64, "change": pl.Int64}, orient="row")
    depth = frame.group_by("time_ns").agg(pl.col("change").sum()).sort("time_ns")
    return depth.select("time_ns", depth_pkts=pl.col("change").cum_sum()), lost


def _packets(path: Path) -> Iterator[tuple[int, bytes, bytes, int]]:
    """Time since 1970 in ns, key, destination, IP bytes of UDP and TCP packets of a capture; raises UserError."""
    try:
        reader = RawPcapReader(str(path))
    except (OSError, ValueError, EOFError, Scapy_Exception) as error:
        raise UserError(f"cannot be read as a capture: {error}", place=str(path), remedy="run the lab again") from error
    with reader:
        for data, meta in reader:
            begin = _ETHERNET_BYTES + (data[_ETHERNET_BYTES] & 15) * 4 if len(data) > 34 else 0
            if begin == 0 or data[12:14] != _IPV4 or data[23] not in (_TCP, _UDP):
                continue
            is_tcp = data[23] == _TCP
            parts = _TCP_PARTS if is_tcp else _UDP_PARTS
            fraction_ns = meta.usec if reader.nano else meta.usec * 1_000
            key = data[30:34] + b"".join(data[begin + first : begin + last] for first, last in parts)
            if is_tcp:
                key += data[18:20] + data[26:30]
            yield meta.sec * 1_000_000_000 + fraction_ns, key, data[30:34], int.from_bytes(data[16:18], "big")
