"""Records of the state of the user's programs, and the figure that draws them."""

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
    """Sampled arrays of the switches' programs; a row is written for each cell that changed."""

    names: Patterns = Field(
        default=["*"],
        description="Full or trailing names in the P4Info, such as `ingress.seen` or `seen`; * and ? are wildcards.",
    )
    switches: Patterns = Field(default=["*"], description="Switch names; * and ? are wildcards.")
    interval_ns: Annotated[int, Field(ge=100, le=1_000_000_000)] = 100_000
    """Sampling interval; a final sample is taken at the end of the run."""


class DropsRecord(Model):
    """Drops of switches, counted by cause and by place in the program; slows the program down."""

    switches: Patterns = Field(default=["*"], description="Switch names; * and ? are wildcards.")
    interval_ns: Annotated[int, Field(ge=1, le=1_000_000_000)] = 100_000
    """Interval over which drops with the same cause, place and port are summed into one row; 1 keeps every instant."""


class DigestsRecord(Model):
    """Digest messages from the switches' programs, one by one."""

    names: Patterns = Field(default=["*"], description="Full or trailing names in the P4Info; * and ? are wildcards.")
    switches: Patterns = Field(default=["*"], description="Switch names; * and ? are wildcards.")
    max_messages: Annotated[int, Field(ge=1, le=1_000_000)] = 100_000
    """Maximum number of rows per switch; `rows_left_out` counts the rest."""


class LogRecord(Model):
    """Lines that the switches' programs write with `log_msg`."""

    switches: Patterns = Field(default=["*"], description="Switch names; * and ? are wildcards.")
    max_lines: Annotated[int, Field(ge=1, le=1_000_000)] = 100_000
    """Maximum number of rows per switch; `rows_left_out` counts the rest."""


class StateFigure(FlowFigure):
    """Counters or registers of programs over time: a line per cell, a panel per variant, for one seed.

    Needs `record.counters` or `record.registers`.
    """

    kind: Annotated[Literal["program_state"], KIND] = "program_state"
    y: Literal["packets", "bytes", "value"]
    """`packets` or `bytes` for counters, `value` for registers."""
    names: Patterns = Field(default=["*"], description="Names of counters or registers, as in `record`.")
    switches: Patterns = Field(default=["*"], description="Switch names; * and ? are wildcards.")
    indices: Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1, max_length=32)] | None = None
    """Indices of the cells; all cells that changed if absent."""
    lines: Annotated[int, Field(ge=1, le=32)] = 8
    """Maximum number of lines per panel, for the largest final values; the figure says how many are left out."""
    per_second: bool = False
    """Whether the change per second between samples is drawn instead of the total."""
    label: str = ""
    """Label of the y axis; the quantity drawn if empty."""
    scale: float = 1.0
    """Factor applied to the values."""
    log: bool = False
    """Whether the y axis is logarithmic."""
    seed: int | None = Field(default=None, description="Seed of the run to draw; the first seed if absent.")
