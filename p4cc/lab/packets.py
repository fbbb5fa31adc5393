"""Packets of the user's own in a lab: what each host is told, and the tables of what they saw."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from p4cc.errors import UserError
from p4cc.lab.kernel_tcp import PORT as TCP_PORT
from p4cc.lab.packet_host import ETHERNET_BYTES
from p4cc.lab.processes import Program
from topos.mininet import MTU_BYTES

if TYPE_CHECKING:
    from pathlib import Path

    from p4cc.lab.standing import Lab

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


@dataclass(frozen=True)
class PacketsLeft:
    """Tables of `p4cc run`: `packets_sent`, `packets_received`, `hosts`."""

    tables: dict[str, pl.DataFrame]
    remarks: tuple[str, ...]


class HostPackets:
    """The programs of hosts that send packets of the user's own, or keep what arrives."""

    def __init__(self, lab: Lab, spec: dict[str, Any], folder: Path) -> None:
        """From the engine's description of the case; raises UserError for packets that no interface takes."""
        self._folder = folder
        self._sources: list[dict[str, Any]] = spec.get("packets") or []
        self._check_lengths(lab)
        record: dict[str, Any] | None = spec["record"].get("packets_received")
        recorded = set(record["hosts"]) if record is not None else set[str]()
        self.hosts = {
            host["name"]: {
                "ipv4": host["ipv4"],
                "interface": next(one.interface for one in lab.plan.network.hosts if one.name == host["name"]),
                "record": record if host["name"] in recorded else None,
                "out": str(folder / f"{host['name']}-packets.json"),
            }
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
        """Starts a program in each host; time 0 is `start_ns` since 1970."""
        if not self.hosts:
            return
        plan = {
            "start_ns": start_ns,
            "stop_ns": stop_ns,
            "flow_ports": [FLOW_PORT, TCP_PORT],
            "hosts": self.hosts,
            "sources": self._sources,
        }
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
        """Whether those that send have ended."""
        return all(self.programs[host].ended() is not None for host in self._senders)

    def stop(self) -> None:
        """Ends those that only receive."""
        for program in self.programs.values():
            program.stop()

    def left(self) -> tuple[PacketsLeft, list[str]]:
        """What all saw, and which of them failed."""
        sent: list[tuple[Any, ...]] = []
        received: list[tuple[Any, ...]] = []
        hosts: list[tuple[Any, ...]] = []
        remarks: list[str] = []
        failed: list[str] = []
        for host, program in self.programs.items():
            if program.ended() != 0:
                failed.append(f"{program.name} failed\n{program.last_words()}".rstrip())
                continue
            plain: dict[str, Any] = json.loads(
                (self._folder / f"{host}-packets.json").read_text(encoding="utf-8"),
            )
            for one in plain["sent"]:
                sent.append((one["name"], host, one["sent_pkts"], one["sent_bytes"], one["most_late_ns"]))
                if one["failed_pkts"]:
                    remarks.append(
                        f"{host} could not send {one['failed_pkts']} packets of {one['name']}: its link was "
                        "down, or the kernel took no more"
                    )
            seen = plain["received"]
            received += [(time_ns, host, *rest) for time_ns, *rest in seen["rows"]]
            hosts.append((host, *(seen[name] for name in list(_HOSTS)[1:])))
            if seen["left_out"]:
                remarks.append(
                    f"record.packets_received left out {seen['left_out']} packets of {host}; raise max_packets"
                )
        tables = {
            "packets_sent": pl.DataFrame(sent, schema=_SENT, orient="row"),
            "packets_received": pl.DataFrame(received, schema=_RECEIVED, orient="row").sort("time_ns"),
            "hosts": pl.DataFrame(hosts, schema=_HOSTS, orient="row"),
        }
        if self.programs:
            for name, table in tables.items():
                table.write_parquet(self._folder / f"{name}.parquet")
        return PacketsLeft(tables if self.programs else {}, tuple(remarks)), failed
