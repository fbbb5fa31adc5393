"""What a run says of packets lost to something else than a full queue: programs that drop, hosts that refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from p4cc.planning.hosts import some

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from p4cc.planning.network import NetworkPlan
    from p4cc.running.cache import SeedRun

_MOST_LINES = 4
_PROGRAMS = ("ingress", "egress")
_CAUSES = {
    "ingress": "its program in ingress",
    "egress": "its program in egress",
    "no_pipeline": "lack of a program",
    "no_such_port": "its program, which sent them to ports that are not there",
    "no_replicas": "its program, which sent them to multicast groups that are empty or not there",
    "too_long": "their length",
    "controller_queue": "the controller, which did not fetch them",
}
"""By what is said of them; full queues and buffers drop in any network, and the limit of passes has its warning."""


def drop_notes(label: str, plan: NetworkPlan, runs: Sequence[SeedRun]) -> Iterator[str]:
    """A line of drops other than those of full queues and buffers, by switch and cause, of all runs of a case."""
    names = {switch.device_id: switch.switch for switch in plan.switches}
    sums: dict[tuple[str, str], int] = {}
    for run in runs:
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
    most = sorted(sums.items(), key=lambda one: -one[1])
    lines = [f"{switch}: {pkts:,} packets dropped by {text}" for (switch, text), pkts in most[:_MOST_LINES]]
    if len(most) > _MOST_LINES:
        lines.append("...")
    if lines:
        yield f"case {label}{_of(runs)}: {'; '.join(lines)}"


def _places(run: SeedRun) -> list[tuple[tuple[str, str], int]]:
    """Packets that programs dropped, by switch and by what is said of the place; needs record.drops."""
    drops: Mapping[str, list[Any]] = run.tables["drops"].to_pydict()
    columns = ("switch", "cause", "control", "table", "action", "parser_error", "packets")
    found: list[tuple[tuple[str, str], int]] = []
    for switch, cause, control, table, action, error, pkts in zip(*(drops[name] for name in columns), strict=True):
        if cause in _PROGRAMS:
            name, of = action.rpartition(".")[2], table.rpartition(".")[2]
            by = f"action {name} of table {of}" if of else f"action {name}" if name else f"control {control}"
            found.append(((switch, f"{by} after {error}" if error else by), pkts))
    return found


def refusal_warnings(label: str, runs: Sequence[SeedRun]) -> Iterator[str]:
    """What to say of packets that reached a host and were none of its flows'.

    Where packets of the user's own are sent or recorded, tables say so; there only those for another host are named.
    """
    refused, at = 0, dict[str, None]()
    for run in runs:
        hosts: Mapping[str, list[Any]] = run.tables["hosts"].to_pydict()
        wrong = dict(zip(hosts["host"], hosts["refused_address_pkts"], strict=True))
        refused += sum(wrong.values()) if wrong else int(run.summary["host_refusals"])
        at.update((host, None) for host, pkts in wrong.items() if pkts)
    if refused:
        yield (
            f"case {label}{_of(runs)}: {some(at) or 'hosts'} refused {refused:,} packets that were for another MAC or "
            "IPv4 address, or of no flow; the program or its entries send them to a wrong port, or do not write the "
            "MAC address of the next hop; record.packets_received shows them"
        )


def _of(runs: Sequence[SeedRun]) -> str:
    return "" if len(runs) == 1 else f", {len(runs)} seeds together"
