"""Warnings about packets not lost to full queues: programs that drop, hosts that refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.port_settings import host_rates_bps
from p4cc.planning.fabric import buffer_bytes, enough_headroom_bytes, headroom_bytes
from p4cc.planning.hosts import some
from topos.graph import MAX_QUEUE_PKTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from p4cc.planning.network import NetworkPlan
    from p4cc.running.cached_run import SeedRun
    from p4cc.scenario.expand import Case

_MOST_LINES = 4
LEAST_PACKET_BYTES = 52
"""IP bytes of a flow's smallest packet, an ACK of TCP."""
_PROGRAMS = ("ingress", "egress")
_OF_LOSSLESS = ("headroom", "queue_full", "shared_buffer")
"""Causes of drops in lossless priorities that no program requests."""
_CAUSES = {
    "ingress": "its program in ingress",
    "egress": "its program in egress",
    "no_pipeline": "lack of a program",
    "no_such_port": "its program, which sent them to ports that are not there",
    "no_replicas": "its program, which sent them to multicast groups that are empty or not there",
    "too_long": "their length",
    "controller_queue": "the controller, which did not fetch them",
}
"""Descriptions of causes, without full queues and buffers (normal) and the limit of passes (warned separately)."""


def drops_of(plan: NetworkPlan, run: SeedRun) -> dict[tuple[str, str], int]:
    """Drops of a run, by switch and description, except those of full queues and buffers."""
    names = {switch.device_id: switch.switch for switch in plan.switches}
    sums: dict[tuple[str, str], int] = {}
    places = _places(run)
    for key, dropped in places:
        sums[key] = sums.get(key, 0) + dropped
    placed = {switch for (switch, _), _ in places}
    queues: Mapping[str, list[int]] = run.tables["port_queues"].to_pydict()
    for cause, text in _CAUSES.items():
        for device_id, dropped in zip(queues["device_id"], queues[f"dropped_{cause}"], strict=True):
            key = (names.get(device_id, str(device_id)), text)
            if dropped and not (key[0] in placed and cause in _PROGRAMS):
                sums[key] = sums.get(key, 0) + dropped
    return sums


def drop_notes(label: str, runs: Sequence[Iterable[tuple[str, str, int]]]) -> Iterator[str]:
    """One line on the drops of all runs of a case, by switch and cause."""
    sums: dict[tuple[str, str], int] = {}
    for run in runs:
        for switch, text, dropped in run:
            sums[switch, text] = sums.get((switch, text), 0) + dropped
    most = sorted(sums.items(), key=lambda one: -one[1])
    lines = [f"{switch}: {pkts:,} packets dropped by {text}" for (switch, text), pkts in most[:_MOST_LINES]]
    if len(most) > _MOST_LINES:
        lines.append("...")
    if lines:
        yield f"case {label}{_of(runs)}: {'; '.join(lines)}"


def pass_limit_warning(case: Case, plan: NetworkPlan, run: SeedRun) -> str | None:
    """The warning about packets that caused more copies and passes than their switches allow."""
    dropped = run.summary["pass_limit_drops"]
    if dropped == 0:
        return None
    queues = run.tables["port_queues"]
    rows = zip(queues["device_id"].to_pylist(), queues["dropped_pass_limit"].to_pylist(), strict=True)
    hit = {device_id for device_id, count in rows if count}
    names = ", ".join(switch.switch for switch in plan.switches if switch.device_id in hit)
    return (
        f"case {case.label()} seed {run.seed}: {case.program} on {names or 'a switch'} dropped {dropped} packets at "
        f"the limit of {case.switch.pass_limit} copies and passes that one received packet may cause; fix the program "
        "if it copies, resubmits or recirculates endlessly, else raise switch.pass_limit"
    )


def assertion_warning(case: Case, run: SeedRun) -> str | None:
    """The warning about failed `assert` or `assume` statements of a program."""
    failed = run.summary["assertions_failed"]
    if failed == 0:
        return None
    return (
        f"case {case.label()} seed {run.seed}: assertions of {case.program} did not hold {failed} times: "
        f"{run.summary['assertion_places']}; the packets were processed further"
    )


def lossless_drops(case: Case, plan: NetworkPlan, run: SeedRun) -> list[tuple[str, int, str, int]]:
    """Dropped packets of lossless priorities: switch, priority, cause, number."""
    buffer = case.switch.buffer
    if buffer is None:
        return []
    names = {switch.device_id: switch.switch for switch in plan.switches}
    queues: Mapping[str, list[int]] = run.tables["port_queues"].to_pydict()
    sums: dict[tuple[str, int, str], int] = {}
    for cause in _OF_LOSSLESS:
        columns = (queues[name] for name in ("device_id", "priority", f"dropped_{cause}"))
        for device_id, priority, dropped in zip(*columns, strict=True):
            if dropped and priority in buffer.lossless_priorities:
                key = (names.get(device_id, str(device_id)), priority, cause)
                sums[key] = sums.get(key, 0) + dropped
    return [(*key, dropped) for key, dropped in sums.items()]


