"""`transport.packets: tcp` in a lab: the kernel's congestion controls, settings of hosts, plans of flows."""

from __future__ import annotations

import socket
import subprocess
import sys
from dataclasses import dataclass
from ipaddress import IPv4Interface
from pathlib import Path
from typing import TYPE_CHECKING, Any

from p4cc.errors import UserError
from p4cc.lab.tcp_host import FlowPlan, TcpPlan, TcpSettings
from topos.mininet import MTU_BYTES, ROUTE_MTU_BYTES

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    from p4cc.scenario.base import Algorithm, Sender
    from p4cc.scenario.expand import Case
    from topos.mininet import Built

PORT = 5_001
"""As in virtual time (docs/reference/wire-format.md#tcp)."""
_ECN = {"reno_ecn": "reno", "cubic_ecn": "cubic", "dctcp": "dctcp"}
"""Algorithms that read marks, with the kernel's names."""
_NO_ECN = {name: name for name in ("reno", "cubic")}
KNOWN = {**_NO_ECN, **_ECN}
"""The kernel's names by the scenario's."""
_FRAME_BYTES = MTU_BYTES + 14
_BURST_NS = 50_000
"""A host may send in bursts of this length: at high rates, a timer per frame would cost too much."""
_BACKLOG_BYTES = 1 << 24
"""Limit of a host's interface queue; TCP queues far less there, so that nothing is dropped."""
_AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")


@dataclass(frozen=True)
class HostSettings:
    """Settings of a host's kernel before its flows start."""

    asks_for_ecn: bool
    iw: int
    rto_min_ns: int


def remark(labels: Sequence[str]) -> str:
    """A remark for readers of the results."""
    return (
        f"flows of {', '.join(labels)} are the kernel's TCP: of transport only mss_bytes, iw, rwnd and rto_min_ns are "
        "applied; slow start, loss recovery and timers are the kernel's"
    )


def kernel_labels(case: Case, chosen: Sequence[str]) -> frozenset[str]:
    """Labels of the traffic that the kernel sends: all with `packets: tcp`, else those chosen; raises UserError."""
    labels = {item.label for item in case.scenario.flow_items.values()}
    if unknown := [label for label in chosen if label not in labels]:
        known = ", ".join(sorted(labels)) or "none"
        remedy = f"labels of this scenario's flows: {known}"
        raise UserError(f"no flows have the label {unknown[0]!r}", place="--kernel-tcp", remedy=remedy)
    return frozenset(labels if case.packets == "tcp" else chosen)


def check_senders(case: Case, labels: Container[str], place: str) -> None:
    """Raises UserError for a sender of these labels' traffic that the kernel lacks."""
    for sender in _senders(case, labels):
        window = sender.congestion_avoidance
        if window is None:
            raise _unsupported("the kernel's TCP has no paced senders", place)
        _check(window, "congestion control for", KNOWN, place)
        kernel = KNOWN[window.name or ""]
        if not kernel_has(kernel):
            raise _unsupported(f"this machine's kernel has no congestion control {kernel}", place)
        # The kernel's CUBIC includes HyStart.
        _check(sender.slow_start, "slow start", ("standard", *(["hystart"] if kernel == "cubic" else [])), place)


def _check(algorithm: Algorithm, what: str, known: Container[str], place: str) -> None:
    if algorithm.python is not None or algorithm.name not in known:
        raise _unsupported(f"the kernel's TCP has no {what} {algorithm.python or algorithm.name}", place)


def _senders(case: Case, labels: Container[str]) -> Iterator[Sender]:
    for item in case.scenario.flow_items.values():
        if item.label in labels:
            yield item.sender or case.variant


def _unsupported(cause: str, place: str) -> UserError:
    has = _AVAILABLE.read_text(encoding="ascii").split() if _AVAILABLE.exists() else []
    known = ", ".join(name for name, kernel in KNOWN.items() if kernel in has)
    remedy = f"a lab's TCP is the kernel's: use one of {known}; or --set transport.packets=udp, or p4cc run"
    return UserError(cause, place=place, remedy=remedy)


