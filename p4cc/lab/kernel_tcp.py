"""`transport.packets: tcp` in a lab: the kernel's congestion controls, settings of hosts, plans of flows."""

from __future__ import annotations

import socket
import subprocess
import sys
from dataclasses import dataclass
from ipaddress import IPv4Interface
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from p4cc.errors import UserError
from p4cc.lab import linux_senders
from p4cc.lab.tcp_host import FlowPlan, TcpPlan, TcpSettings
from topos.mininet import MTU_BYTES, ROUTE_MTU_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping, Sequence

    from p4cc.scenario.base import Algorithm, Sender
    from p4cc.scenario.expand import Case
    from topos.mininet import Built

Hosts = Literal["linux", "agents"]
"""What sends a lab's flows: the kernel's TCP, or agents over UDP."""
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
    congestion: str | None = None
    """The kernel's name of the congestion control of its route, for sockets that choose none."""


def remark(labels: Sequence[str], *, loaded: bool) -> str:
    """A remark for readers of the results; `loaded` where p4cc's senders serve these flows in the kernel."""
    theirs = "loss recovery and timers" if loaded else "slow start, loss recovery and timers"
    return (
        f"flows of {', '.join(labels)} are the kernel's TCP: of transport only mss_bytes, iw, rwnd and rto_min_ns are "
        f"applied; {theirs} are the kernel's"
    )


def kernel_labels(case: Case, chosen: Sequence[str], hosts: Hosts | None = None) -> frozenset[str]:
    """Labels of the traffic that the kernel sends; raises UserError.

    All with `hosts` linux, none with `agents`; else all with `packets: tcp`, or those chosen.
    """
    labels = {item.label for item in case.scenario.flow_items.values()}
    if unknown := [label for label in chosen if label not in labels]:
        known = ", ".join(sorted(labels)) or "none"
        remedy = f"labels of this scenario's flows: {known}"
        raise UserError(f"no flows have the label {unknown[0]!r}", place="--kernel-tcp", remedy=remedy)
    if hosts is not None and chosen:
        raise UserError("both say what sends flows", place="--kernel-tcp", remedy="give --hosts or --kernel-tcp")
    if hosts == "agents":
        return frozenset()
    return frozenset(labels if hosts == "linux" or case.packets == "tcp" else chosen)


def check_senders(case: Case, labels: Container[str], place: str, hosts: Hosts | None = None) -> None:
    """Raises UserError for a sender of these labels' traffic that the kernel lacks and p4cc cannot load."""
    for sender in _senders(case, labels):
        window = sender.congestion_avoidance
        if window is None:
            raise _unsupported("the kernel's TCP has no paced senders", place, hosts)
        python = window.python or sender.slow_start.python
        if python is None and is_loaded(window.name, sender.slow_start.name, hosts):
            _check_loaded(case, sender.slow_start.name, place)
            continue
        _check(window, "congestion control for", KNOWN, place, hosts)
        kernel = KNOWN[window.name or ""]
        if not kernel_has(kernel):
            raise _unsupported(f"this machine's kernel has no congestion control {kernel}", place, hosts)
        # The kernel's CUBIC includes HyStart.
        known = ("standard", *(["hystart"] if kernel == "cubic" else []))
        _check(sender.slow_start, "slow start", known, place, hosts)


def is_loaded(window: str | None, slow_start: str | None, hosts: Hosts | None) -> bool:
    """Whether p4cc's own sender is loaded for it: where the kernel has none like it, or with `hosts` linux."""
    if window not in linux_senders.SENDERS or slow_start not in linux_senders.SLOW_STARTS:
        return False
    is_the_kernels = slow_start == "standard" and window in KNOWN and kernel_has(KNOWN[window])
    return hosts == "linux" or not is_the_kernels


def _check_loaded(case: Case, slow_start: str | None, place: str) -> None:
    """Raises UserError where this kernel loads nothing, or cannot read the code points of the switches."""
    if reasons := linux_senders.lacks():
        cause = f"the kernel cannot load p4cc's senders: {'; '.join(reasons)}"
        raise UserError(cause, place=place, remedy=linux_senders.REMEDY)
    profile = case.scenario.switch.ecn_profile or "gst"
    readable = ("sce",) if slow_start in linux_senders.TWO_LEVELS else ("sce", "rfc3168")
    if profile not in readable:
        remedy = f"--set switch.ecn_profile={' or '.join(readable)}: the kernel reads the upper level as CE"
        raise UserError(f"the kernel's TCP cannot read the code points of {profile}", place=place, remedy=remedy)


def _check(algorithm: Algorithm, what: str, known: Container[str], place: str, hosts: Hosts | None) -> None:
    if algorithm.python is not None or algorithm.name not in known:
        raise _unsupported(f"the kernel's TCP has no {what} {algorithm.python or algorithm.name}", place, hosts)


def _senders(case: Case, labels: Container[str]) -> Iterator[Sender]:
    for item in case.scenario.flow_items.values():
        if item.label in labels:
            yield item.sender or case.variant


def _unsupported(cause: str, place: str, hosts: Hosts | None) -> UserError:
    if hosts == "linux":
        return UserError(cause, place="--hosts", remedy="--hosts agents, or p4cc run")
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
    kernel_name: Callable[[Mapping[str, Any]], str],
) -> TcpPlan:
    """The plan for hosts with the kernel's TCP; `kernel_name` gives the congestion control of a sender's settings."""
    windows: list[int] = []
    plans: list[FlowPlan] = []
    for flow in flows:
        sender = spec["algorithms"][flow["algorithm"]]
        plans.append(FlowPlan(**flow, congestion=kernel_name(sender), mss_bytes=sender["mss_bytes"]))
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
        asks = sender["cc"]["congestion_avoidance"]["name"] in {*_ECN, *linux_senders.SENDERS}
        settings = HostSettings(asks, sender["iw"], sender["rto_min_ns"])
        by_host.setdefault(flow["src"], set()).add(settings)
    for host, all_settings in by_host.items():
        if len(all_settings) > 1:
            raise UserError(
                f"flows of {host} differ in ECN, iw or rto_min_ns, which are a host's in the kernel",
                place=place,
                remedy="give each host senders of one kind",
            )
        set_up(built, host, next(iter(all_settings)))


def set_up(built: Built, name: str, settings: HostSettings) -> None:
    """Sets a host's kernel; raises UserError."""
    host = next(one for one in built.lab.hosts if one.name == name)
    address = IPv4Interface(host.ipv4)
    # 1 asks for ECN and grants it, 2 grants it only.
    ecn = 1 if settings.asks_for_ecn else 2
    rto_min_ms = max(1, settings.rto_min_ns // 1_000_000)
    route = f"{address.network} dev {host.interface} src {address.ip} mtu {ROUTE_MTU_BYTES}"
    rest = ["initcwnd", str(settings.iw), "rto_min", f"{rto_min_ms}ms"]
    if settings.congestion is not None:
        rest += ["congctl", settings.congestion]
    for words in (
        ["sysctl", "-qw", f"net.ipv4.tcp_ecn={ecn}", "net.ipv4.tcp_no_metrics_save=1"],
        ["ip", "route", "change", *route.split(), *rest],
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
