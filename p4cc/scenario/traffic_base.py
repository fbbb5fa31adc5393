"""What every kind of traffic has."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from p4cc.scenario.base import MAX_TIME_NS, Label, Model, Sender, TimeNs

JitterNs = Annotated[int, Field(ge=0, le=10_000_000_000)]


class DeadlineChange(Model):
    """Another deadline for a flow that is under way, as its application may wish (D3 2011)."""

    after_ns: Annotated[int, Field(ge=1, le=MAX_TIME_NS)]
    """When it changes, from the start of the flow; a flow that is complete by then keeps its deadline."""
    offset_ns: Annotated[int, Field(ge=1, le=MAX_TIME_NS)]
    """The deadline from then on, from the start of the flow."""


class Deadline(Model):
    """The larger of `min_ns` and `offset_ns` plus an exponential time; counted from the start of the flow.

    The stand-in for the GST paper's D2TCP runs is `{exp_mean_ns:
    20_000_000, min_ns: 3_000_000}` (docs/algorithms/window.md#d2tcp).
    """

    offset_ns: TimeNs = 0
    """Added to the drawn time."""
    exp_mean_ns: TimeNs = 0
    """Mean of the drawn time; 0 draws none."""
    min_ns: TimeNs = 0
    """No deadline is shorter."""
    change: DeadlineChange | None = None
    """What it becomes while the flow is under way."""

    @model_validator(mode="after")
    def _is_some_time(self) -> Self:
        if self.offset_ns == self.exp_mean_ns == self.min_ns == 0:
            raise ValueError("a deadline of 0 is none; give offset_ns, exp_mean_ns or min_ns")
        return self


class Traffic(Model):
    """What every kind has."""

    name: Label | None = Field(default=None, description="Label in results and of random streams; the kind if absent.")
    start_ns: TimeNs = 0
    """When it begins."""
    priority: Annotated[int, Field(ge=0, le=7, description="Traffic class on the wire; 7 is the highest.")] = 0
    kind: str
    """The kind's name."""

    @property
    def label(self) -> str:
        """The name, or the kind."""
        return self.name or self.kind


class FlowTraffic(Traffic):
    """What every kind has whose packets are of flows, with an algorithm that sends them."""

    deadline: Deadline | None = None
    """Time by which each flow should be complete, for senders that look at it."""
    sender: Sender | None = Field(default=None, description="Who sends this, in place of the variant.")


class EndingTraffic(FlowTraffic):
    """What kinds have that go on starting flows until some time."""

    end_ns: TimeNs | None = Field(default=None, description="Nothing starts then or later; `stop_ns` if absent.")

    @model_validator(mode="after")
    def _ends_after_start(self) -> Self:
        if self.end_ns is not None and self.end_ns <= self.start_ns:
            raise ValueError(f"end_ns {self.end_ns} is not after start_ns {self.start_ns}")
        return self


def own_sender(item: FlowTraffic) -> str:
    """What the engine knows the sender of traffic by that brings its own."""
    return f"{item.label}/sender"
