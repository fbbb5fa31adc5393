"""Results on disk: Parquet tables, summary.json. Wall-clock values stand in summary.json only."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

TABLES = ("flows", "windows", "queues", "counters")

Column = tuple[str, bytes]
"""Arrow type name (`int64`, `uint32`, `double`) and little-endian values."""

_TYPES: dict[str, pa.DataType] = {
    "int64": pa.int64(),
    "uint64": pa.uint64(),
    "uint32": pa.uint32(),
    "uint8": pa.uint8(),
    "float64": pa.float64(),
}


class ResultWriter:
    """Streams runs, in the order given, into one Parquet file per table; same runs give the same bytes."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._writers: dict[str, pq.ParquetWriter] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for writer in self._writers.values():
            writer.close()

    def add(self, keys: Mapping[str, Any], tables: Mapping[str, Mapping[str, Column]]) -> None:
        """Appends one run; `keys` (variant, seed, swept values) lead every row."""
        for name, columns in tables.items():
            table = to_arrow(keys, columns)
            writer = self._writers.get(name)
            if writer is None:
                writer = pq.ParquetWriter(
                    self._folder / f"{name}.parquet", table.schema, compression="zstd", version="2.6"
                )
                self._writers[name] = writer
            if table.num_rows:
                writer.write_table(table)


def to_arrow(keys: Mapping[str, Any], columns: Mapping[str, Column]) -> pa.Table:
    """One run's columns with its keys in front; no copy of the values."""
    arrays: dict[str, pa.Array] = {}
    rows = 0
    for name, (kind, values) in columns.items():
        arrow_type = _TYPES[kind]
        rows = len(values) * 8 // arrow_type.bit_width
        arrays[name] = pa.Array.from_buffers(arrow_type, rows, [None, pa.py_buffer(values)])
    leading = {name: pa.repeat(pa.scalar(value), rows) for name, value in keys.items()}
    return pa.table({**leading, **arrays})


def write_summary(folder: Path, summary: Mapping[str, Any]) -> Path:
    """Writes summary.json and returns its path."""
    path = folder / "summary.json"
    path.write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    return path
