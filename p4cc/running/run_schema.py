"""Columns of the tables that a run is kept as: what is read from elsewhere is compared with them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pyarrow as pa

from p4cc.analysis.tables import ENGINE
from p4cc.running.installer import PORT_STATE

if TYPE_CHECKING:
    from collections.abc import Mapping


CONTROL = pa.schema([("time_ns", pa.int64()), ("switch", pa.string()), ("name", pa.string()), ("value", pa.float64())])
"""Columns of what the user's controller wrote down."""
COLUMN_TYPES: dict[str, pa.DataType] = {
    "uint64": pa.uint64(),
    "int64": pa.int64(),
    "double": pa.float64(),
    "string": pa.string(),
}
"""Types of columns by their names."""


@cache
def run_schemas() -> Mapping[str, pa.Schema]:
    """By table: names and types as the engine gives them, and as they are read over P4Runtime."""
    found = {
        name: pa.schema([(column.name, COLUMN_TYPES[column.kind]) for column in table.columns])
        for name, table in ENGINE.items()
    }
    return {**found, "counters": PORT_STATE, "control": CONTROL}
