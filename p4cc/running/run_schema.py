"""Columns of a cached run's tables, to check runs from elsewhere."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pyarrow as pa

from p4cc.analysis.tables import ENGINE
from p4cc.running.installer import PORT_STATE

if TYPE_CHECKING:
    from collections.abc import Mapping


CONTROL = pa.schema([("time_ns", pa.int64()), ("switch", pa.string()), ("name", pa.string()), ("value", pa.float64())])
"""Columns of records of the user's controller."""
COLUMN_TYPES: dict[str, pa.DataType] = {
    "uint64": pa.uint64(),
    "int64": pa.int64(),
    "double": pa.float64(),
    "string": pa.string(),
}
"""Types of columns by name."""


@cache
def run_schemas() -> Mapping[str, pa.Schema]:
    """By table: names and types from the engine or read over P4Runtime."""
    found = {
        name: pa.schema([(column.name, COLUMN_TYPES[column.kind]) for column in table.columns])
        for name, table in ENGINE.items()
    }
    return {**found, "counters": PORT_STATE, "control": CONTROL}