def kernel_has(name: str) -> bool:
    """Whether a socket accepts this congestion control; the kernel loads its module if needed."""
    with socket.socket() as probe:
        try:
            probe.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
        except OSError:
            return False
    return True


def tcp_plan(
    hosts: dict[str, str],
    flows: Sequence[Mapping[str, Any]],
    spec: dict[str, Any],
    start_ns: int,
    stop_ns: int,
    sample_ms: int | None,
) -> TcpPlan:
    """The plan for hosts with the kernel's TCP."""
    windows: list[int] = []
    plans: list[FlowPlan] = []
    for flow in flows:
        sender = spec["algorithms"][flow["algorithm"]]
        congestion = KNOWN[sender["cc"]["congestion_avoidance"]["name"]]
        plans.append(FlowPlan(**flow, congestion=congestion, mss_bytes=sender["mss_bytes"]))
        windows.append(sender["rwnd"] * sender["mss_bytes"])
    tcp = TcpSettings(
        start_ns=start_ns,
        stop_ns=stop_ns,
        sample_ns=None if sample_ms is None else sample_ms * 1_000_000,
        port=PORT,
        window_bytes=min(windows, default=1),
    )
    return TcpPlan(hosts=hosts, flows=plans, tcp=tcp)


def configure(built: Built, place: str, flows: Sequence[Mapping[str, Any]], spec: dict[str, Any]) -> None:
    """Sets ECN, initial window and least timeout in each host's kernel; raises UserError."""
    by_host: dict[str, set[HostSettings]] = {}
    for flow in flows:
        sender = spec["algorithms"][flow["algorithm"]]
        asks = sender["cc"]["congestion_avoidance"]["name"] in _ECN
        settings = HostSettings(asks, sender["iw"], sender["rto_min_ns"])
        by_host.setdefault(flow["src"], set()).add(settings)
    for host, all_settings in by_host.items():
        if len(all_settings) > 1:
            raise UserError(
                f"flows of {host} differ in ECN, iw or rto_min_ns, which are a host's in the kernel",
                place=place,
                remedy="give each host senders of one kind",
            )
        _set_up(built, host, next(iter(all_settings)))


def _set_up(built: Built, name: str, settings: HostSettings) -> None:
    host = next(one for one in built.lab.hosts if one.name == name)
    address = IPv4Interface(host.ipv4)
    # 1 asks for ECN and grants it, 2 grants it only.
    ecn = 1 if settings.asks_for_ecn else 2
    rto_min_ms = max(1, settings.rto_min_ns // 1_000_000)
    route = f"{address.network} dev {host.interface} src {address.ip} mtu {ROUTE_MTU_BYTES}"
    for words in (
        ["sysctl", "-qw", f"net.ipv4.tcp_ecn={ecn}", "net.ipv4.tcp_no_metrics_save=1"],
        ["ip", "route", "change", *route.split(), "initcwnd", str(settings.iw), "rto_min", f"{rto_min_ms}ms"],
    ):
        done = subprocess.run([*built.enter(name), *words], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise UserError(done.stderr.strip(), place=f"{name}: {' '.join(words)}", remedy="see what the kernel lacks")


def shape(built: Built, rates_bps: dict[str, int]) -> list[str]:
    """Limits each host to its link's rate, as agents do by themselves; returns what the kernel cannot do."""
    for name, rate_bps in rates_bps.items():
        host = next(one for one in built.lab.hosts if one.name == name)
        burst = max(_FRAME_BYTES, rate_bps * _BURST_NS // 8_000_000_000)
        limits = ["rate", str(rate_bps), "burst", str(burst), "limit", str(_BACKLOG_BYTES)]
        words = ["tc", "qdisc", "replace", "dev", host.interface, "root", "tbf", *limits]
        done = subprocess.run([*built.enter(name), *words], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return [f"{name} and others send faster than their links: {done.stderr.strip() or 'tc failed'}"]
    return []


def tcp_command(plan: Path, host: str, metrics: Path) -> list[str]:
    """The command that starts a host's flows."""
    return [sys.executable, "-m", "p4cc.lab.tcp_host", str(plan), host, str(metrics)]
