"""Requests and answers between pairs of hosts (docs/algorithms/traffic.md#workloads, TIMELY RPC)."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from p4cc.scenario.base import KIND, FlowBytes, Hosts, TimeNs
from p4cc.scenario.traffic_base import FlowTraffic, JitterNs


class RpcTraffic(FlowTraffic):
    """Each client sends requests to some servers over persistent connections, in a closed or an open loop.

    An open loop has a load or a mean gap; in a closed loop, a connection sends the next request once its answer has
    arrived. A request and its answer are one round of the table `rounds`; a server answers immediately unless
    `service_jitter_ns` is set.
    """

    kind: Annotated[Literal["rpc"], KIND] = "rpc"  # pyright: ignore[reportIncompatibleVariableOverride]
    clients: Hosts | None = None
    """Hosts that send requests, by name; * and ? are wildcards; the topology's senders if absent."""
    servers: Hosts | None = Field(
        default=None, description="As many servers as clients; the clients themselves if absent."
    )
    shifts: Annotated[list[Annotated[int, Field(ge=0, le=100_000)]], Field(min_length=1, max_length=64)] = Field(
        default=[1],
        description="Shifts, one connection for each: from client i to server i + shift, modulo the number of servers.",
    )
    request_bytes: FlowBytes = 65_536
    """Request size."""
    response_bytes: FlowBytes = 65_536
    """Response size."""
    rpcs: Annotated[int, Field(ge=1, le=1_000_000, description="Maximum number of RPCs per connection.")] = 100_000
    load: (
        Annotated[
            float,
            Field(gt=0, le=10),
        ]
        | None
    ) = None
    """Open loop: requests over all connections of a client, as a fraction of its link rate."""
    mean_gap_ns: Annotated[float, Field(gt=0, le=3.6e12)] | None = None
    """Open loop: mean time between two requests on a connection."""
    think_ns: TimeNs = 0
    """Closed loop: time between an answer and the next request."""
    start_jitter_ns: JitterNs = 100_000
    """Each connection starts at a uniformly random time within this interval."""
    service_jitter_ns: JitterNs = 0
    """Each answer is delayed by a uniformly random time up to this."""

    @model_validator(mode="after")
    def _one_rate(self) -> Self:
        if self.load is not None and self.mean_gap_ns is not None:
            raise ValueError("give either load or mean_gap_ns for an open loop, or neither for a closed loop")
        if self.deadline is not None:
            raise ValueError("persistent connections cannot have a deadline")
        return self
