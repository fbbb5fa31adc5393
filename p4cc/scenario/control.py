"""Latencies between switches and the user's controller, and the controller's parameters."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from p4cc.scenario.base import KIND, MAX_TIME_NS, Model, Parameter

Latency = Annotated[int, Field(ge=0, le=MAX_TIME_NS)]


class UniformLatency(Model):
    """Uniform distribution between two times, both included."""

    kind: Annotated[Literal["uniform"], KIND] = "uniform"
    min_ns: Latency
    """Minimum."""
    max_ns: Latency
    """Maximum."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.max_ns < self.min_ns:
            raise ValueError("max_ns is less than min_ns")
        return self


class ExponentialLatency(Model):
    """A minimum plus an exponential time."""

    kind: Annotated[Literal["exponential"], KIND] = "exponential"
    mean_ns: Latency
    """Mean of the sum."""
    min_ns: Latency = 0
    """Minimum."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.mean_ns < self.min_ns:
            raise ValueError("mean_ns is less than min_ns")
        return self


class LognormalLatency(Model):
    """Log-normal distribution: most values near the median, a few far above it."""

    kind: Annotated[Literal["lognormal"], KIND] = "lognormal"
    median_ns: Latency
    """Median."""
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
    """A time during which the controller does not run.

    Its timers are cancelled and messages from switches are lost, but requests that it has already sent take effect.
    When it returns, a new object of its class is created and `start` is called again.
    """

    leaves_ns: Annotated[int, Field(ge=0, le=MAX_TIME_NS)]
    """When the controller stops."""
    returns_ns: Annotated[int, Field(ge=1, le=MAX_TIME_NS)] | None = Field(
        default=None, description="When the controller restarts; if absent, it never does."
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.returns_ns is not None and self.returns_ns <= self.leaves_ns:
            raise ValueError("returns_ns must be later than leaves_ns")
        return self


class ControlSettings(Model):
    """The channel between the switches and the controller in `switch.controller` (docs/reference/controller.md)."""

    latency_ns: AnyLatency = Field(
        default=0,
        description="Delay from the call of a handler until its writes and packet-outs take effect: a time, or a "
        "distribution with one random stream per switch.",
    )
    notify_latency_ns: AnyLatency = Field(
        default=0,
        description="Delay from the instant at which a switch sends a packet-in, a digest or a notification, or a "
        "port changes state, until the handler is called: a time, or a distribution with one random "
        "stream per switch.",
    )
    parameters: dict[str, Parameter] = Field(
        default={}, max_length=256, description="Keyword arguments for the controller's `__init__`."
    )
    absences: list[Absence] = Field(
        default=[], max_length=10_000, description="Times during which the controller does not run."
    )
    handler_limit_s: Annotated[float, Field(gt=0, le=86_400)] = Field(
        default=60,
        description="Limit in seconds of wall-clock time for one call of Python code: a controller's handler, an "
        "algorithm's method, or the import of their files. Results do not depend on it.",
    )

    @model_validator(mode="after")
    def _one_at_a_time(self) -> Self:
        absences = sorted(self.absences, key=lambda one: one.leaves_ns)
        for one, other in pairwise(absences):
            if one.returns_ns is None or other.leaves_ns <= one.returns_ns:
                raise ValueError(f"the absence that starts at {other.leaves_ns} ns has not ended yet")
        return self
