"""The user's packets in a lab: plans for the hosts, and the tables of what they saw."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, NotRequired, TypedDict

import polars as pl

from p4cc.errors import UserError
from p4cc.lab.kernel_tcp import PORT as TCP_PORT
from p4cc.lab.packet_host import ETHERNET_BYTES, Arrivals, HostPlan, PacketPlan, RecordSpec, SentCounts, SourceSpec
from p4cc.lab.processes import Program
from topos.mininet import MTU_BYTES

if TYPE_CHECKING:
    from pathlib import Path

    from p4cc.lab.lab import Lab

FLOW_PORT = 0xCC00
"""UDP port of p4cc's flows (docs/reference/wire-format.md)."""
_MODULE = "p4cc.lab.packet_host"
_SENT = {
    "class": pl.String,
    "host": pl.String,
    "sent_pkts": pl.Int64,
    "sent_bytes": pl.Int64,
    "most_late_ns": pl.Int64,
}
_RECEIVED = {
    "time_ns": pl.Int64,
    "host": pl.String,
    "cause": pl.String,
    "length_bytes": pl.Int64,
    "bytes": pl.String,
}
_HOSTS = {
    "host": pl.String,
    "delivered_pkts": pl.Int64,
    "refused_address_pkts": pl.Int64,
    "refused_malformed_pkts": pl.Int64,
}


class _RecordSpec(RecordSpec):
    hosts: list[str]


class _RecordsSpec(TypedDict):
    packets_received: NotRequired[_RecordSpec | None]


class _HostSpec(TypedDict):
    name: str
    ipv4: str


class PacketSpec(TypedDict):
    """Packets in the engine's description of a case."""

    packets: NotRequired[list[SourceSpec] | None]
    record: _RecordsSpec
    hosts: list[_HostSpec]


@dataclass(frozen=True)
class PacketTables:
    """Tables of `p4cc run`: `packets_sent`, `packets_received`, `hosts`."""

    tables: dict[str, pl.DataFrame]
    remarks: tuple[str, ...]


class HostPackets:
    """The hosts' programs that send the user's packets, or record arrivals."""

    def __init__(self, lab: Lab, spec: PacketSpec, folder: Path) -> None:
        """From the engine's description of the case; raises UserError for packets that are too short or long."""
        self._folder = folder
        self._sources = spec.get("packets") or []
        self._check_lengths(lab)
        record = spec["record"].get("packets_received")
        recorded = set(record["hosts"]) if record is not None else set[str]()
        self.hosts = {
            host["name"]: HostPlan(
                ipv4=host["ipv4"],
                interface=next(one.interface for one in lab.plan.network.hosts if one.name == host["name"]),
                record=record if host["name"] in recorded else None,
                out=str(folder / f"{host['name']}-packets.json"),
            )
            for host in spec["hosts"]
            if self._sources or record is not None
        }
        self._senders = {source["host"] for source in self._sources}
        self.programs: dict[str, Program] = {}

    def _check_lengths(self, lab: Lab) -> None:
        longest = MTU_BYTES + ETHERNET_BYTES
        for source in self._sources:
            for number, frame in enumerate(source["frames"]):
                length = len(frame["hex"]) // 2 + frame["zeros"]
                if not ETHERNET_BYTES <= length <= longest:
                    raise UserError(
                        f"packet {number} of {source['name']} has {length} bytes",
                        place=f"{lab.plan.file} at traffic",
                        remedy=f"interfaces of a lab take {ETHERNET_BYTES} to {longest} bytes, Ethernet included",
                    )

    def start(self, lab: Lab, start_ns: int, stop_ns: int) -> None:
        """Starts a program in each host; `start_ns` is since 1970."""
        if not self.hosts:
            return
        plan = PacketPlan(
            start_ns=start_ns,
            stop_ns=stop_ns,
            flow_ports=[FLOW_PORT, TCP_PORT],
            hosts=self.hosts,
            sources=self._sources,
        )
        path = self._folder / "packets.json"
        path.write_text(json.dumps(plan), encoding="utf-8")
        for host in self.hosts:
            words = [*lab.built.enter(host), sys.executable, "-m", _MODULE, str(path), host]
            log = self._folder / f"{host}-packets.log"
            program = Program(f"packets of {host}", words, log, keeps_running=False)
            program.start()
            self.programs[host] = program

    @property
    def have_sent(self) -> bool:
        """Whether all senders have ended."""
        return all(self.programs[host].ended() is not None for host in self._senders)

    def stop(self) -> None:
        """Ends the receivers."""
        for program in self.programs.values():
            program.stop()

    def left(self) -> tuple[PacketTables, list[str]]:
        """Tables of all hosts, and which hosts failed."""
        sent: list[tuple[object, ...]] = []
        received: list[tuple[object, ...]] = []
        hosts: list[tuple[object, ...]] = []
        remarks: list[str] = []
        failed: list[str] = []
        for host, program in self.programs.items():
            if program.ended() != 0:
                failed.append(f"{program.name} failed\n{program.last_words()}".rstrip())
                continue
            results = json.loads((self._folder / f"{host}-packets.json").read_text(encoding="utf-8"))
            for counts in (SentCounts(**plain) for plain in results["sent"]):
                sent.append((counts.name, host, counts.sent_pkts, counts.sent_bytes, counts.most_late_ns))
                if counts.failed_pkts:
                    remarks.append(
                        f"{host} could not send {counts.failed_pkts} packets of {counts.name}: its link was "
                        "down, or the kernel took no more"
                    )
            arrivals = Arrivals(**results["received"])
            received += [(time_ns, host, *rest) for time_ns, *rest in arrivals.rows]
            hosts.append((host, *(getattr(arrivals, name) for name in list(_HOSTS)[1:])))
            if arrivals.left_out:
                remarks.append(
                    f"record.packets_received left out {arrivals.left_out} packets of {host}; raise max_packets"
                )
        tables = {
            "packets_sent": pl.DataFrame(sent, schema=_SENT, orient="row"),
            "packets_received": pl.DataFrame(received, schema=_RECEIVED, orient="row").sort("time_ns"),
            "hosts": pl.DataFrame(hosts, schema=_HOSTS, orient="row"),
        }
        if self.programs:
            for name, table in tables.items():
                table.write_parquet(self._folder / f"{name}.parquet")
        return PacketTables(tables if self.programs else {}, tuple(remarks)), failed
