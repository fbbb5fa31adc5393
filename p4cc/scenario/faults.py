"""What fails in a run: links, and switches with all that they hold."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from p4cc.scenario.base import MAX_TIME_NS, Model

MAX_FAULTS = 100_000


class Fault(Model):
    """A link, or a switch, that goes down for a time.

    What the ends of a link send meanwhile is lost, what is on the way arrives. Groups of equal paths leave out ports
    that are down. A switch that goes down loses its program, its tables and its queues, and all its links are down.
    """

    between: tuple[str, str] | None = Field(default=None, description="The nodes at the two ends of a link.")
    switch: Annotated[str, Field(min_length=1, max_length=64)] | None = Field(
        default=None, description="Name of a switch, in place of `between`."
    )
    down_ns: Annotated[int, Field(ge=0, le=MAX_TIME_NS)]
    """When it goes down."""
    up_ns: Annotated[int, Field(ge=1, le=MAX_TIME_NS)] | None = Field(
        default=None, description="When it comes up again; absent: it stays down."
    )
    install_delay_ns: Annotated[int, Field(ge=0, le=MAX_TIME_NS)] = Field(
        default=0,
        description="Of a switch: how long it is up without a program, until p4cc's controller has installed program, "
        "routes, thresholds and entries again. The switch drops what it receives meanwhile.",
    )

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.between is None) == (self.switch is None):
            raise ValueError("give between, the two ends of a link, or switch, a name")
        if self.install_delay_ns and (self.switch is None or self.up_ns is None):
            raise ValueError("install_delay_ns is for a switch that comes up again: give switch and up_ns")
        return self

    @property
    def installed_ns(self) -> int | None:
        """When the switch has its program and its entries again; None if it never has."""
        return None if self.up_ns is None else self.up_ns + self.install_delay_ns
