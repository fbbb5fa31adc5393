"""The parts of a scenario for switches with an algorithm: D3's allocator, RCP's fair rate, DualPI2, Bolt."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from p4cc.scenario.base import MAX_TIME_NS, Model

PositiveNs = Annotated[int, Field(ge=1, le=MAX_TIME_NS)]
Gain = Annotated[float, Field(ge=0, le=10)]


class CapacityEstimateSettings(Model):
    """C_e tracks load and queue: C_e + alpha (C - y/T) - beta q/T in each interval.

    Source: docs/algorithms/d3-rcp.md#d3-switch.
    """

    interval_ns: PositiveNs | None = Field(
        default=None, description="T; the network's longest round-trip time if absent."
    )
    alpha: Gain = 0.1
    """Gain on the spare capacity."""
    beta: Gain = 1.0
    """Gain on the queue."""
    floor_share: Annotated[float, Field(gt=0, le=1, description="Lower bound of C_e, as a fraction of C.")] = 0.1


class D3SwitchSettings(Model):
    """Ports that allocate rates on request."""

    epoch_ns: PositiveNs | None = Field(
        default=None,
        description="Interval after which idle flows expire: a flow without a request for one to two intervals is "
        "forgotten, together with whatever a lost request left in the counters. Default: 64 times the "
        "network's longest round-trip time, or 4 times with its longest queue full, up to 100 ms; at "
        "least 4 round trips.",
    )
    capacity_share: Annotated[float, Field(gt=0, le=1, description="C, as a fraction of the link rate.")] = 1.0
    grants: Literal["published", "clamped"] = Field(
        default="published",
        description="published: desired rate plus fair share whenever more than the desired rate is left, even if "
        "the sum exceeds it. clamped: never more than is left "
        "(docs/algorithms/d3-rcp.md#choice-d3-grant).",
    )
    estimate: CapacityEstimateSettings | None = Field(
        default=None, description="Estimation of C_e; if absent, C_e = C regardless of load and queue."
    )


class RcpSwitchSettings(Model):
    """Ports with one fair rate for all flows (docs/algorithms/d3-rcp.md#rcp)."""

    interval_ns: PositiveNs | None = Field(
        default=None, description="T; the network's longest round-trip time if absent."
    )
    alpha: Gain = 0.4
    """Gain on the spare capacity."""
    beta: Gain = 0.4
    """Gain on the queue."""
    initial_share: Annotated[float, Field(gt=0, le=1)] = 0.05
    """Initial fair rate, as a fraction of the link rate."""


class DualPi2SwitchSettings(Model):
    """Ports with coupled L4S and Classic queues (docs/algorithms/prague.md#dualpi2-parameters)."""

    target_ns: PositiveNs = 15_000_000
    """Target delay of the Classic queue."""
    interval_ns: PositiveNs = 16_000_000
    """Update interval of the PI controller (Tupdate)."""
    alpha_hz: Gain = 0.16
    """Integral gain, on the delay's deviation from the target."""
    beta_hz: Gain = 3.2
    """Proportional gain, on the change of the delay."""
    coupling_shift: Annotated[int, Field(ge=0, le=8)] = Field(
        default=1, description="Log2 of the coupling factor k, by which the base probability is multiplied for L4S."
    )
    step_ns: PositiveNs = Field(
        default=1_000_000,
        description="Delay above which L4S packets are marked; at least the transmission time of two full packets "
        "on the link.",
    )


class BoltSwitchSettings(Model):
    """Ports that notify senders of their queues and offer tokens (docs/algorithms/bolt.md#bolt-switch)."""

    threshold_bytes: Annotated[int, Field(ge=1, lt=1 << 32)] | None = Field(
        default=None, description="Queue length at which congestion is reported; two full packets if absent."
    )
    early: bool = Field(
        default=True,
        description="SRC: whether the switch notifies the sender directly. If false, it writes its queue length "
        "into the packet and the receiver notifies the sender.",
    )
    places: Annotated[int, Field(ge=0, lt=1 << 16)] = Field(
        default=256,
        description="PRU: upper bound on tokens from flows that are about to end, in packets; 0 disables them.",
    )
    room: bool = True
    """SM: whether unused capacity is offered."""
