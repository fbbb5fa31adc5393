"""A case's lossless fabric: switches' buffers, the P4 program's data about ports, RDMA-like flows' configuration."""

from __future__ import annotations

from fnmatch import fnmatchcase
from math import log2
from typing import TYPE_CHECKING, cast

from controller.port_settings import host_rates_bps
from controller.telemetry import rate_codes, unit_shift

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from p4cc import spec
    from p4cc.planning.units import Units
    from p4cc.scenario.base import Parameter
    from p4cc.scenario.fabric import BufferSettings
    from p4cc.scenario.schema import RdmaTransport, SwitchSettings
    from topos import Link, Port, Topology

MAX_REQUEST_RECORDS = 6
"""Hops that a rate request may have room for (docs/reference/wire-format.md, extension 3)."""

PAUSE_FRAME_BYTES = 64
"""A smallest Ethernet frame, as the engine sends them."""

_FRAMES_AHEAD = 2
"""A pause and a resume frame of each lossless priority may be in front of a pause frame."""

_LEAST_SHARED_BYTES = 1 << 20
_SHARED_BYTES, _SHARED_RATE_BPS = 16 << 20, 50_000_000_000
_SHARED_BDPS = 4


def alpha_log2(buffer: BufferSettings, rate_bps: int, host_rate_bps: int) -> int:
    """A shift of 3 at the hosts' rate, one less for each doubling of it, not below 0.

    Source: docs/algorithms/pfc.md#pfc-parameters.
    """
    doublings = max(0, int(log2(rate_bps / host_rate_bps)))
    return min(max(0, buffer.alpha_log2), buffer.alpha_log2 + doublings)


def headroom_bytes(buffer: BufferSettings, link: Link, most_bytes: int) -> int:
    """Headroom of a port for each lossless priority: as the scenario says, or by its rule."""
    if not buffer.lossless_priorities:
        return 0
    if buffer.headroom_bytes is not None:
        return buffer.headroom_bytes
    if buffer.headroom_rule == "hpcc_ns3":
        # docs/algorithms/pfc.md#pfc-parameters
        return 3 * link.rate_bps * link.delay_ns // 8_000_000_000
    return enough_headroom_bytes(link, most_bytes, len(buffer.lossless_priorities))


