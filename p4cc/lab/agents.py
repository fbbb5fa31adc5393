"""The hosts' programs of a lab: one `p4cc-agent` for each host that sends or receives, and what they leave.

The one place where an agent's command line is made is `agent_command`. The plan that all agents read is the engine's
description of the case, so the senders are those of virtual time; what an agent cannot send is said as a remark.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypedDict

import polars as pl

from p4cc.errors import UserError
from p4cc.lab.agent_run import AgentRun
from p4cc.lab.depth import Port, depth_of
from p4cc.lab.flows import not_given, planned_flows
from p4cc.lab.kernel_flows import kernel_flows
from p4cc.lab.own_agent import own_command
from p4cc.lab.packets import HostPackets
from p4cc.lab.processes import Program, events, how_ended
from p4cc.lab.switches import own_program
from topos.lab import LabEnd

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence
    from pathlib import Path

    from p4cc import spec
    from p4cc.lab.flows import PlannedFlow
    from p4cc.lab.kernel_flows import KernelFlows, Marks
    from p4cc.lab.lab import Lab
    from p4cc.user_algorithms.load import UserSender

SETTLE_NS = 1_000_000_000
"""Between their start and the plan's: agents must be ready, on a busy machine too."""
SETTLE_PER_HOST_NS = 50_000_000
SETTLE_PYTHON_NS = 600_000_000
"""In place of it for agents that load Python first; a host's agents start one after the other."""
SETTLE_TCP_NS = 300_000_000
"""In place of it for hosts with the kernel's TCP, whose programs are Python with its standard library."""
LINGER_MS = 1_000
"""An agent answers for so long after its last flow is complete: an ACK may have been lost."""
PATIENCE_S = 10.0
"""Beyond the scenario's end."""


_FLOWS = {
    **dict.fromkeys(("src", "dst"), pl.String),
    **dict.fromkeys(("flow_id", "size_bytes", "start_ns", "finish_ns", "acked_bytes", "timeouts"), pl.Int64),
    **dict.fromkeys(("marks_level1", "marks_level2", "deadline_ns", "deadline_met"), pl.Int64),
}
"""Of a lab without flows."""


class _AgentPlan(TypedDict):
    """The file that agents read; flows are there from the beginning, with their starts drawn."""

    hosts: dict[str, str]
    flows: list[PlannedFlow]
    seed: int
    algorithms: dict[str, spec.SenderConfig]
    rdma: dict[str, spec.RdmaConfig]


@dataclass
class _Plan:
    """The agents' plan."""

    plain: _AgentPlan
    line_rates_bps: dict[str, int]
    """By host that has a flow."""
    remarks: list[str] = field(default_factory=list[str])


def agent_command(
    host: str,
    plan: Path,
    metrics: Path,
    *,
    line_rate_bps: int | None,
    sample_ms: int | None,
    stop_ms: int,
    start_ns: int,
    own: Sequence[UserSender] = (),
) -> list[str]:
    """The words that start a host's agent; `start_ns` is since 1970. With algorithms in Python it is Python's."""
    if own:
        arguments = {
            "metrics": str(metrics),
            "start_at_ns": start_ns,
            "duration_ms": stop_ms,
            "linger_ms": LINGER_MS,
            "sample_ms": sample_ms,
            "line_rate_bps": line_rate_bps,
        }
        return own_command(plan, host, own, arguments)
    words = [own_program("p4cc-agent"), "run", "--plan", str(plan), "--host", host, "--metrics", str(metrics)]
    words += ["--start-at", str(start_ns), "--duration-ms", str(stop_ms), "--linger-ms", str(LINGER_MS)]
    if line_rate_bps is not None:
        words += ["--line-rate-bps", str(line_rate_bps)]
    if sample_ms is not None:
        words += ["--sample-ms", str(sample_ms)]
    return words


def run_agents(lab: Lab, spec_json: str, own: Sequence[UserSender] = ()) -> AgentRun:
    """Run the flows of the lab's case to their end or the scenario's; `own` are users' classes; raises UserError."""
    case = lab.plan.case
    if case is None:
        raise ValueError("an import has no flows")
    network = json.loads(spec_json)
    plan = _agent_plan(network, lab, case.scenario.seeds[0])
    own_flows, of_kernel = _by_sender(plan.plain["flows"], lab.plan.kernel_tcp)
    folder = lab.options.folder / "agents"
    folder.mkdir(parents=True, exist_ok=True)
    # Senders take seconds to load, before the time of the start is set.
    with kernel_flows(lab, of_kernel, network) as kernel:
        return _run(lab, plan, own_flows, kernel, HostPackets(lab, network, folder), own)


