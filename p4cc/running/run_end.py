"""Warnings about runs that end before all flows complete: deadlock, stall, or end of time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from p4cc.analysis.links import outcome
from p4cc.digits import digits, percent
from topos.units import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from p4cc.running.cached_run import SeedRun
    from p4cc.scenario.expand import Case

_MOST_SEEDS = 3
_UNRESOLVED = "completion times and slowdowns cover only the others"


def cut_off(label: str, summaries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Warns about flows that had not finished when the runs of a case ended: derived values do not include them."""
    finite, completed = (sum(one[f"flows_{name}"] for one in summaries) for name in ("finite", "completed"))
    if left := finite - completed:
        ends = ", ".join(dict.fromkeys(f"{digits(one['end_ns'] / 1e6, 6)} ms" for one in summaries))
        yield (
            f"case {label}: {left} of {finite} flows ({percent(left, finite)}) had not finished when the run ended "
            f"({ends}); {_UNRESOLVED}"
        )


def open_operations_warning(case: Case, run: SeedRun) -> str | None:
    """The warning about operations of jobs that had not ended when the run ended."""
    rows: Mapping[str, list[Any]] = run.tables["jobs"].to_pydict()
    counts = zip(rows["job"], rows["operations"], rows["ended"], strict=True)
    texts = [f"{whole - ended} of {whole} operations of {job}" for job, whole, ended in counts if ended < whole]
    if not texts:
        return None
    others = f" and those of {len(texts) - 1} more jobs" if len(texts) > 1 else ""
    return (
        f"case {case.label()} seed {run.seed}: {texts[0]}{others} had not ended when the run ended "
        f"({digits(run.summary['end_ns'] / 1e6, 6)} ms); raise stop_ns, or see in the table operations which of them "
        "hold what others wait for"
    )


def ending_of(case: Case, run: SeedRun) -> str | None:
    """How a run ended, and why, for a deadlock or a stall; otherwise None."""
    match outcome(run.summary):
        case "deadlock":
            return _deadlock(run)
        case "stalled":
            at = shown("ns", run.summary["stalled_ns"])
            return f"stalled: at {at} no data had arrived for long, although flows were unfinished; {_cause(case, run)}"
        case _:
            return None


def ending_warnings(label: str, endings: Sequence[tuple[int, str]]) -> Iterator[str]:
    """One line for each way in which runs of a case ended, by seed."""
    seeds: dict[str, list[int]] = {}
    for seed, text in endings:
        seeds.setdefault(text, []).append(seed)
    for text, of in seeds.items():
        some = ", ".join(map(str, of[:_MOST_SEEDS])) + (", ..." if len(of) > _MOST_SEEDS else "")
        yield f"case {label} seed{'s' if len(of) > 1 else ''} {some}: {text}"


def _deadlock(run: SeedRun) -> str:
    rows: Mapping[str, list[Any]] = run.tables["deadlocks"].to_pydict()
    at, priority, links = rows["time_ns"][0], rows["priority"][0], rows["links"][0]
    more = len(rows["time_ns"]) - 1
    others = f", and {more} more cycles (table deadlocks)" if more else ""
    return (
        f"deadlock: from {shown('ns', at)} on, pauses of priority {priority} wait for each other in a circle "
        f"({links}){others}; routes that only go up and then down, or switch.buffer.pfc_expiry, prevent it"
    )


def _cause(case: Case, run: SeedRun) -> str:
    """Why nothing moves, as far as counters show."""
    summary = run.summary
    lost = {
        "dropped by switches": summary["drops"],
        "lost on links": summary["link_losses"],
        "refused by hosts": summary["host_refusals"],
    }
    texts = [f"{count:,} {what}" for what, count in lost.items() if count]
    transport = case.scenario.rdma_transport
    waits = case.variant.rate_control is not None and transport is not None
    has_timeout = waits and (transport.rto_ns or case.variant.transport.get("rto_ns")) if transport else False
    if texts and waits and not has_timeout:
        return (
            f"packets were {' and '.join(texts)}, and without rto_ns no sender repeats the last packets of a flow: "
            "set rto_ns of the transport"
        )
    paused = _paused_at_the_end(run)
    if paused:
        return f"{paused} still paused when the run ended (table pauses)"
    if texts:
        return f"packets were {' and '.join(texts)}, and timeouts grow with each loss (events, with record.events)"
    if case.scenario.faults:
        return "links or switches were down (faults)"
    return "no packet was lost and no port is paused: senders wait for an event that never occurs"


def _paused_at_the_end(run: SeedRun) -> str:
    """Ports whose last pause has no resume."""
    rows: Mapping[str, list[Any]] = run.tables["pauses"].to_pydict()
    names = ("node", "port", "pauses_received", "last_change_ns", "paused_ns")
    columns = zip(*(rows[name] for name in names), strict=True)
    silent_ns = run.summary["longest_silence_ns"]
    found = [
        f"{node}:{port}"
        for node, port, received, last, paused_ns in columns
        if received and last is not None and run.summary["end_ns"] - last >= silent_ns and paused_ns >= silent_ns
    ]
    if not found:
        return ""
    return f"{', '.join(found[:3])}{' and others' if len(found) > 3 else ''} {'was' if len(found) == 1 else 'were'}"
