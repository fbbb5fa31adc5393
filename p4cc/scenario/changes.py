"""What is changed in tables on a run's way, at instants that are known before."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from p4cc.scenario.base import MAX_TIME_NS
from p4cc.scenario.programs import TableRow

MAX_CHANGES = 100_000


class TimedRow(TableRow):
    """An entry of a table, or its default action, that is written at an instant of the run.

    An entry of that match is changed, and added where there is none. It takes effect behind all events of that instant,
    and before what a controller is told or asks then.
    """

    at_ns: Annotated[int, Field(ge=0, le=MAX_TIME_NS)]
    """When it is written."""