def _run(
    lab: Lab,
    plan: _Plan,
    flows: Sequence[PlannedFlow],
    kernel: KernelFlows,
    packets: HostPackets,
    own: Sequence[UserSender],
) -> AgentRun:
    """Starts all programs, waits for their end and collects what they wrote; `flows` are those of agents."""
    folder, network = lab.options.folder / "agents", kernel.network
    interval_ns, stop_ns = network["record"]["windows_interval_ns"], network["stop_ns"]
    stop_ms = max(1, stop_ns // 1_000_000)
    per_host_ns = SETTLE_PYTHON_NS if own else SETTLE_TCP_NS if kernel.flows else SETTLE_PER_HOST_NS
    settle_ns = SETTLE_NS + per_host_ns * len(plan.line_rates_bps) + SETTLE_PER_HOST_NS * len(packets.hosts)
    start_ns = time.time_ns() + settle_ns
    sample_ms = None if interval_ns is None else max(1, interval_ns // 1_000_000)
    plan.remarks += kernel.remarks(plan.line_rates_bps)
    programs = _agents(lab, plan, flows, start_ns, stop_ms, sample_ms, own)
    programs |= kernel.programs(plan.plain["hosts"], folder, start_ns, sample_ms)
    try:
        lab.begin(start_ns)
        packets.start(lab, start_ns, stop_ns)
        for program in programs.values():
            program.start()
            lab.programs[program.name] = program
        deadline = time.monotonic() + SETTLE_NS / 1e9 + stop_ms / 1e3 + LINGER_MS / 1e3 + PATIENCE_S
        failed = _wait(lab, programs, packets, deadline, _endless(flows))
    finally:
        for program in programs.values():
            program.stop()
        packets.stop()
    lines = [line for name in programs for line in events(folder / f"{name}.jsonl")]
    counted = kernel.marks(plan.plain["hosts"], lines)
    records = kernel.records(plan.plain["hosts"], lines, start_ns)
    plan.remarks += (*counted.remarks, *records.remarks)
    # Records of each ACK replace the samples of their flows.
    lines = [line for line in lines if line.get("type") != "sample" or line["flow"] not in records.flows]
    lines += [{"type": "sample", **row} for row in records.rows]
    run = _collected(lab, plan, lines, start_ns, failed, counted.marks)
    left, also_failed = packets.left()
    return replace(run, tables=left.tables, remarks=(*run.remarks, *left.remarks), failed=(*run.failed, *also_failed))


def _agents(
    lab: Lab,
    plan: _Plan,
    flows: Sequence[PlannedFlow],
    start_ns: int,
    stop_ms: int,
    sample_ms: int | None,
    own: Sequence[UserSender],
) -> dict[str, Program]:
    """The agent of each host that has such flows, by host; writes their plan."""
    folder = lab.options.folder / "agents"
    path = folder / "plan.json"
    plain = [{key: value for key, value in flow.items() if key != "class"} for flow in flows]
    path.write_text(json.dumps({**plan.plain, "flows": plain}, indent=1), encoding="utf-8")
    programs: dict[str, Program] = {}
    for host in _hosts_of(flows):
        command = agent_command(
            host,
            path,
            folder / f"{host}.jsonl",
            line_rate_bps=plan.line_rates_bps.get(host),
            sample_ms=sample_ms,
            stop_ms=stop_ms,
            start_ns=start_ns,
            own=own,
        )
        words = [*lab.built.enter(host), *command]
        programs[host] = Program(f"agent of {host}", words, folder / f"{host}.log", keeps_running=False)
    return programs


def _by_sender(
    flows: Sequence[PlannedFlow], kernel_labels: Container[str]
) -> tuple[list[PlannedFlow], list[PlannedFlow]]:
    """Flows that agents send, and flows that are the kernel's."""
    of_kernel = [flow for flow in flows if flow.get("class", "") in kernel_labels]
    return [flow for flow in flows if flow.get("class", "") not in kernel_labels], of_kernel


def _hosts_of(flows: Sequence[PlannedFlow]) -> list[str]:
    """Hosts that send or receive, each once."""
    return list(dict.fromkeys(host for flow in flows for host in (flow["src"], flow["dst"])))


def _agent_plan(network: spec.NetworkSpec, lab: Lab, seed: int) -> _Plan:
    """The engine's description as agents read it: starts drawn, and only flows that are there from the beginning."""
    remarks = [
        f"traffic of kind {kind!r} is not sent in a lab; give flows of kind incast, or use p4cc run"
        for kind in ("rounds", "arrivals", "closed_loops")
        if network.get(kind)
    ]
    if network.get("collectives"):
        raise UserError(
            "traffic.kind: agents do not wait for the steps of a collective",
            place=str(lab.plan.file),
            remedy="use p4cc run, or give flows of kind incast or bulk",
        )
    if network.get("jobs"):
        raise UserError(
            "traffic.kind: agents do not wait for other operations",
            place=str(lab.plan.file),
            remedy="use p4cc run, or give flows of kind incast or bulk",
        )
    if network.get("headers"):
        remarks.append(
            "transport.headers: agents send over UDP sockets and put no headers of the program into packets; send "
            "packets of your own (traffic.kind: packets), or use p4cc run"
        )
    if network.get("storms"):
        remarks.append("storms: agents send no pause frames; the hosts of a lab pause nobody")
    if network.get("slow_receivers"):
        remarks.append("slow_receivers: a lab's hosts take packets as fast as they can")
    if any(_uses_card(sender) for sender in network.get("rdma", {}).values()):
        remarks.append(
            "transport.cnp_scope, cnp_processing_ns, ack_processing_ns: a lab's hosts have their own network cards; "
            "agents answer at once, and each flow keeps cnp_interval_ns"
        )
    if network.get("host_jitter_ns"):
        remarks.append("host_jitter_ns: a lab's hosts have their own jitter; none is added")
    if reads := [name for name, sender in network.get("rdma", {}).items() if sender.get("reads")]:
        raise UserError(
            f"{reads[0]} reads, and agents only write", place=str(lab.plan.file), remedy="leave out transport.reads"
        )
    if chosen := [name for name, sender in network.get("rdma", {}).items() if sender.get("entropy", "flow") != "flow"]:
        raise UserError(
            f"{chosen[0]} chooses the paths of its packets, and the packets of an agent leave by one port",
            place=str(lab.plan.file),
            remedy="leave out transport.entropy, or use p4cc run",
        )
    if driven := [name for name, sender in network.get("rdma", {}).items() if sender.get("receiver")]:
        raise UserError(
            f"{driven[0]} has a receiver, and agents have none that lets senders send",
            place=str(lab.plan.file),
            remedy="leave out receiver, or use p4cc run",
        )
    flows = planned_flows(network.get("flows", []), seed)
    remarks += not_given(network.get("flows", []))
    plain: _AgentPlan = {
        "hosts": {host["name"]: host["ipv4"] for host in network["hosts"]},
        "flows": flows,
        "seed": seed,
        "algorithms": network.get("algorithms", {}),
        "rdma": network.get("rdma", {}),
    }
    busy = set(_hosts_of(flows))
    rates = {
        end.node: link.rate_bps
        for link in lab.plan.network.links
        for end in (link.a, link.b)
        if end.node in busy and link.rate_bps is not None
    }
    if not flows and not network.get("packets"):
        remedy = "give traffic of kind incast, packets or replay"
        raise UserError("no flow starts by itself", place=str(lab.plan.file), remedy=remedy)
    return _Plan(plain, rates, list(dict.fromkeys(remarks)))


def _uses_card(sender: spec.RdmaConfig) -> bool:
    """Whether a sender's flows need a network card of the simulator at their receiver."""
    takes = sender.get("cnp_processing_ns", 0) or sender.get("ack_processing_ns", 0)
    return bool(takes) or sender.get("cnp_scope", "flow") != "flow"


def _endless(flows: Sequence[PlannedFlow]) -> set[str]:
    """Hosts none of whose flows has an end: their agents end with flows that are not complete."""
    with_end = {host for flow in flows if flow.get("size_bytes") is not None for host in (flow["src"], flow["dst"])}
    return set(_hosts_of(flows)) - with_end


def _wait(
    lab: Lab, programs: dict[str, Program], packets: HostPackets, deadline: float, endless: Container[str]
) -> list[str]:
    """Wait until all agents have ended and all packets are sent; agents that did not do what they were to, in words.

    A user's controller that fails ends the flows, as it ends a run.
    """
    control = lab.programs.get("controller") if lab.plan.has_own_control else None
    flows = programs.values()
    while time.monotonic() < deadline:
        if packets.have_sent and all(program.ended() is not None for program in flows):
            break
        if control is not None and control.ended() is not None:
            return ["the flows were ended: the controller failed"]
        time.sleep(0.05)
    failed: list[str] = []
    for name, program in programs.items():
        status = program.ended()
        if status is None:
            failed.append(f"{program.name} did not end in time")
        elif status == 1 and name in endless:
            continue
        elif status != 0:
            how = "has flows that are not complete" if status == 1 else how_ended(status)
            failed.append(f"{program.name} {how}\n{program.last_words()}".rstrip())
    return failed


def _collected(
    lab: Lab,
    plan: _Plan,
    lines: Sequence[dict[str, Any]],
    start_ns: int,
    failed: Sequence[str],
    kernel_marks: Mapping[int, Marks],
) -> AgentRun:
    sent = {line["flow"]: line for line in lines if line.get("type") == "flow"}
    received = {line["flow"]: line for line in lines if line.get("type") == "received"}
    rows: list[dict[str, object]] = []
    for flow in plan.plain["flows"]:
        # The kernel's own senders do not tell which packets came marked.
        unknown = None if flow.get("class") in lab.plan.kernel_tcp else 0
        mine, theirs = sent.get(flow["id"], {}), received.get(flow["id"], {})
        marks = kernel_marks.get(flow["id"])
        fct_ns = mine.get("fct_ns")
        rows.append(
            {
                "flow_id": flow["id"],
                "src": flow["src"],
                "dst": flow["dst"],
                "size_bytes": flow.get("size_bytes"),
                "start_ns": mine.get("start_ns"),
                "finish_ns": None if fct_ns is None else mine["start_ns"] + fct_ns,
                "fct_ns": fct_ns,
                "deadline_ns": flow["deadline_ns"],
                "deadline_met": _met(flow["deadline_ns"], fct_ns),
                "acked_bytes": mine.get("acked_bytes", 0),
                "data_pkts": mine.get("data_pkts", 0),
                "retransmitted_pkts": mine.get("retransmitted_segments", 0),
                "timeouts": mine.get("timeouts", 0),
                "fast_retransmits": mine.get("fast_retransmits", 0),
                "marks_level1": theirs.get("marks_k_pkts", unknown) if marks is None else marks.level1,
                "marks_level2": theirs.get("marks_kdc_pkts", unknown) if marks is None else marks.level2,
            }
        )
    flows = pl.DataFrame(rows, infer_schema_length=None) if rows else pl.DataFrame(schema=_FLOWS)
    samples = [line for line in lines if line.get("type") == "sample"]
    windows = pl.DataFrame()
    if samples:
        windows = pl.DataFrame(samples, infer_schema_length=None).drop("type").rename({"flow": "flow_id"})
        windows.sort("time_ns", maintain_order=True).write_parquet(lab.options.folder / "agents" / "windows.parquet")
    queues, drops = _bottleneck(lab, start_ns)
    return AgentRun(flows, windows, queues, _summary(flows, queues, drops), tuple(plan.remarks), tuple(failed))


def _bottleneck(lab: Lab, start_ns: int) -> tuple[pl.DataFrame, int | None]:
    """Depth of the queue that the topology expects to fill, and how many packets it lost, from the captures."""
    case = lab.plan.case
    roles = None if case is None else case.scenario.topology.build(lab.plan.file).roles
    if roles is None or roles.bottleneck is None or not lab.options.pcaps:
        return pl.DataFrame(), None
    switch, peer = roles.bottleneck
    ports = lab.plan.ports(switch, lab.built.interfaces)
    numbers = {port.peer.node: port.number for port in lab.plan.network.ports[switch]}
    bottleneck = next(port for port in ports if port.number == numbers[peer])
    name = lab.built.interfaces[LabEnd(switch, bottleneck.number)]
    pcaps = lab.options.folder / "pcaps"
    arrivals = [pcaps / f"{port.interface}_in.pcap" for port in ports if port.interface != name]
    delay_ns = bottleneck.delay_ns if lab.kind.delays else 0
    port = Port(pcaps / f"{name}_out.pcap", delay_ns, bottleneck.rate_bps)
    return depth_of(arrivals, port, start_ns)


def _met(deadline_ns: int | None, fct_ns: int | None) -> int | None:
    """1 if a flow was complete in time, 0 if not; None without a deadline."""
    return None if deadline_ns is None else int(fct_ns is not None and fct_ns <= deadline_ns)


def _sum(values: pl.Series) -> int | None:
    """None where nothing of it is known."""
    return None if len(values) and values.null_count() == len(values) else int(values.sum())


def _summary(flows: pl.DataFrame, queues: pl.DataFrame, drops: int | None) -> dict[str, int | float | None]:
    """The numbers of a run under the names that virtual time gives them."""
    finished = flows["finish_ns"].drop_nulls()
    complete = len(finished) == len(flows)
    finish_ns = int(finished.max()) if complete and len(finished) else None  # pyright: ignore[reportArgumentType]
    total_bytes = int(flows["acked_bytes"].sum())
    return {
        "flows_completed": len(finished),
        "finish_ns": finish_ns,
        "goodput_bps": total_bytes * 8e9 / finish_ns if finish_ns else None,
        **{name: _sum(flows[name]) for name in ("timeouts", "marks_level1", "marks_level2")},
        "deadline_flows": len(flows["deadline_ns"].drop_nulls()),
        "deadlines_met": _sum(flows["deadline_met"]),
        "drops": drops,
        "peak_queue_pkts": int(queues["depth_pkts"].max()) if not queues.is_empty() else None,  # pyright: ignore[reportArgumentType]
    }
