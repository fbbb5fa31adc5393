"""Collectives of groups of hosts (docs/algorithms/traffic.md#collectives)."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from p4cc.scenario.base import KIND, FlowBytes, Hosts, TimeNs
from p4cc.scenario.traffic_base import FlowTraffic

Schedule = Literal["ring", "halving_doubling", "pairwise"]


class CollectiveTraffic(FlowTraffic):
    """All-reduce, all-gather, reduce-scatter or all-to-all: a step's piece leaves when what it needs has come in.

    Each group of hosts is a job of its own; the tables `collectives` and `collective_steps` say how long its
    iterations and steps took.
    """

    kind: Annotated[Literal["collective"], KIND] = "collective"  # pyright: ignore[reportIncompatibleVariableOverride]
    operation: Literal["all_reduce", "all_gather", "reduce_scatter", "all_to_all"]
    """What the ranks want to have."""
    schedule: Schedule | None = Field(
        default=None, description="Who sends to whom in which step; ring if absent, pairwise for all_to_all."
    )
    ranks: Hosts | None = Field(
        default=None, description="Hosts by rank, by name, with * and ?; the topology's senders if absent."
    )
    group_size: Annotated[int, Field(ge=2, le=4_096)] | None = Field(
        default=None, description="Ranks of a job, of which there are then several; one job of all ranks if absent."
    )
    group_stride: Annotated[int, Field(ge=1, le=4_096)] = Field(
        default=1, description="From a rank of a group to the next one: 1 takes neighbours."
    )
    size_bytes: FlowBytes
    """The whole buffer, as NCCL's tests count it; pieces round up to whole shares of the ranks."""
    iterations: Annotated[int, Field(ge=1, le=100_000)] = 1
    """How often each job does it."""
    compute_ns: TimeNs = 0
    """Time that a rank computes between two iterations."""
    window: Annotated[int, Field(ge=1, le=4_095)] = Field(
        default=1, description="all_to_all: steps that a rank may be ahead of what it received."
    )

    @property
    def used_schedule(self) -> Schedule:
        """The schedule, or the operation's usual one."""
        return self.schedule or ("pairwise" if self.operation == "all_to_all" else "ring")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.operation == "all_to_all") != (self.used_schedule == "pairwise"):
            raise ValueError("pairwise goes with all_to_all, ring and halving_doubling with the other operations")
        if self.window > 1 and self.operation != "all_to_all":
            raise ValueError("a step passes on what the one before it brought; give window with all_to_all only")
        if self.group_stride > 1 and self.group_size is None:
            raise ValueError("group_stride is for groups; give group_size too")
        if self.deadline is not None:
            raise ValueError("connections that are kept have no deadline")
        return self

    def groups(self, hosts: list[str]) -> list[list[str]]:
        """The hosts of each job; raises ValueError if they do not divide."""
        size, stride = self.group_size or len(hosts), self.group_stride
        block = size * stride
        if len(hosts) % block:
            raise ValueError(f"{len(hosts)} hosts are no multiple of {size} ranks with stride {stride}")
        starts = [begin + offset for begin in range(0, len(hosts), block) for offset in range(stride)]
        return [hosts[start : start + block : stride][:size] for start in starts]
