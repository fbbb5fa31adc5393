"""Explained runs as text and as plain data."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from p4cc.explain.causes import Cause

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from p4cc.explain.explained import RunExplained
    from p4cc.explain.judge import Verdict

SHOWN = 10
"""Flows that are printed of each run."""
_LEAST = 0.005


def title(run: RunExplained) -> str:
    """A run for people."""
    point = "".join(f", {name}={value}" for name, value in run.point.items())
    return f"{run.variant}{point}, seed {run.seed}"


def shares_text(shares: Mapping[Cause, float]) -> str:
    """Shares of time, the largest first."""
    return ", ".join(f"{cause.value.name} {share:.0%}" for cause, share in shares.items() if share >= _LEAST)


def slowdown_text(verdict: Verdict) -> str:
    """How slow a flow was."""
    if verdict.flow.slowdown is not None:
        return f"{verdict.flow.slowdown:.3g}"
    return "no end" if verdict.flow.size_bytes is None else "unfinished"


def lines(run: RunExplained, shown: int = SHOWN) -> Iterator[str]:
    """An explained run as text."""
    if not run.verdicts:
        yield f"{title(run)}: none of {_flows(run.flows)} is slow"
        yield from _headroom(run)
        return
    yield f"{title(run)}: {run.slow} of {_flows(run.flows)} slow"
    for cause, count in run.counts.items():
        yield f"  {_flows(count)} bounded by {cause.value.name}: {cause.value.text}"
        yield f"    look at: {cause.value.remedy}"
    yield f"  shares of their time: {shares_text(run.shares)}"
    rows = [_row(one) for one in run.verdicts[:shown]]
    widths = [max(len(row[at]) for row in (_HEAD, *rows)) for at in range(len(_HEAD))]
    for row in (_HEAD, *rows):
        yield "  " + "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
    if len(run.verdicts) > shown:
        yield f"  ... and {len(run.verdicts) - shown} more (--flows)"
    yield from _headroom(run)
    for note in run.notes:
        yield f"  note: {note}"


def _headroom(run: RunExplained) -> Iterator[str]:
    yield from (f"  {one}" for one in (*run.headroom, *run.losses))


_HEAD = ("flow", "from -> to", "slowdown", "bounded by", "shares of its time", "full link")


def _row(verdict: Verdict) -> tuple[str, ...]:
    flow = verdict.flow
    ends = f"{flow.src} -> {flow.dst}"
    bound = verdict.bound.value.name
    return (str(flow.flow_id), ends, slowdown_text(verdict), bound, shares_text(verdict.shares), verdict.link)


def _flows(count: int) -> str:
    return "1 flow" if count == 1 else f"{count:,} flows"


def plain(runs: Sequence[RunExplained]) -> dict[str, object]:
    """The output of `--json`."""
    return {"runs": [_plain_run(run) for run in runs], "causes": {one.key: _plain_cause(one) for one in Cause}}


def _plain_cause(cause: Cause) -> dict[str, str]:
    return {"name": cause.value.name, "text": cause.value.text, "look_at": cause.value.remedy}


def _plain_run(run: RunExplained) -> dict[str, object]:
    return {
        "variant": run.variant,
        **run.point,
        "seed": run.seed,
        "flows": run.flows,
        "slow": run.slow,
        "shares": _plain_shares(run.shares),
        "bounded_by": {cause.key: count for cause, count in run.counts.items()},
        "headroom": [asdict(one) for one in run.headroom],
        "losses": list(run.losses),
        "slow_flows": [_plain_verdict(one) for one in run.verdicts],
        "notes": list(run.notes),
    }


def _plain_shares(shares: Mapping[Cause, float]) -> dict[str, float]:
    return {cause.key: round(share, 6) for cause, share in shares.items()}


def _plain_verdict(verdict: Verdict) -> dict[str, object]:
    flow = verdict.flow
    return {
        "flow_id": flow.flow_id,
        "src": flow.src,
        "dst": flow.dst,
        "class": flow.label,
        "slowdown": flow.slowdown,
        "has_finished": flow.has_finished,
        "acked_bytes": flow.acked_bytes,
        "timeouts": flow.timeouts,
        "bounded_by": verdict.bound.key,
        "shares": _plain_shares(verdict.shares),
        "full_link": verdict.link or None,
    }
