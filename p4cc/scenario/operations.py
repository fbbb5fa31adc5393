"""Operations that wait for each other (docs/algorithms/traffic.md#operations)."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from p4cc.scenario.base import KIND, FlowBytes, Hosts, Model, TimeNs
from p4cc.scenario.traffic_base import FlowTraffic

OperationName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]{1,64}$")]
OperationNames = Annotated[list[OperationName], Field(max_length=4_096)]


class Operation(Model):
    """A send of data to another host, or time that a host computes."""

    name: OperationName
    """Name in results and in what waits for it."""
    host: Annotated[str, Field(min_length=1, max_length=64)]
    """Host that sends or computes."""
    to: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    """Host that a send goes to."""
    size_bytes: FlowBytes | None = None
    """Payload of a send, which is a flow of its own."""
    compute_ns: TimeNs | None = None
    """Computing time, of an operation that sends nothing; 0 to wait for others only, as a receive does."""
    after: OperationNames = Field(
        default=[], description="Operations that end before; a send ends with its last acknowledgement."
    )
    after_arrival: OperationNames = Field(default=[], description="Sends whose data arrives before.")
    after_start: OperationNames = Field(default=[], description="Operations that start before.")
    start_ns: TimeNs = Field(default=0, description="Earliest start, relative to the traffic's.")
    unit: OperationName | None = Field(
        default=None, description="What it needs alone, such as a processor: one operation of a unit runs at a time."
    )

    @model_validator(mode="after")
    def _sends_or_computes(self) -> Self:
        if (self.to is None) != (self.size_bytes is None) or (self.to is None) == (self.compute_ns is None):
            raise ValueError("give to and size_bytes for a send, or compute_ns")
        if self.to == self.host:
            raise ValueError(f"{self.host!r} would send to itself; name two hosts")
        return self

    @property
    def waits_for(self) -> list[str]:
        """Names of the operations that it waits for."""
        return [*self.after, *self.after_arrival, *self.after_start]


class JobTraffic(FlowTraffic):
    """Fields of kinds whose operations are those of a file."""

    file: Annotated[str, Field(min_length=1, description="Path relative to the scenario or the project.")]
    ranks: Hosts | None = Field(
        default=None, description="Hosts by rank; * and ? are wildcards; the topology's first hosts if absent."
    )

    @model_validator(mode="after")
    def _has_no_deadline(self) -> Self:
        if self.deadline is not None:
            raise ValueError("sends of operations cannot have a deadline")
        return self


class GoalTraffic(JobTraffic):
    """The operations of a GOAL schedule as text (LogGOPSim, ATLAHS): sends, receives and computing times of ranks.

    The tables `jobs` and `operations` give their times. Source: docs/algorithms/traffic.md#goal.
    """

    kind: Annotated[Literal["goal"], KIND] = "goal"  # pyright: ignore[reportIncompatibleVariableOverride]


class ChakraTraffic(JobTraffic):
    """The nodes of Chakra's execution traces, as ASTRA-sim runs them: computing, messages and collectives of ranks.

    `file` is the trace of rank 0, such as `trace.0.et`; those of the other ranks, `trace.1.et` and on, are next to it.
    The tables `jobs`, `operations` and `collectives` give the times. Source: docs/algorithms/traffic.md#chakra.
    """

    kind: Annotated[Literal["chakra"], KIND] = "chakra"  # pyright: ignore[reportIncompatibleVariableOverride]
    groups: Annotated[str, Field(min_length=1)] | None = Field(
        default=None, description="ASTRA-sim's file of communicator groups, if nodes name any (`pg_name`)."
    )


class SimaiTraffic(JobTraffic):
    """A workload of SimAI or of ASTRA-sim's first version, as text: one training step of all GPUs.

    The tables `jobs`, `operations` and `collectives` give the times. Source: docs/algorithms/traffic.md#simai.
    """

    kind: Annotated[Literal["simai"], KIND] = "simai"  # pyright: ignore[reportIncompatibleVariableOverride]
    layers: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(
        default=None, description="Number of the file's layers to run, the first ones; all if absent."
    )


class OperationsTraffic(FlowTraffic):
    """A job of operations that wait for each other: sends and computing times.

    The tables `jobs` and `operations` give the times of the job and of each operation.
    """

    kind: Annotated[Literal["operations"], KIND] = "operations"  # pyright: ignore[reportIncompatibleVariableOverride]
    operations: Annotated[list[Operation], Field(min_length=1, max_length=10_000)]
    """The operations, in any order."""

    @model_validator(mode="after")
    def _names_are_known(self) -> Self:
        if self.deadline is not None:
            raise ValueError("sends of operations cannot have a deadline")
        known = {one.name: one for one in self.operations}
        if len(known) < len(self.operations):
            names = [one.name for one in self.operations]
            twice = next(name for place, name in enumerate(names) if name in names[:place])
            raise ValueError(f"two operations are named {twice!r}; give each its own name")
        for one in self.operations:
            for name in one.waits_for:
                if name not in known:
                    raise ValueError(f"{one.name!r} waits for {name!r}, which is not an operation; correct the name")
            for name in one.after_arrival:
                if known[name].size_bytes is None:
                    raise ValueError(f"{one.name!r} waits for an arrival of {name!r}, which sends nothing; use after")
        return self
