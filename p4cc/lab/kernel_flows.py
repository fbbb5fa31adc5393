"""Flows of a lab over the kernel's TCP: their senders, the programs that open them, and the marks they met."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from p4cc.errors import UserError
from p4cc.lab.ack_records import AckRecords
from p4cc.lab.kernel_tcp import KNOWN, PORT, configure, is_loaded, remark, shape, tcp_command, tcp_plan
from p4cc.lab.linux_senders import linux_senders
from p4cc.lab.processes import Program

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence
    from pathlib import Path

    from p4cc.lab.flows import PlannedFlow
    from p4cc.lab.lab import Lab
    from p4cc.lab.linux_senders import LinuxSenders


@dataclass(frozen=True)
class Marks:
    """Marked packets that a flow's receiver got, by level."""

    level1: int
    level2: int


@dataclass(frozen=True)
class Counted:
    """Marks by flow, and remarks on those that are unknown."""

    marks: Mapping[int, Marks]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class KernelFlows:
    """Flows over TCP, whose senders are in the kernel."""

    lab: Lab
    flows: Sequence[PlannedFlow]
    network: dict[str, Any]
    senders: LinuxSenders | None
    """p4cc's; None where the kernel's own serve all flows."""

    @property
    def hosts(self) -> list[str]:
        """Hosts that send or receive, each once."""
        return list(dict.fromkeys(host for flow in self.flows for host in (flow["src"], flow["dst"])))

    def remarks(self, line_rates_bps: Mapping[str, int]) -> Iterator[str]:
        """Limits hosts to their links' rates; remarks for readers of the results."""
        for loaded in (False, True):
            labels = {flow.get("class", "") for flow in self.flows if self._is_loaded(flow) == loaded}
            if labels:
                yield remark(sorted(labels), loaded=loaded)
        yield from shape(self.lab.built, {host: line_rates_bps[host] for host in self.hosts if host in line_rates_bps})

    def programs(
        self, addresses: dict[str, str], folder: Path, start_ns: int, sample_ms: int | None
    ) -> dict[str, Program]:
        """The program of each host, by its name."""
        case = self.lab.plan.case
        if not self.flows or case is None:
            return {}
        if self.senders is not None:
            self.senders.watch(folder / "records.ndjson")
        configure(self.lab.built, str(self.lab.plan.file), self.flows, self.network)
        stop_ns = case.scenario.stop_ns
        # The option that sets a deadline is that of p4cc's senders.
        flows = [flow if self._is_loaded(flow) else {**flow, "deadline_ns": None} for flow in self.flows]
        plan = tcp_plan(addresses, flows, self.network, start_ns, stop_ns, sample_ms, self._kernel_name)
        (folder / "tcp.json").write_text(json.dumps(plan, indent=1), encoding="utf-8")
        made: dict[str, Program] = {}
        for host in self.hosts:
            name = f"{host}-tcp"
            words = [*self.lab.built.enter(host), *tcp_command(folder / "tcp.json", host, folder / f"{name}.jsonl")]
            if self.senders is not None:
                words = self.senders.inside(words)
            made[name] = Program(f"TCP of {host}", words, folder / f"{name}.log", keeps_running=False)
        return made

    def records(self, addresses: Mapping[str, str], lines: Sequence[Mapping[str, Any]], start_ns: int) -> AckRecords:
        """Records of each ACK of p4cc's senders; `start_ns` is since 1970."""
        if self.senders is None:
            return AckRecords(())
        ports = _ports(lines)
        ends = {
            (f"{addresses[flow['src']]}:{ports.get(flow['id'])}", f"{addresses[flow['dst']]}:{PORT}"): flow["id"]
            for flow in self.flows
        }
        found = self.senders.records(ends, start_ns)
        sizes = {flow["id"]: flow.get("size_bytes") for flow in self.flows}
        for row in found.rows:
            if (size := sizes[row["flow"]]) is not None:
                # FIN counts in the kernel.
                row["acked_bytes"] = min(row["acked_bytes"], size)
        return found

    def marks(self, addresses: Mapping[str, str], lines: Sequence[Mapping[str, Any]]) -> Counted:
        """What receivers counted, by flow; flows of the kernel's own senders have none."""
        if self.senders is None:
            return Counted({})
        try:
            counted = self.senders.counted()
        except UserError as error:
            return Counted({}, (f"marks of the kernel's senders are unknown: {error.cause}",))
        ports = _ports(lines)
        found: dict[int, Marks] = {}
        for flow in self.flows:
            one = counted.get(f"{addresses[flow['src']]}:{ports.get(flow['id'])}")
            if one is not None and one["local"] == f"{addresses[flow['dst']]}:{PORT}":
                found[flow["id"]] = Marks(one["received_k"], one["received_kdc"])
        missing = sum(flow["id"] not in found for flow in self.flows if self._is_loaded(flow))
        return Counted(found, (f"marks of {missing} flows of the kernel's senders are unknown",) if missing else ())

    def _is_loaded(self, flow: PlannedFlow) -> bool:
        return self.senders is not None and _is_loaded(self.lab, self.network["algorithms"][flow["algorithm"]])

    def load(self) -> None:
        """Loads the senders, which takes its time; raises UserError."""
        for flow in self.flows:
            self._kernel_name(self.network["algorithms"][flow["algorithm"]])

    def _kernel_name(self, sender: Mapping[str, Any]) -> str:
        """The kernel's name of a sender of the engine's description."""
        if self.senders is not None and _is_loaded(self.lab, sender):
            return self.senders.load(sender)
        return KNOWN[sender["cc"]["congestion_avoidance"]["name"]]


def _ports(lines: Sequence[Mapping[str, Any]]) -> dict[int, int]:
    """The sender's port of each flow."""
    return {line["flow"]: line["port"] for line in lines if line.get("type") == "flow" and "port" in line}


def _is_loaded(lab: Lab, sender: Mapping[str, Any]) -> bool:
    """Whether p4cc's sender serves this one of the engine's description."""
    cc = sender["cc"]
    return is_loaded(cc["congestion_avoidance"]["name"], cc["slow_start"]["name"], lab.plan.hosts)


@contextmanager
def kernel_flows(lab: Lab, flows: Sequence[PlannedFlow], network: dict[str, Any]) -> Generator[KernelFlows]:
    """The flows of a lab that TCP sends, with p4cc's senders loaded for those that need them; raises UserError."""
    if not any(_is_loaded(lab, network["algorithms"][flow["algorithm"]]) for flow in flows):
        yield KernelFlows(lab, flows, network, None)
        return
    watched = network["record"]["windows_interval_ns"] is not None
    with linux_senders(str(lab.plan.file), watched=watched) as senders:
        made = KernelFlows(lab, flows, network, senders)
        made.load()
        yield made
