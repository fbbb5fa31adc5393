"""A closed loop: hosts that keep flows outstanding (docs/algorithms/traffic.md#closed-loop)."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from p4cc.scenario.base import KIND, Hosts, TimeNs
from p4cc.scenario.sizes import FlowSize
from p4cc.scenario.traffic_base import FlowTraffic, JitterNs, Quantity


class ClosedLoopTraffic(FlowTraffic, Quantity):
    """Each source keeps `outstanding` flows in progress, to uniformly drawn destinations.

    When a flow ends, its source starts the next one after `think_ns`, until the sources have offered `total_flows` or
    `total_bytes`, of which each has an even share. Source: docs/algorithms/traffic.md#closed-loop.
    """

    kind: Annotated[Literal["closed_loop"], KIND] = "closed_loop"  # pyright: ignore[reportIncompatibleVariableOverride]
    sources: Hosts | None = None
    """Sending hosts, by name; * and ? are wildcards; the topology's senders if absent."""
    destinations: Hosts | None = None
    """Receiving hosts, all equally likely; the topology's receivers if absent."""
    size: FlowSize
    """Flow-size distribution."""
    outstanding: Annotated[int, Field(ge=1, le=10_000)] = 1
    """Flows of each source that are in progress or wait for the end of their think time."""
    think_ns: TimeNs = 0
    """Mean time between the end of a flow and the start of the next one."""
    think: Literal["constant", "exponential"] = Field(
        default="constant", description="Think times are exactly `think_ns`, or exponential with that mean."
    )
    start_jitter_ns: JitterNs = 10_000
    """Each source's first flows start at uniformly random times within this interval."""

    @model_validator(mode="after")
    def _has_an_end(self) -> Self:
        if self.quantity is None:
            raise ValueError("give exactly one of total_flows and total_bytes")
        if self.think == "exponential" and self.think_ns == 0:
            raise ValueError("exponential think times need a mean; give think_ns")
        return self
