"""Tables that stream to Parquet during a run, so that memory holds at most one row group of each.

The engine hands over parts of tables whose rows no longer change (`engine/netsim/src/record/stream.rs`). Each full row
group is written immediately; tables with fewer rows stay in memory, like all others. Row groups have fixed numbers of
rows, so that files depend neither on time nor on threads. The files have no names: the system removes the files of an
interrupted or killed call.
"""

# pyarrow's stubs leave some overloads partly untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import contextlib
import tempfile
from typing import IO, TYPE_CHECKING, Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from p4cc.analysis.long_tables import ROW_GROUP_ROWS, LongTable
from p4cc.running.result_writer import arrow_table

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import TracebackType

    from p4cc import _engine

PART_ROWS = 1 << 17
"""Number of rows that the engine hands over at a time."""


class Streams:
    """Receives the parts of one run's tables; as a context manager, it discards unfinished tables."""

    def __init__(self, folder: Path | None) -> None:
        """Writes on the disk of `folder`; if None, the engine keeps all rows."""
        self._folder = folder
        self._streams: dict[str, _Stream] = {}
        self._error: Exception | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for stream in self._streams.values():
            stream.close()
        if isinstance(error, Exception) and self._error is not None:
            # Why the engine ended the run, which an error then reports: a full disk, for example.
            raise self._error from error

    def take_from(self, network: _engine.Network) -> None:
        """Makes the engine hand over parts of this network's tables."""
        if self._folder is not None:
            network.stream_tables(self.take, PART_ROWS)

    def take(self, name: str, part: _engine.EngineTable) -> None:
        """Receives the next part of a table; called by the engine, on its thread."""
        try:
            self._of(name).add(arrow_table(part))
        except Exception as error:
            self._error = error
            raise

    def finish(
        self, network: _engine.Network, tables: Mapping[str, pa.Table]
    ) -> tuple[dict[str, pa.Table], dict[str, LongTable]]:
        """The complete tables of a run, in memory and in files; `tables` are the engine's remaining rows."""
        network.stream_tables(None)
        short, long = dict(tables), dict[str, LongTable]()
        for name, stream in self._streams.items():
            found = stream.finish(tables[name])
            if isinstance(found, LongTable):
                long[name] = found
                del short[name]
            else:
                short[name] = found
        self._streams.clear()
        return short, long

    def _of(self, name: str) -> _Stream:
        if self._folder is None:
            raise ValueError("no folder")
        return self._streams.setdefault(name, _Stream(self._folder))


class _Stream:
    """One table in progress."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._waiting: list[pa.Table] = []
        """Rows of an incomplete row group."""
        self._file: IO[bytes] | None = None
        self._writer: pq.ParquetWriter | None = None

    def add(self, part: pa.Table) -> None:
        """Adds rows, and writes all full row groups."""
        self._waiting.append(part)
        if sum(one.num_rows for one in self._waiting) < ROW_GROUP_ROWS:
            return
        rows = pa.concat_tables(self._waiting)
        whole = rows.num_rows - rows.num_rows % ROW_GROUP_ROWS
        self._write(rows.slice(0, whole))
        # A copy: a slice would keep all rows in memory.
        self._waiting = [rows.slice(whole).combine_chunks()]

    def finish(self, tail: pa.Table) -> pa.Table | LongTable:
        """The table, with its last rows."""
        rows = pa.concat_tables([*self._waiting, tail])
        self._waiting = []
        if self._writer is None and rows.num_rows <= ROW_GROUP_ROWS:
            return rows.combine_chunks()
        if rows.num_rows:
            self._write(rows)
        if self._writer is None or self._file is None:
            raise ValueError("nothing was written")
        self._writer.close()
        found, self._file, self._writer = LongTable(self._file), None, None
        return found

    def close(self) -> None:
        """Discards the file."""
        self._waiting = []
        if self._writer is not None:
            # On a full disk its last lines cannot be written; nobody needs them.
            with contextlib.suppress(OSError, pa.ArrowException):
                self._writer.close()
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()

    def _write(self, rows: pa.Table) -> None:
        writer = self._writer
        if writer is None:
            file = self._file = _nameless(self._folder)
            writer = self._writer = pq.ParquetWriter(file, rows.schema, compression="zstd", version="2.6")
        writer.write_table(rows, ROW_GROUP_ROWS)


def _nameless(folder: Path) -> Any:
    """An unnamed file on the disk of a folder."""
    return tempfile.TemporaryFile(dir=folder)
