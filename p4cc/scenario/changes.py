"""Changes of tables during a run, at instants known in advance."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from p4cc.scenario.base import MAX_TIME_NS
from p4cc.scenario.programs import TableRow

MAX_CHANGES = 100_000


class TimedRow(TableRow):
    """A table entry or default action that is written at a given time in the run.

    An existing entry with the same match is modified; otherwise the entry is inserted. The write takes effect after all
    other events at that time, and before the controller receives or reads anything at that time.
    """

    at_ns: Annotated[int, Field(ge=0, le=MAX_TIME_NS)]
    """Time of the write."""
