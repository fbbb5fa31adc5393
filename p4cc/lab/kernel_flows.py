"""Flows of a lab over the kernel's TCP: their senders, the programs that open them, and the marks they met."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from p4cc.lab.kernel_tcp import KNOWN, PORT, configure, is_loaded, remark, shape, tcp_command, tcp_plan
from p4cc.lab.linux_senders import linux_senders
from p4cc.lab.processes import Program

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence
    from pathlib import Path

    from p4cc import spec
    from p4cc.lab.lab import Lab
    from p4cc.lab.linux_senders import LinuxSenders


@dataclass(frozen=True)
class Marks:
    """Marked packets that a flow's receiver got, by level."""

    level1: int
    level2: int


@dataclass(frozen=True)
class KernelFlows:
    """Flows over TCP, whose senders are in the kernel."""

    lab: Lab
    flows: Sequence[spec.FlowSpec]
    network: dict[str, Any]
    senders: LinuxSenders | None
    """p4cc's; None where the kernel's own serve all flows."""

    @property
    def hosts(self) -> list[str]:
        """Hosts that send or receive, each once."""
        return list(dict.fromkeys(host for flow in self.flows for host in (flow["src"], flow["dst"])))

    def remarks(self, line_rates_bps: Mapping[str, int]) -> Iterator[str]:
        """Limits hosts to their links' rates; remarks for readers of the results."""
        if not self.flows:
            return
        yield remark(sorted(self.lab.plan.kernel_tcp), by_p4cc=self.senders is not None)
        yield from shape(self.lab.built, {host: line_rates_bps[host] for host in self.hosts if host in line_rates_bps})

    def programs(
        self, addresses: dict[str, str], folder: Path, start_ns: int, sample_ms: int | None
    ) -> dict[str, Program]:
        """The program of each host, by its name."""
        case = self.lab.plan.case
        if not self.flows or case is None:
            return {}
        configure(self.lab.built, str(self.lab.plan.file), self.flows, self.network)
        stop_ns = case.scenario.stop_ns
        plan = tcp_plan(addresses, self.flows, self.network, start_ns, stop_ns, sample_ms, self._kernel_name)
        (folder / "tcp.json").write_text(json.dumps(plan, indent=1), encoding="utf-8")
        made: dict[str, Program] = {}
        for host in self.hosts:
            name = f"{host}-tcp"
            words = [*self.lab.built.enter(host), *tcp_command(folder / "tcp.json", host, folder / f"{name}.jsonl")]
            if self.senders is not None:
                words = self.senders.inside(words)
            made[name] = Program(f"TCP of {host}", words, folder / f"{name}.log", keeps_running=False)
        return made

    def marks(self, addresses: Mapping[str, str], lines: Sequence[Mapping[str, Any]]) -> dict[int, Marks]:
        """What receivers counted, by flow; flows of the kernel's own senders have none."""
        if self.senders is None:
            return {}
        counted = self.senders.counted()
        ports = {line["flow"]: line["port"] for line in lines if line.get("type") == "flow"}
        found: dict[int, Marks] = {}
        for flow in self.flows:
            one = counted.get(f"{addresses[flow['src']]}:{ports.get(flow['id'])}")
            if one is not None and one["local"] == f"{addresses[flow['dst']]}:{PORT}":
                found[flow["id"]] = Marks(one["received_k"], one["received_kdc"])
        return found

    def load(self) -> None:
        """Loads the senders, which takes its time; raises UserError."""
        for flow in self.flows:
            self._kernel_name(self.network["algorithms"][flow["algorithm"]])

    def _kernel_name(self, sender: Mapping[str, Any]) -> str:
        """The kernel's name of a sender of the engine's description."""
        window: str = sender["cc"]["congestion_avoidance"]["name"]
        slow_start: str = sender["cc"]["slow_start"]["name"]
        if self.senders is not None and is_loaded(window, slow_start, self.lab.plan.hosts):
            return self.senders.load(sender)
        return KNOWN[window]


@contextmanager
def kernel_flows(lab: Lab, flows: Sequence[spec.FlowSpec], network: dict[str, Any]) -> Generator[KernelFlows]:
    """The flows of a lab that TCP sends, with p4cc's senders loaded for those that need them; raises UserError."""
    configs = [network["algorithms"][flow["algorithm"]]["cc"] for flow in flows]
    needs = any(
        is_loaded(cc["congestion_avoidance"]["name"], cc["slow_start"]["name"], lab.plan.hosts) for cc in configs
    )
    if not needs:
        yield KernelFlows(lab, flows, network, None)
        return
    with linux_senders(str(lab.plan.file)) as senders:
        made = KernelFlows(lab, flows, network, senders)
        made.load()
        yield made