def lossless_warnings(
    case: Case, plan: NetworkPlan, runs: Sequence[Iterable[tuple[str, int, str, int]]]
) -> Iterator[str]:
    """The warnings about dropped packets of lossless priorities in all runs of a case, with sufficient values."""
    sums: dict[tuple[str, int, str], int] = {}
    for run in runs:
        for switch, priority, cause, dropped in run:
            sums[switch, priority, cause] = sums.get((switch, priority, cause), 0) + dropped
    most = sorted(sums.items(), key=lambda one: -one[1])
    for (switch, priority, cause), pkts in most[:_MOST_LINES]:
        yield (
            f"case {case.label()}{_of(runs)}: {switch} dropped {pkts:,} packets of priority {priority}, which is "
            f"lossless{_enough(case, plan, switch, cause)}"
        )
    if left := most[_MOST_LINES:]:
        others = sum(pkts for _, pkts in left)
        yield f"case {case.label()}{_of(runs)}: {others:,} more packets of lossless priorities were dropped"


def _enough(case: Case, plan: NetworkPlan, switch: str, cause: str) -> str:
    """The setting that was too small, and a sufficient value."""
    buffer = case.switch.buffer
    links = [plan.topology.links[port.link_index] for port in plan.topology.ports[switch]]
    if buffer is None or not links:
        return ""
    host_rate_bps, rtt_ns = host_rates_bps(plan.topology)[-1], plan.paths.longest_rtt_ns()
    of_switch = buffer_bytes(buffer, links, host_rate_bps, plan.most_bytes, rtt_ns)
    if cause == "queue_full":
        least = min(link.queue_capacity_pkts for link in links)
        enough = min(-(-of_switch // LEAST_PACKET_BYTES), MAX_QUEUE_PKTS)
        return (
            f": a queue of {least} packets was full before the buffer asked for a pause; queue_capacity_pkts of "
            f"{enough:,} is more than the buffer holds"
        )
    if cause == "shared_buffer":
        return f": the buffer of {of_switch:,} B had no room for packets without an ingress port"
    lossless = len(buffer.lossless_priorities)
    pairs = [
        (headroom_bytes(buffer, link, plan.most_bytes), enough_headroom_bytes(link, plan.most_bytes, lossless))
        for link in links
    ]
    has, enough = min(pairs, key=lambda one: one[0] - one[1])
    if has >= enough:
        return (
            f": packets arrived despite pauses, though a port's headroom of {has:,} B is enough for data in flight "
            "(pauses expire, or links fail)"
        )
    return (
        f": its headroom of {has:,} B per port was full before the pause took effect; {enough:,} B would have been "
        "enough (omit switch.buffer.headroom_bytes for a sufficient default)"
    )


def _places(run: SeedRun) -> list[tuple[tuple[str, str], int]]:
    """Packets dropped by programs, by switch and description of the place; needs record.drops."""
    drops: Mapping[str, list[Any]] = run.tables["drops"].to_pydict()
    columns = ("switch", "cause", "control", "table", "action", "parser_error", "packets")
    found: list[tuple[tuple[str, str], int]] = []
    for switch, cause, control, table, action, error, pkts in zip(*(drops[name] for name in columns), strict=True):
        if cause in _PROGRAMS:
            name, of = action.rpartition(".")[2], table.rpartition(".")[2]
            by = f"action {name} of table {of}" if of else f"action {name}" if name else f"control {control}"
            found.append(((switch, f"{by} after {error}" if error else by), pkts))
    return found


def refusals_of(run: SeedRun) -> tuple[int, list[str]]:
    """Number of packets that reached a host but belonged to none of its flows, and the hosts if known.

    With user-defined packets sent or recorded, the tables have this; then only packets for another host count.
    """
    hosts: Mapping[str, list[Any]] = run.tables["hosts"].to_pydict()
    wrong = dict(zip(hosts["host"], hosts["refused_address_pkts"], strict=True))
    refused = sum(wrong.values()) if wrong else int(run.summary["host_refusals"])
    return refused, [host for host, pkts in wrong.items() if pkts]


def refusal_warnings(label: str, runs: Sequence[tuple[int, Sequence[str]]]) -> Iterator[str]:
    """The warning about packets that hosts refused in all runs of a case."""
    refused, at = sum(pkts for pkts, _ in runs), dict.fromkeys(host for _, hosts in runs for host in hosts)
    if refused:
        yield (
            f"case {label}{_of(runs)}: {some(at) or 'hosts'} refused {refused:,} packets that were for another MAC or "
            "IPv4 address, or of no flow; the program or its entries send them to a wrong port, or do not write the "
            "MAC address of the next hop; record.packets_received shows them"
        )


def _of(runs: Sequence[object]) -> str:
    return "" if len(runs) == 1 else f", {len(runs)} seeds together"