def enough_headroom_bytes(link: Link, most_bytes: int, lossless: int) -> int:
    """What can still come over a link in one priority once its receiver finds that a pause is due.

    The packet itself that is too much; what comes while the pause frame waits for a packet of the largest size and for
    pause frames of the other priorities, and is sent; what is on the way in both directions meanwhile; and the packet
    that the neighbour has just begun.

    Source: docs/algorithms/pfc.md#headroom (IEEE 802.1Qbb).
    """
    packet = most_bytes + link.framing_bytes
    pauses = _FRAMES_AHEAD * lossless * (PAUSE_FRAME_BYTES + link.framing_bytes)
    on_the_way = -(-2 * link.rate_bps * link.delay_ns // 8_000_000_000)
    return 3 * packet + pauses + on_the_way


def buffer_bytes(
    buffer: BufferSettings, links: Sequence[Link], host_rate_bps: int, most_bytes: int, rtt_ns: int
) -> int:
    """All of a switch's buffer: as the scenario says, or what its ports set aside and HPCC's share of the rate.

    On long paths the shared part holds `_SHARED_BDPS` times what is in flight on a host's link.
    Source: docs/algorithms/pfc.md#pfc-parameters, #choice-long-paths.
    """
    if buffer.bytes is not None:
        return buffer.bytes
    aside = sum(headroom_bytes(buffer, link, most_bytes) + buffer.reserve_bytes for link in links)
    in_flight_bytes = host_rate_bps * rtt_ns // 8_000_000_000
    by_rate_bytes = _SHARED_BYTES * host_rate_bps // _SHARED_RATE_BPS
    shared = max(_LEAST_SHARED_BYTES, by_rate_bytes, _SHARED_BDPS * in_flight_bytes)
    return len(buffer.lossless_priorities) * aside + shared


def scheduler_of(switch: SwitchSettings, name: str, peer: str) -> spec.SchedulerSpec | None:
    """The last entry of `switch.schedulers` for a port of the switch `name` towards `peer`; None if there is none."""
    fits = [one for one in switch.schedulers if fnmatchcase(name, one.switch) and fnmatchcase(peer, one.to)]
    if not fits:
        return None
    queues = [cast("spec.QueueSpec", queue.model_dump(exclude_none=True)) for queue in fits[-1].queues]
    return {"unit": fits[-1].unit, "quantum_bytes": fits[-1].quantum_bytes, "queues": queues}


class FabricPlanner:
    """Plans the settings of ports and hosts of one topology, for the tables that the program has."""

    def __init__(self, topology: Topology, switch: SwitchSettings, units: Units, rtt_ns: int) -> None:
        """`rtt_ns` is the longest round trip of the empty network, without serialisation."""
        self._topology = topology
        self._switch = switch
        self._units = units
        self._rtt_ns = rtt_ns
        self._rates = sorted({link.rate_bps for link in topology.links})
        self._host_rates = host_rates_bps(topology)

    def telemetry(self) -> spec.IntTable:
        """The facts that a sender needs to read hop records."""
        return {
            "unit_shift": unit_shift(self._host_rates),
            "tick_ns": self._units.common_tick_ns(self._topology.switch_names),
            "rates_bps": {str(code): rate for code, rate in rate_codes(self._rates).items()},
        }

    def port(self, switch: str, port: Port, most_bytes: int) -> spec.SwitchPortSpec:
        """A switch port in the engine's description; `most_bytes` are those of the largest packet from IP on."""
        link = self._topology.links[port.link_index]
        made: spec.SwitchPortSpec = {
            "port": port.number,
            "queue_capacity_pkts": link.queue_capacity_pkts,
            "qdepth_unit": self._units.depth_unit(switch),
        }
        if (most := self._switch.queue_capacity_bytes) is not None:
            made["queue_capacity_bytes"] = most
        if (buffer := self._switch.buffer) is not None:
            made["headroom_bytes"] = headroom_bytes(buffer, link, most_bytes)
            made["alpha_log2"] = alpha_log2(buffer, link.rate_bps, self._host_rates[0])
        if (scheduler := scheduler_of(self._switch, switch, port.peer)) is not None:
            made["scheduler"] = scheduler
        return made

    def buffer(self, switch: str, most_bytes: int) -> spec.BufferSpec | None:
        """The shared buffer of a switch in the engine's description; `most_bytes` as for a port."""
        buffer = self._switch.buffer
        if buffer is None:
            return None
        links = [self._topology.links[port.link_index] for port in self._topology.ports[switch]]
        made: spec.BufferSpec = {
            "bytes": buffer_bytes(buffer, links, self._host_rates[-1], most_bytes, self._rtt_ns),
            "lossless_priorities": buffer.lossless_priorities,
            "reserve_bytes": buffer.reserve_bytes,
            "resume_offset_bytes": buffer.resume_offset_bytes,
            "pause_quanta": buffer.pause_quanta if buffer.pfc_expiry else None,
        }
        if (watchdog := buffer.watchdog) is not None:
            made["watchdog"] = {
                "detection_ns": watchdog.detection_ns,
                "restoration_ns": watchdog.restoration_ns,
                "action": watchdog.action,
            }
        return made

    def sender(
        self,
        transport: RdmaTransport,
        changes: Mapping[str, Parameter],
        algorithms: tuple[spec.AlgorithmSpec, spec.AlgorithmSpec | None],
        longest: tuple[int, int],
        pint_log_base: float | None,
    ) -> spec.RdmaConfig:
        """An RDMA-like flow's configuration: the transport, the sender's changes to it, its `algorithms`.

        `longest` are the base round-trip time in ns and the switches of the network's longest path. `pint_log_base` is
        None for a sender that does not read PINT.
        """
        base_rtt_ns, most_switches = longest
        records = min(max(1, most_switches), MAX_REQUEST_RECORDS)
        return transport.config(
            changes, self.telemetry(), algorithms, pint_log_base, request_records=records, base_rtt_ns=base_rtt_ns
        )
