"""Faults of a run: links, switches with all their state, network cards that pause without need, and slow hosts."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from p4cc.scenario.base import MAX_TIME_NS, Model

MAX_FAULTS = 100_000


class Fault(Model):
    """A link or switch that goes down for a time.

    Packets sent on a link while it is down are lost; packets already in flight arrive. ECMP groups skip ports that are
    down. A switch that goes down loses its program, tables and queues, and all its links go down.
    """

    between: tuple[str, str] | None = Field(default=None, description="The two nodes that the link connects.")
    switch: Annotated[str, Field(min_length=1, max_length=64)] | None = Field(
        default=None, description="Name of a switch; excludes `between`."
    )
    down_ns: Annotated[int, Field(ge=0, le=MAX_TIME_NS)]
    """When the link or switch goes down."""
    up_ns: Annotated[int, Field(ge=1, le=MAX_TIME_NS)] | None = Field(
        default=None, description="When it comes up again; if absent, it stays down."
    )
    reroute_ns: Annotated[int, Field(ge=0, le=MAX_TIME_NS)] | None = Field(
        default=None,
        description="For a link of a host with several: time after the link goes down or comes up until the switches' "
        "routes to that host follow. If absent they never do, and what other switches still send to the "
        "switch at the dead link is lost. The host itself uses its other links at once.",
    )
    install_delay_ns: Annotated[int, Field(ge=0, le=MAX_TIME_NS)] = Field(
        default=0,
        description="For a switch: time without a program after it comes up, until p4cc's controller has "
        "reinstalled the program, routes, thresholds and entries. The switch drops everything it "
        "receives in that time.",
    )

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.between is None) == (self.switch is None):
            raise ValueError("give between (the two ends of a link) or switch (a name)")
        if self.reroute_ns is not None and self.between is None:
            raise ValueError("reroute_ns applies to a link: give between")
        if self.install_delay_ns and (self.switch is None or self.up_ns is None):
            raise ValueError("install_delay_ns applies to a switch that comes up again: give switch and up_ns")
        return self

    @property
    def installed_ns(self) -> int | None:
        """When the switch has its program and its entries again; None if it never has."""
        return None if self.up_ns is None else self.up_ns + self.install_delay_ns


class Storm(Model):
    """A host whose network card pauses its switch without need: a PFC storm (docs/algorithms/pfc.md#storms)."""

    host: Annotated[str, Field(min_length=1, max_length=64)]
    """Name of the host."""
    priority: Annotated[int, Field(ge=0, le=7)] = 3
    """Priority that it pauses."""
    start_ns: Annotated[int, Field(ge=0, le=MAX_TIME_NS)]
    """When it begins."""
    end_ns: Annotated[int, Field(ge=1, le=MAX_TIME_NS)] | None = Field(
        default=None, description="When a resume frame ends it; if absent, it lasts until the run ends."
    )
    pause_quanta: Annotated[int, Field(ge=128, le=65_535)] | None = Field(
        default=None,
        description="Duration of each pause, in units of 512 bit times of the link: the card sends the frame again "
        "when half of it is over. If absent, one frame pauses the switch until the storm ends.",
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.end_ns is not None and self.end_ns <= self.start_ns:
            raise ValueError("end_ns must be after start_ns")
        return self


class SlowReceiver(Model):
    """Hosts that take packets from their network card below their link's rate (docs/algorithms/pfc.md#slow-receivers).

    Where the switch's buffer has lossless priorities, the card pauses the switch before it is full; otherwise it drops.
    """

    host: Annotated[str, Field(min_length=1, max_length=64, description="Host name; * and ? are wildcards.")]
    receive_rate_bps: Annotated[int, Field(ge=0, le=10**13)]
    """Rate at which the host takes packets, in bytes as on its link; 0 if it takes nothing."""
    buffer_bytes: Annotated[int, Field(ge=1, le=1 << 30)] = 1 << 20
    """What its card holds."""
    start_ns: Annotated[int, Field(ge=0, le=MAX_TIME_NS)] = 0
    """When it begins to be slow."""
    end_ns: Annotated[int, Field(ge=1, le=MAX_TIME_NS)] | None = Field(
        default=None, description="When it takes everything at once again; if absent, it stays slow."
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.end_ns is not None and self.end_ns <= self.start_ns:
            raise ValueError("end_ns must be after start_ns")
        return self
