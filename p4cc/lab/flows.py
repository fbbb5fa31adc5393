"""Flows of a lab: the engine's description with everything random drawn before they start."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, cast

from p4cc import spec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class PlannedFlow(spec.FlowSpec):
    """A flow as hosts are given it."""

    deadline_ns: int | None
    """Time from its start by which it should be complete."""


def planned_flows(flows: Sequence[spec.FlowSpec], seed: int) -> list[PlannedFlow]:
    """Flows with starts and deadlines drawn from a stream of each flow, as in virtual time; the numbers differ."""
    return [
        cast(
            "PlannedFlow",
            {
                "id": flow["id"],
                "src": flow["src"],
                "dst": flow["dst"],
                "size_bytes": flow.get("size_bytes"),
                "algorithm": flow["algorithm"],
                "priority": flow.get("priority", 0),
                "class": flow.get("class", ""),
                "start_ns": flow.get("start_ns", 0) + _stream(seed, "start", flow).randrange(_jitter_ns(flow) + 1),
                "deadline_ns": _deadline_ns(flow.get("deadline"), _stream(seed, "deadline", flow)),
            },
        )
        for flow in flows
    ]


def not_given(flows: Sequence[spec.FlowSpec]) -> Iterator[str]:
    """Remarks on what hosts of a lab do not do with their flows."""
    for flow in flows:
        if flow.get("close_ns") is not None:
            yield "flows are not closed before their end"
        if (flow.get("deadline") or {}).get("change") is not None:
            yield "deadlines do not change while their flow is under way"


def _stream(seed: int, name: str, flow: spec.FlowSpec) -> random.Random:
    return random.Random(f"{seed}/{name}/{flow['id']}")  # noqa: S311 - no secret


def _jitter_ns(flow: spec.FlowSpec) -> int:
    return flow.get("start_jitter_ns", 0)


def _deadline_ns(deadline: spec.DeadlineSpec | None, stream: random.Random) -> int | None:
    if deadline is None:
        return None
    mean_ns = deadline.get("exp_mean_ns", 0)
    drawn_ns = round(stream.expovariate(1 / mean_ns)) if mean_ns else 0
    return max(deadline.get("min_ns", 0), deadline.get("offset_ns", 0) + drawn_ns)
