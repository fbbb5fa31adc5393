"""Settings of Bolt ports (`bolt.p4`), and the sessions by which notifications go back.

A notification is a copy that leaves by the port that its packet came in: one clone session for each port, in the
highest queue.

Source: docs/algorithms/bolt.md#bolt-switch.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from controller.entities import CloneKey, CloneSession
from controller.errors import check_ranges
from controller.features import PortName, PortTable

BOLT_PORTS = "bolt.ports"
SPEED_BITS = 20
FIRST_SESSION = 1024
"""`BOLT_FIRST_SESSION` of p4src/include/bolt_header.p4: that of port 0."""
HIGHEST_PRIORITY = 7
EXTENSION_BYTES = 12
"""Bytes that Bolt adds to a data packet."""
THRESHOLD_PKTS = 2
"""docs/algorithms/bolt.md#bolt-parameters."""
MOST_PLACES = 256


@dataclass(frozen=True)
class BoltPort:
    """The arguments of `bolt.p4`'s `set_port`, in its order."""

    link_kbps: int
    bytes_per_time: int
    threshold_bytes: int
    packet_bytes: int
    bytes_per_depth: int
    framing_bytes: int
    most_places: int
    offers_room: bool
    tells: bool


def bolt_port(
    *,
    rate_bps: int,
    packet_bytes: int,
    depth_bytes: int,
    threshold_bytes: int | None = None,
    most_places: int = MOST_PLACES,
    offers_room: bool = True,
    tells: bool = True,
    framing_bytes: int = 0,
    time_unit_ns: int = 1,
) -> BoltPort:
    """Plan one port; `depth_bytes` is the unit of queue depths. Raises PlannerError for a value that does not fit."""
    threshold_bytes = THRESHOLD_PKTS * packet_bytes if threshold_bytes is None else threshold_bytes
    speed = round(Fraction(rate_bps * time_unit_ns, 8_000_000_000) * (1 << SPEED_BITS))
    check_ranges(
        ("rate in kbit/s", rate_bps // 1000, 1, (1 << 32) - 1, "choose a rate from 1 kbit/s to 4 Tbit/s"),
        ("bytes for one unit of time", speed, 100, (1 << 32) - 1, "choose a rate that the fixed point can hold"),
        ("threshold_bytes", threshold_bytes, 1, (1 << 32) - 1, "give the size of a few packets in bytes"),
        ("packet_bytes", packet_bytes, 1, (1 << 16) - 1, "IP bytes of a full packet"),
        ("depth_bytes", depth_bytes, 1, 4095, "count cells (switch.qdepth_unit) if packets are larger"),
        ("framing_bytes", framing_bytes, 0, 255, "bytes that the link adds to an IP packet"),
        ("most_places", most_places, 0, (1 << 16) - 1, "tokens from ending flows, in packets"),
    )
    return BoltPort(
        rate_bps // 1000,
        speed,
        threshold_bytes,
        packet_bytes,
        depth_bytes,
        framing_bytes,
        most_places,
        offers_room,
        tells,
    )


class BoltSettings(PortTable):
    """Ports of `bolt.p4`; a port that is not named neither tells nor takes a flag away."""

    def __init__(self, ports: Mapping[PortName, BoltPort]) -> None:
        super().__init__(BOLT_PORTS, ports)

    def sessions(self, ports: Mapping[int, str]) -> tuple[CloneSession, ...]:
        """One session for each port of a switch, back by that port."""
        return tuple(
            CloneSession(CloneKey(FIRST_SESSION + port), ((port, 1),), class_of_service=HIGHEST_PRIORITY)
            for port in ports
        )
