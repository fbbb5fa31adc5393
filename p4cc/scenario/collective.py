"""Collectives of groups of hosts (docs/algorithms/traffic.md#collectives)."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from p4cc.scenario.base import KIND, FlowBytes, Hosts, TimeNs
from p4cc.scenario.traffic_base import FlowTraffic

Schedule = Literal["ring", "halving_doubling", "pairwise"]


class CollectiveTraffic(FlowTraffic):
    """All-reduce, all-gather, reduce-scatter or all-to-all, step by step.

    The piece of a step leaves once the data it depends on has arrived. Each group of hosts is a separate job; the
    tables `collectives` and `collective_steps` give the durations of its iterations and steps.
    """

    kind: Annotated[Literal["collective"], KIND] = "collective"  # pyright: ignore[reportIncompatibleVariableOverride]
    operation: Literal["all_reduce", "all_gather", "reduce_scatter", "all_to_all"]
    """The collective operation."""
    schedule: Schedule | None = Field(
        default=None,
        description="Algorithm that decides who sends to whom in each step; default: ring, or pairwise for all_to_all.",
    )
    ranks: Hosts | None = Field(
        default=None, description="Host names in rank order; * and ? are wildcards; the topology's senders if absent."
    )
    group_size: Annotated[int, Field(ge=2, le=4_096)] | None = Field(
        default=None,
        description="Ranks per job, which splits the hosts into several jobs; one job of all ranks if absent.",
    )
    group_stride: Annotated[int, Field(ge=1, le=4_096)] = Field(
        default=1, description="Distance between consecutive ranks of a group; 1 groups neighbours."
    )
    size_bytes: FlowBytes
    """Size of the whole buffer, as NCCL's tests count it; pieces are rounded up so that all ranks have equal shares."""
    iterations: Annotated[int, Field(ge=1, le=100_000)] = 1
    """Iterations of each job."""
    compute_ns: TimeNs = 0
    """Computation time of a rank between two iterations."""
    window: Annotated[int, Field(ge=1, le=4_095)] = Field(
        default=1, description="For all_to_all: number of steps by which a rank may run ahead of what it has received."
    )

    @property
    def used_schedule(self) -> Schedule:
        """The schedule, or the operation's usual one."""
        return self.schedule or ("pairwise" if self.operation == "all_to_all" else "ring")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.operation == "all_to_all") != (self.used_schedule == "pairwise"):
            raise ValueError("use pairwise with all_to_all, and ring or halving_doubling with the other operations")
        if self.window > 1 and self.operation != "all_to_all":
            raise ValueError(
                "in this operation each step forwards the data of the previous one; give window only with all_to_all"
            )
        if self.group_stride > 1 and self.group_size is None:
            raise ValueError("group_stride requires group_size; give both")
        if self.deadline is not None:
            raise ValueError("persistent connections cannot have a deadline")
        return self

    def groups(self, hosts: list[str]) -> list[list[str]]:
        """The hosts of each job; raises ValueError if they do not divide."""
        size, stride = self.group_size or len(hosts), self.group_stride
        block = size * stride
        if len(hosts) % block:
            raise ValueError(f"{len(hosts)} hosts are not a multiple of {size} ranks with stride {stride}")
        starts = [begin + offset for begin in range(0, len(hosts), block) for offset in range(stride)]
        return [hosts[start : start + block : stride][:size] for start in starts]
