"""Requests and answers between pairs of hosts (docs/algorithms/traffic.md#workloads, TIMELY RPC)."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from p4cc.scenario.base import KIND, FlowBytes, Hosts, TimeNs
from p4cc.scenario.traffic_base import FlowTraffic, JitterNs


class RpcTraffic(FlowTraffic):
    """Each client keeps a connection to some servers and asks on it: closed loop, or open with a load or a mean gap.

    With closed loops a connection asks again when its answer is in. A request and its answer are a round of the table
    `rounds`; a server answers at once, unless `service_jitter_ns` says otherwise.
    """

    kind: Annotated[Literal["rpc"], KIND] = "rpc"  # pyright: ignore[reportIncompatibleVariableOverride]
    clients: Hosts | None = None
    """Hosts that ask, by name, with * and ?; the topology's senders if absent."""
    servers: Hosts | None = Field(default=None, description="As many as clients; the clients themselves if absent.")
    shifts: Annotated[list[Annotated[int, Field(ge=0, le=100_000)]], Field(min_length=1, max_length=64)] = Field(
        default=[1], description="A connection for each: from client i to server i + shift, counted round."
    )
    request_bytes: FlowBytes = 65_536
    """Size of a request."""
    response_bytes: FlowBytes = 65_536
    """Size of an answer."""
    rpcs: Annotated[int, Field(ge=1, le=1_000_000, description="Most RPCs of a connection.")] = 100_000
    load: (
        Annotated[
            float,
            Field(gt=0, le=10),
        ]
        | None
    ) = None
    """Open loop: requests of all connections of a client, as a share of its link."""
    mean_gap_ns: Annotated[float, Field(gt=0, le=3.6e12)] | None = None
    """Open loop: mean time between two requests on one connection."""
    think_ns: TimeNs = 0
    """Closed loop: between an answer and the next request."""
    start_jitter_ns: JitterNs = 100_000
    """Connections start within this time, each at a random one."""
    service_jitter_ns: JitterNs = 0
    """A server answers within this time, at a random one."""

    @model_validator(mode="after")
    def _one_rate(self) -> Self:
        if self.load is not None and self.mean_gap_ns is not None:
            raise ValueError("give load or mean_gap_ns for an open loop, neither for a closed one")
        if self.deadline is not None:
            raise ValueError("connections that are kept have no deadline")
        return self
