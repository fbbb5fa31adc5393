"""How long messages between switches and the user's controller take, and what the controller is given."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from p4cc.scenario.base import KIND, MAX_TIME_NS, Model, Parameter

Latency = Annotated[int, Field(ge=0, le=MAX_TIME_NS)]


class UniformLatency(Model):
    """Uniform between two times, both included."""

    kind: Annotated[Literal["uniform"], KIND] = "uniform"
    min_ns: Latency
    """The least."""
    max_ns: Latency
    """The largest."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.max_ns < self.min_ns:
            raise ValueError("max_ns is below min_ns")
        return self


class ExponentialLatency(Model):
    """A least time, and an exponential one on top of it."""

    kind: Annotated[Literal["exponential"], KIND] = "exponential"
    mean_ns: Latency
    """Mean of the whole."""
    min_ns: Latency = 0
    """The least."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.mean_ns < self.min_ns:
            raise ValueError("mean_ns is below min_ns")
        return self


class LognormalLatency(Model):
    """Log-normal: most about the median, a few far above it."""

    kind: Annotated[Literal["lognormal"], KIND] = "lognormal"
    median_ns: Latency
    """The median."""
    sigma: Annotated[float, Field(ge=0, le=5, description="Standard deviation of the logarithm.")] = 0.5


def _kind(node: object) -> str:
    """A plain number is a constant."""
    if isinstance(node, dict):
        return str(node.get("kind", ""))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    return str(getattr(node, "kind", "constant"))


AnyLatency = Annotated[
    Annotated[Latency, Tag("constant")]
    | Annotated[UniformLatency, Tag("uniform")]
    | Annotated[ExponentialLatency, Tag("exponential")]
    | Annotated[LognormalLatency, Tag("lognormal")],
    Discriminator(_kind),
]


class Absence(Model):
    """A time during which nothing of the controller runs.

    Its timers are over, and what switches send it is lost. What it asked before takes effect. When it returns, it is a
    new object of its class, and `start` is called again.
    """

    leaves_ns: Annotated[int, Field(ge=0, le=MAX_TIME_NS)]
    """When it leaves."""
    returns_ns: Annotated[int, Field(ge=1, le=MAX_TIME_NS)] | None = Field(
        default=None, description="When it is there again; absent: it stays away."
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.returns_ns is not None and self.returns_ns <= self.leaves_ns:
            raise ValueError("returns_ns is not after leaves_ns")
        return self


class ControlSettings(Model):
    """The way between the switches and the controller that `switch.controller` names (docs/reference/controller.md)."""

    latency_ns: AnyLatency = Field(
        default=0,
        description="From the instant at which a handler is called until its writes and packet-outs take effect: a "
        "time, or a distribution with a random stream for each switch.",
    )
    notify_latency_ns: AnyLatency = Field(
        default=0,
        description="From the instant at which a switch sends a packet-in, a digest or a notification, or a port "
        "changes, until the handler is called: a time, or a distribution with a random stream for each switch.",
    )
    parameters: dict[str, Parameter] = Field(
        default={}, max_length=256, description="Keyword arguments of the controller's `__init__`."
    )
    absences: list[Absence] = Field(default=[], max_length=10_000, description="When the controller is not there.")
    handler_limit_s: Annotated[float, Field(gt=0, le=86_400)] = Field(
        default=60,
        description="Seconds of real time that one call of Python code may take: a handler of the controller, a method "
        "of an algorithm, the import of their files. No result depends on it.",
    )

    @model_validator(mode="after")
    def _one_at_a_time(self) -> Self:
        absences = sorted(self.absences, key=lambda one: one.leaves_ns)
        for one, other in pairwise(absences):
            if one.returns_ns is None or other.leaves_ns <= one.returns_ns:
                raise ValueError(f"the controller that leaves at {other.leaves_ns} ns is away already")
        return self
