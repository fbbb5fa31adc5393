"""Commands of `--run` over p4cc's senders in the kernel: `p4cc lab --hosts linux`.

Applications are unmodified: each host's route names the congestion control, for connections that it opens and that it
accepts, and the commands run in the control group whose sockets use the option.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from p4cc.errors import UserError
from p4cc.lab.kernel_tcp import HostSettings, is_loaded, set_up, shape
from p4cc.lab.linux_senders import linux_senders

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
    from pathlib import Path

    from p4cc.lab.lab import Lab
    from p4cc.lab.linux_senders import LinuxSenders

CONNECTIONS, ACKS = "connections.parquet", "acks.parquet"
"""Files below `logs/run`: what both ends of each connection counted, and a row for each ACK."""

FULL = 4_096 // 2
"""The kernel keeps 4,096 ends of connections, less what each CPU sets aside (host_agents/linux/bpf/feedback.bpf.c)."""


@contextlib.contextmanager
def applications(lab: Lab) -> Generator[None]:
    """Inside, lines of the lab's hosts use the sender of its variant; raises UserError."""
    sender = _sender(lab)
    if sender is None:
        yield
        return
    folder = lab.options.folder / "logs" / "run"
    folder.mkdir(parents=True, exist_ok=True)
    with linux_senders(str(lab.plan.file), watched=True) as senders:
        name = senders.load(sender)
        settings = HostSettings(asks_for_ecn=True, iw=sender["iw"], rto_min_ns=sender["rto_min_ns"], congestion=name)
        hosts = [host.name for host in lab.plan.network.hosts]
        for host in hosts:
            set_up(lab.built, host, settings)
        lab.report.warnings += shape(lab.built, _line_rates_bps(lab, hosts))
        start_ns = lab.clock.start_ns if lab.clock is not None else 0
        senders.watch(folder / "records.ndjson")
        lab.shells.inside = senders.inside
        try:
            yield
        finally:
            lab.shells.inside = list
            try:
                # Servers end here, so that their connections are closed and counted.
                lab.shells.end()
                _write(lab, senders, folder, start_ns)
            finally:
                for host in hosts:
                    with _as_warning(lab, f"the route of {host} keeps its sender"):
                        set_up(lab.built, host, replace(settings, congestion=None))


@contextlib.contextmanager
def _as_warning(lab: Lab, what: str) -> Generator[None]:
    """An error inside hides none that came before it."""
    try:
        yield
    except UserError as error:
        lab.report.warnings.append(f"{what}: {error.cause}")


def _write(lab: Lab, senders: LinuxSenders, folder: Path, start_ns: int) -> None:
    """Writes what ended connections counted and their records of ACKs, each also where the other fails."""
    with _as_warning(lab, "connections are unknown"):
        opened = senders.negotiated()
        lab.report.connections = list(senders.closed())
        if (kept := len(lab.report.connections)) < opened and opened > FULL:
            lab.report.warnings.append(f"{CONNECTIONS} has the last {kept} ends of connections of {opened}")
    records = senders.records(None, start_ns)
    lab.report.warnings += records.remarks
    _frame(lab.report.connections).write_parquet(folder / CONNECTIONS)
    _frame(records.rows).write_parquet(folder / ACKS)


def _frame(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """A column may be null in all of the first rows."""
    return pl.DataFrame(rows, infer_schema_length=None)


def _sender(lab: Lab) -> dict[str, Any] | None:
    """The sender of the lab's first flow, in the engine's description; None where none is loaded."""
    if lab.plan.hosts != "linux" or not lab.lines or lab.planned is None:
        return None
    network = json.loads(lab.planned.spec_json)
    flows = network.get("flows") or [{"algorithm": next(iter(network["algorithms"]))}]
    sender = network["algorithms"][flows[0]["algorithm"]]
    cc = sender["cc"]
    loaded = is_loaded(cc["congestion_avoidance"]["name"], cc["slow_start"]["name"], lab.plan.hosts)
    return sender if loaded else None


def _line_rates_bps(lab: Lab, hosts: list[str]) -> dict[str, int]:
    ends = ((end.node, link.rate_bps) for link in lab.plan.network.links for end in (link.a, link.b))
    return {host: rate for host, rate in ends if host in hosts and rate is not None}
