"""What is recorded of the state that the user's programs keep, and the figure that draws it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from p4cc.scenario.base import KIND, Model
from p4cc.scenario.flow_figures import FlowFigure

Patterns = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=256)]],
    Field(min_length=1, max_length=256),
]


class StateRecord(Model):
    """Arrays of the switches' programs that are sampled; a row is kept for each cell that changed."""

    names: Patterns = Field(
        default=["*"], description="Names in the P4Info or ends of them, with * and ?: `ingress.seen`, `seen`."
    )
    switches: Patterns = Field(default=["*"], description="Switches, with * and ?.")
    interval_ns: Annotated[int, Field(ge=100, le=1_000_000_000)] = 100_000
    """Time between samples; one more is taken at the end."""


class DropsRecord(Model):
    """Drops of switches by cause and by place in the program, added up; the program runs slower."""

    switches: Patterns = Field(default=["*"], description="Switches, with * and ?.")
    interval_ns: Annotated[int, Field(ge=1, le=1_000_000_000)] = 100_000
    """Drops of an interval with one cause, place and port are one row; 1 keeps those of each instant apart."""


class DigestsRecord(Model):
    """Digests that the switches' programs send, message by message."""

    names: Patterns = Field(default=["*"], description="Names in the P4Info or ends of them, with * and ?.")
    switches: Patterns = Field(default=["*"], description="Switches, with * and ?.")
    max_messages: Annotated[int, Field(ge=1, le=1_000_000)] = 100_000
    """Of each switch; `rows_left_out` counts later ones."""


class LogRecord(Model):
    """Lines that `log_msg` of the switches' programs writes."""

    switches: Patterns = Field(default=["*"], description="Switches, with * and ?.")
    max_lines: Annotated[int, Field(ge=1, le=1_000_000)] = 100_000
    """Of each switch; `rows_left_out` counts later ones."""


class StateFigure(FlowFigure):
    """Counters or registers of the programs over time, a line for each cell, a panel for each variant; of one seed.

    Needs `record.counters` or `record.registers`.
    """

    kind: Annotated[Literal["program_state"], KIND] = "program_state"
    y: Literal["packets", "bytes", "value"]
    """`packets` or `bytes` of counters, the `value` of registers."""
    names: Patterns = Field(default=["*"], description="Counters or registers, as in `record`.")
    switches: Patterns = Field(default=["*"], description="Switches, with * and ?.")
    indices: Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1, max_length=32)] | None = None
    """Cells by index; all that changed if absent."""
    lines: Annotated[int, Field(ge=1, le=32)] = 8
    """Lines of a panel, those with the largest last values; the figure says how many are left out."""
    per_second: bool = False
    """Whether the change from sample to sample is drawn, per second, and not the sum."""
    label: str = ""
    """Beside the y axis; what is drawn if empty."""
    scale: float = 1.0
    """Factor on the values."""
    log: bool = False
    """Whether the y axis is logarithmic."""
    seed: int | None = Field(default=None, description="Which run is drawn; the first seed's if absent.")
