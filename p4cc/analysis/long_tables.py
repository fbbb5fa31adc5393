"""Tables that need not fit in memory: files of full row groups, read one after the other.

A run's table becomes one if it has more rows than a row group (`running/streams.py`). Derived values are computed
from parts; a table in memory is a single part.
"""

# pyarrow's stubs leave some overloads partly untyped.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROW_GROUP_ROWS = 1 << 20
"""Rows of each row group except the last: pyarrow's default."""


@dataclass(frozen=True)
class LongTable:
    """A table in an open Parquet file, and a function to apply to each part."""

    file: IO[bytes]
    changes: tuple[Callable[[pa.Table], pa.Table], ...] = ()

    @property
    def num_rows(self) -> int:
        """Rows."""
        return self._opened().metadata.num_rows

    @property
    def column_names(self) -> list[str]:
        """Names of its columns after the changes."""
        return self._changed(self._opened().schema_arrow.empty_table()).column_names

    def parts(self) -> Iterator[pa.Table]:
        """Its row groups, in order."""
        opened = self._opened()
        for number in range(opened.num_row_groups):
            part = opened.read_row_group(number)
            # Chunks would change the bytes of result files.
            is_whole = all(column.num_chunks <= 1 for column in part.columns)
            yield self._changed(part if is_whole else part.combine_chunks())

    def changed(self, change: Callable[[pa.Table], pa.Table]) -> LongTable:
        """The table with another change of each part, which must keep number and order of rows."""
        return replace(self, changes=(*self.changes, change))

    def _opened(self) -> pq.ParquetFile:
        return pq.ParquetFile(self.file)

    def _changed(self, part: pa.Table) -> pa.Table:
        for change in self.changes:
            part = change(part)
        return part


AnyTable = pa.Table | LongTable


def parts_of(table: AnyTable) -> Iterator[pa.Table]:
    """The parts of a table; the table itself if it is in memory."""
    if isinstance(table, LongTable):
        yield from table.parts()
    else:
        yield table


def changed(table: AnyTable, change: Callable[[pa.Table], pa.Table]) -> AnyTable:
    """The table with each part changed; `change` keeps number and order of rows."""
    return table.changed(change) if isinstance(table, LongTable) else change(table)


def whole(table: AnyTable) -> pa.Table:
    """The table in memory."""
    return pa.concat_tables(table.parts()).combine_chunks() if isinstance(table, LongTable) else table
