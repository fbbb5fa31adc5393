"""The fields of every kind of traffic."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from p4cc.scenario.base import MAX_TIME_NS, FlowBytes, Label, Model, Sender, TimeNs

JitterNs = Annotated[int, Field(ge=0, le=10_000_000_000)]


class DeadlineChange(Model):
    """A new deadline for a flow in progress, set by its application (D3 2011)."""

    after_ns: Annotated[int, Field(ge=1, le=MAX_TIME_NS)]
    """Time of the change, relative to the start of the flow; completed flows are not affected."""
    offset_ns: Annotated[int, Field(ge=1, le=MAX_TIME_NS)]
    """The new deadline, relative to the start of the flow."""


class Deadline(Model):
    """The larger of `min_ns` and `offset_ns` plus an exponential time, relative to the start of the flow.

    The stand-in for the GST paper's D2TCP runs is `{exp_mean_ns: 20_000_000, min_ns: 3_000_000}`
    (docs/algorithms/window.md#d2tcp).
    """

    offset_ns: TimeNs = 0
    """Offset added to the random time."""
    exp_mean_ns: TimeNs = 0
    """Mean of the random time; 0 disables it."""
    min_ns: TimeNs = 0
    """Lower bound of the deadline."""
    change: DeadlineChange | None = None
    """Changes of the deadline while the flow is in progress."""

    @model_validator(mode="after")
    def _is_some_time(self) -> Self:
        if self.offset_ns == self.exp_mean_ns == self.min_ns == 0:
            raise ValueError("the deadline is 0; give offset_ns, exp_mean_ns or min_ns")
        return self


class Traffic(Model):
    """Fields that all kinds of traffic share."""

    name: Label | None = Field(default=None, description="Label in results and of random streams; the kind if absent.")
    start_ns: TimeNs = 0
    """Time at which the traffic starts."""
    priority: Annotated[int, Field(ge=0, le=7, description="Traffic class on the wire; 7 is the highest.")] = 0
    kind: str
    """The kind's name."""

    @property
    def label(self) -> str:
        """The name, or the kind."""
        return self.name or self.kind


class FlowTraffic(Traffic):
    """Fields of every kind whose packets belong to flows, which an algorithm sends."""

    deadline: Deadline | None = None
    """Deadline by which each flow should complete, for deadline-aware senders."""
    sender: Sender | None = Field(default=None, description="Sender of this traffic, in place of the variant.")


class EndingTraffic(FlowTraffic):
    """Fields of kinds that keep starting flows until a given time."""

    end_ns: TimeNs | None = Field(default=None, description="Time from which no more flows start; `stop_ns` if absent.")

    @model_validator(mode="after")
    def _ends_after_start(self) -> Self:
        if self.end_ns is not None and self.end_ns <= self.start_ns:
            raise ValueError(f"end_ns {self.end_ns} is not later than start_ns {self.start_ns}")
        return self


class Quantity(Model):
    """How much traffic is offered in all, over all sources.

    Source: docs/algorithms/traffic.md#quantity.
    """

    total_flows: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Number of flows of all sources together, after which none starts."""
    total_bytes: FlowBytes | None = None
    """Data that all sources send together, after which no flow starts; the last flow is cut to fit."""

    @model_validator(mode="after")
    def _one_quantity(self) -> Self:
        if self.total_flows is not None and self.total_bytes is not None:
            raise ValueError("give either total_flows or total_bytes")
        return self

    @property
    def quantity(self) -> tuple[Literal["total_flows", "total_bytes"], int] | None:
        """The field that is given, and its value."""
        if self.total_flows is not None:
            return "total_flows", self.total_flows
        return None if self.total_bytes is None else ("total_bytes", self.total_bytes)


def own_sender(item: FlowTraffic) -> str:
    """The engine's name of a sender that traffic defines itself."""
    return f"{item.label}/sender"
