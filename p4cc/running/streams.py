"""Tables of a run that stream to Parquet while it goes on, so that memory holds a row group of each and no more.

The engine hands over parts of tables whose rows do not change once they are there
(`engine/netsim/src/record/stream.rs`). Each whole row group is written at once; a table that has fewer rows stays in
memory, as all others do. Row groups are cut by numbers of rows, so that files depend neither on time nor on threads.
The files have no names: what a call leaves that is interrupted or killed, the system takes away.
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
"""Rows that the engine hands over at a time."""


class Streams:
    """Takes the parts of one run's tables; used with `with`, which lets go of what was not finished."""

    def __init__(self, folder: Path | None) -> None:
        """On the disk of `folder`; without one the engine keeps all rows."""
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
            # Why the engine ended the run, in place of that it did: a full disk is told as such.
            raise self._error from error

    def take_from(self, network: _engine.Network) -> None:
        """Has the engine hand over parts of this network's tables."""
        if self._folder is not None:
            network.stream_tables(self.take, PART_ROWS)

    def take(self, name: str, part: _engine.EngineTable) -> None:
        """Takes the next part of a table; called by the engine, on its thread."""
        try:
            self._of(name).add(arrow_table(part))
        except Exception as error:
            self._error = error
            raise

    def finish(
        self, network: _engine.Network, tables: Mapping[str, pa.Table]
    ) -> tuple[dict[str, pa.Table], dict[str, LongTable]]:
        """The whole tables of a run, those in memory and the long ones; `tables` are what the engine has left."""
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
    """One table on its way."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._waiting: list[pa.Table] = []
        """Rows that are no whole row group yet."""
        self._file: IO[bytes] | None = None
        self._writer: pq.ParquetWriter | None = None

    def add(self, part: pa.Table) -> None:
        """Adds rows, and writes as many whole row groups as there are."""
        self._waiting.append(part)
        if sum(one.num_rows for one in self._waiting) < ROW_GROUP_ROWS:
            return
        rows = pa.concat_tables(self._waiting)
        whole = rows.num_rows - rows.num_rows % ROW_GROUP_ROWS
        self._write(rows.slice(0, whole))
        # A copy: a slice would hold all rows.
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
        """Lets go of the file, of which nothing is left."""
        self._waiting = []
        if self._writer is not None:
            # On a full disk its last lines cannot be written, and nobody wants them.
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
    """A file without a name on the disk of a folder."""
    return tempfile.TemporaryFile(dir=folder)
