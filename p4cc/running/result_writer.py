"""Results on disk: Parquet tables and summary.json. Wall-clock values are only in summary.json.

A table that is empty in all runs has no file. Descriptions and units of columns (`analysis/tables.py`) are metadata.
"""

# pyarrow's stubs leave some overloads partly untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Self, cast

import pyarrow as pa
import pyarrow.parquet as pq

from p4cc.analysis.long_tables import ROW_GROUP_ROWS, parts_of
from p4cc.analysis.recorded import SUMMARY
from p4cc.analysis.tables import ALGORITHM, ENGINE, described

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path
    from types import TracebackType

    from p4cc import _engine
    from p4cc.analysis.long_tables import AnyTable

ENGINE_TABLES = tuple(ENGINE)
"""Tables of the engine that are written."""

FEW_ROWS = 20_000
"""Rows whose texts take a hundredth of a second without `pyarrow.compute`."""

DERIVED_TABLES = ("counters", "control", "queue_stats", "traffic", "goodput", "slowdown", "coflows", "pod_pairs")
"""Tables read over P4Runtime or derived from the engine's."""


class ResultWriter:
    """Streams runs, in the order received, into one Parquet file per table; equal runs give equal bytes."""

    def __init__(self, folder: Path, swept: Mapping[str, str]) -> None:
        """Writes to `folder`; `swept` has the path of each swept field by column name."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._swept = swept
        self._writers: dict[str, pq.ParquetWriter] = {}
        self._schemas: dict[str, pa.Schema] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for writer in self._writers.values():
            writer.close()

    def add(self, keys: Mapping[str, Any], tables: Mapping[str, AnyTable]) -> None:
        """Appends one run; `keys` (variant, algorithm, swept values, seed) are the first columns of every row."""
        for name, columns in tables.items():
            if columns.num_rows:
                self.add_parts(keys, name, parts_of(columns))

    def add_parts(self, keys: Mapping[str, Any], name: str, parts: Iterable[pa.Table]) -> None:
        """Appends one run's rows of a table."""
        for part in parts:
            self._append(name, with_keys(keys, part))

    def _append(self, name: str, table: pa.Table) -> None:
        writer = self._writers.get(name)
        if writer is None:
            path = self._folder / f"{name}.parquet"
            schema = self._schemas[name] = described(name, table, self._swept)
            writer = self._writers[name] = pq.ParquetWriter(path, schema, compression="zstd", version="2.6")
        writer.write_table(_as(self._schemas[name], table), ROW_GROUP_ROWS)


def engine_tables(result: _engine.RunResult) -> dict[str, pa.Table]:
    """The engine's tables as Arrow, without copying numbers."""
    return {name: arrow_table(result.table(name)) for name in ENGINE_TABLES}


def arrow_table(table: _engine.EngineTable) -> pa.Table:
    """A table of the engine, or a part of one, with texts instead of their numbers."""
    found = pa.table(table)
    texts = [(place, field) for place, field in enumerate(found.schema) if pa.types.is_dictionary(field.type)]
    for place, field in texts:
        chunks = [_texts(cast("pa.DictionaryArray[Any, Any]", chunk)) for chunk in found.column(place).chunks]
        found = found.set_column(place, field.name, pa.chunked_array(chunks, pa.string()))
    return found


def _texts(numbers: pa.DictionaryArray[Any, Any]) -> pa.Array[Any]:
    """Texts in place of their numbers; for few rows without `pyarrow.compute`, whose import takes longer."""
    if len(numbers) > FEW_ROWS:
        return numbers.cast(pa.string())
    texts = numbers.dictionary.to_pylist()
    return pa.array([None if place is None else texts[place] for place in numbers.indices.to_pylist()], pa.string())


def _as(schema: pa.Schema, table: pa.Table) -> pa.Table:
    """The table with this schema; a cast imports `pyarrow.compute`."""
    if table.schema.types == schema.types and table.column_names == schema.names:
        return pa.Table.from_arrays(table.columns, schema=schema)
    return table.cast(schema)


def with_keys(keys: Mapping[str, Any], table: pa.Table) -> pa.Table:
    """The table with constant columns in front; an algorithm column of the rows has precedence."""
    own = [ALGORITHM] if ALGORITHM in table.column_names else []
    leading = {
        name: table.column(name) if name in own else pa.repeat(pa.scalar(value), table.num_rows)
        for name, value in keys.items()
    }
    rest = {name: table.column(name) for name in table.column_names if name not in leading}
    return pa.table({**leading, **rest})


def file_names() -> list[str]:
    """Files that a run may write, except figures."""
    return [SUMMARY, *(f"{name}.parquet" for name in (*ENGINE_TABLES, *DERIVED_TABLES))]


def write_summary(folder: Path, summary: Mapping[str, Any]) -> Path:
    """Writes summary.json and returns its path."""
    path = folder / SUMMARY
    path.write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    return path
