"""Coflows, and requests that spread over a tree of hosts (docs/algorithms/traffic.md#coflows, #trees)."""

from __future__ import annotations

from math import prod
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from p4cc.scenario.base import KIND, MAX_TIME_NS, FlowBytes, Hosts, TimeNs
from p4cc.scenario.operations import JobTraffic
from p4cc.scenario.traffic_base import FlowTraffic

MAX_GAP_NS = 3.6e12
"""Upper bound of the mean time between two requests: one hour."""


class CoflowsTraffic(JobTraffic):
    """The coflows of a trace in CoflowSim's format (coflow-benchmark): shuffles from mappers to reducers.

    Rank i is the trace's port i. The table `coflows` gives their completion times. Source:
    docs/algorithms/traffic.md#coflows.
    """

    kind: Annotated[Literal["coflows"], KIND] = "coflows"  # pyright: ignore[reportIncompatibleVariableOverride]
    coflows: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(
        default=None, description="Number of coflows, the trace's first ones; all if absent."
    )
    size_factor: Annotated[float, Field(gt=0, le=1_000)] = 1.0
    """Factor of all sizes; a flow keeps at least one byte."""
    time_factor: Annotated[float, Field(gt=0, le=1_000)] = 1.0
    """Factor of all arrival times; with both factors equal, the load stays as it is in the trace."""


class TreeTraffic(FlowTraffic):
    """A root asks hosts, which ask others, level by level; each answers once all that it asked have answered.

    Partition/aggregate: a request is done when the last answer has arrived at the root. In a closed loop the next
    request follows after `think_ns`; `mean_gap_ns` makes an open loop. The table `coflows` gives the completion time of
    each request. Source: docs/algorithms/traffic.md#trees.
    """

    kind: Annotated[Literal["tree"], KIND] = "tree"  # pyright: ignore[reportIncompatibleVariableOverride]
    root: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    """Host that sends the requests; the topology's first receiver if absent."""
    workers: Hosts | None = None
    """Hosts that are asked, by name, level by level; * and ? are wildcards; the topology's senders if absent."""
    fanout: Annotated[list[Annotated[int, Field(ge=1, le=4_096)]], Field(min_length=1, max_length=8)] | None = Field(
        default=None, description="Hosts that each host of a level asks, from the root; all workers at once if absent."
    )
    requests: Annotated[int, Field(ge=1, le=100_000)] = 1
    """Number of requests."""
    request_bytes: FlowBytes = 100
    """Request size, on each link of the tree."""
    response_bytes: FlowBytes
    """Size of the answer of a host of the last level."""
    aggregate_bytes: FlowBytes | None = Field(
        default=None, description="Size of the answers of hosts of the other levels; `response_bytes` if absent."
    )
    service_ns: TimeNs = 0
    """Time that a host of the last level takes for its answer."""
    think_ns: TimeNs = 0
    """Closed loop: time between the last answer and the next request."""
    mean_gap_ns: Annotated[float, Field(gt=0, le=MAX_GAP_NS)] | None = None
    """Open loop: mean time between two requests."""
    gap: Literal["exponential", "constant"] = Field(
        default="exponential",
        description="Open loop: requests form a Poisson process, which is drawn once for all seeds, or are exactly "
        "`mean_gap_ns` apart.",
    )
    deadline_ns: Annotated[int, Field(ge=1, le=MAX_TIME_NS)] | None = None
    """Time within which a request should be done; the table `coflows` tells which were."""

    @model_validator(mode="after")
    def _one_loop(self) -> Self:
        if self.deadline is not None:
            raise ValueError("flows of a tree cannot have a deadline; deadline_ns is that of a request")
        if self.mean_gap_ns is not None and self.think_ns:
            raise ValueError("an open loop (mean_gap_ns) waits for no answer; remove think_ns, or mean_gap_ns")
        if self.mean_gap_ns is None and "gap" in self.model_fields_set:
            raise ValueError("a closed loop has no gap between requests; give mean_gap_ns for an open loop")
        return self

    def levels(self, workers: int) -> list[int]:
        """Hosts of each level; raises ValueError if there are fewer workers."""
        fanout = self.fanout or [workers]
        counts = [prod(fanout[: level + 1]) for level in range(len(fanout))]
        if not workers or sum(counts) > workers:
            raise ValueError(f"the tree needs {sum(counts):,} workers, and there are {workers:,}")
        return counts
