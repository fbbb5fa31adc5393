"""Columns of the tables that a run is kept as: what is read from elsewhere is compared with them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from p4cc import _engine
from p4cc.running.controlled import CONTROL
from p4cc.running.installer import PORT_STATE
from p4cc.running.result_writer import engine_tables

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

_NOTHING = '{"switches": [], "hosts": [], "links": [], "stop_ns": 1, "limits": {"max_events": 1}}'
"""A network without nodes: its tables are empty, and have all columns."""


@cache
def kept_columns() -> Mapping[str, pa.Schema]:
    """By table: names and types as the engine gives them, and as they are read over P4Runtime."""
    found = engine_tables(_engine.Network(_NOTHING).fork(1).result())
    return {**{name: table.schema for name, table in found.items()}, "counters": PORT_STATE, "control": CONTROL}
