"""The parts of a scenario for switches with an algorithm: D3's allocator, RCP's fair rate, DualPI2, Bolt."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from p4cc.scenario.base import MAX_TIME_NS, Model

PositiveNs = Annotated[int, Field(ge=1, le=MAX_TIME_NS)]
Gain = Annotated[float, Field(ge=0, le=10)]


class CapacityEstimateSettings(Model):
    """C_e follows load and queue: C_e + alpha (C - y/T) - beta q/T once each interval.

    Source: docs/algorithms/d3-rcp.md#d3-switch.
    """

    interval_ns: PositiveNs | None = Field(default=None, description="T; the network's longest round trip if absent.")
    alpha: Gain = 0.1
    """Gain of the spare capacity."""
    beta: Gain = 1.0
    """Gain of the queue."""
    floor_share: Annotated[float, Field(gt=0, le=1, description="Least C_e as a share of C.")] = 0.1


class D3SwitchSettings(Model):
    """Ports that allot rates on request."""

    epoch_ns: PositiveNs | None = Field(
        default=None,
        description="A flow that did not ask for one to two of these is forgotten, and so is what a lost request "
        "leaves in the counters. Absent: 64 of the network's longest round trips, or 4 with its longest queue full, up "
        "to 100 ms; at least 4 round trips.",
    )
    capacity_share: Annotated[float, Field(gt=0, le=1, description="C as a share of the link's rate.")] = 1.0
    grants: Literal["published", "clamped"] = Field(
        default="published",
        description="published: desire and fair share where more is left than the desire, though less than both may "
        "be. clamped: never more than is left (docs/algorithms/d3-rcp.md#choice-d3-grant).",
    )
    estimate: CapacityEstimateSettings | None = Field(
        default=None, description="Absent: C_e = C, whatever load and queue are."
    )


class RcpSwitchSettings(Model):
    """Ports with one fair rate for all flows (docs/algorithms/d3-rcp.md#rcp)."""

    interval_ns: PositiveNs | None = Field(default=None, description="T; the network's longest round trip if absent.")
    alpha: Gain = 0.4
    """Gain of the spare capacity."""
    beta: Gain = 0.4
    """Gain of the queue."""
    initial_share: Annotated[float, Field(gt=0, le=1)] = 0.05
    """First fair rate as a share of the link's."""


class DualPi2SwitchSettings(Model):
    """Ports with a queue for L4S and one for all others, coupled (docs/algorithms/prague.md#dualpi2-parameters)."""

    target_ns: PositiveNs = 15_000_000
    """Delay of the Classic queue that is aimed at."""
    interval_ns: PositiveNs = 16_000_000
    """Time between two steps of the PI controller (Tupdate)."""
    alpha_hz: Gain = 0.16
    """Gain of the delay's distance from the target."""
    beta_hz: Gain = 3.2
    """Gain of the delay's growth."""
    coupling_shift: Annotated[int, Field(ge=0, le=8)] = Field(
        default=1, description="k is 2 to this power: L4S is marked with so many times the base probability."
    )
    step_ns: PositiveNs = Field(
        default=1_000_000,
        description="L4S is marked behind longer delays; at least the time of two full packets on the link.",
    )


class BoltSwitchSettings(Model):
    """Ports that tell senders of their queues, and offer places and room (docs/algorithms/bolt.md#bolt-switch)."""

    threshold_bytes: Annotated[int, Field(ge=1, lt=1 << 32)] | None = Field(
        default=None, description="Queues from here on are told; two full packets if absent."
    )
    early: bool = Field(
        default=True,
        description="SRC: the switch tells the sender at once. False: it writes its queue into the packet, and the "
        "receiver tells.",
    )
    places: Annotated[int, Field(ge=0, lt=1 << 16)] = Field(
        default=256, description="PRU: packets that ended flows leave room for, kept at most; 0 for none."
    )
    room: bool = True
    """SM: room that nobody uses is offered."""
