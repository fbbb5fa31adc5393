"""A finished run as one file: a seal, then a zip of its summary, its Parquet tables and its captures.

The local cache and a shared store use this format. A reader checks everything before using it: the run's key and the
hash of all that follows (`sealed`), sizes, names, columns, and that every table is present.
"""

# pyarrow's stubs leave some overloads partly untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import io
import json
import re
import shutil
import tempfile
import zipfile
import zlib
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any, cast

import pyarrow as pa
import pyarrow.parquet as pq

from p4cc.analysis.long_tables import LongTable
from p4cc.errors import UserError
from p4cc.running.result_writer import DERIVED_TABLES, ENGINE_TABLES
from p4cc.running.run_schema import COLUMN_TYPES, run_schemas
from p4cc.running.seal import BrokenSealError, Seal

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 2 << 30
"""Limit of an object in a store, packed or unpacked."""
MAX_SUMMARY_BYTES = 1 << 20
SEAL = Seal("p4cc run 2", "run")
HEAD_BYTES = SEAL.size_bytes

_SUMMARY = "summary.json"
_TABLES = "tables.json"
"""Lists the tables with their numbers of rows, and the columns of empty tables, which have no file."""
_TABLE = ".parquet"
_CAPTURE = ".pcapng"
_CAPTURE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:+=,-]{0,200}")
_COPIED_BYTES = 1 << 20

_UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, pa.ArrowException, EOFError),
    *(ValueError, KeyError, TypeError),
    # Encryption, unknown compression, nesting beyond Python's stack.
    RuntimeError,
)
"""Errors that readers of zips, JSON and Parquet raise."""


@dataclass(frozen=True)
class SeedRun:
    """Results of one seed: its summary, and its tables by name."""

    seed: int
    summary: dict[str, Any]
    tables: dict[str, pa.Table]
    captures: dict[str, bytes] = field(default_factory=dict[str, bytes])
    """Contents of pcapng files by name."""
    long_tables: dict[str, LongTable] = field(default_factory=dict[str, LongTable])
    """Tables that are too long for memory, in files and not in `tables`."""


class WrongRunError(Exception):
    """A file is not the expected run; the text says why."""


def write_run(file: IO[bytes], key: str, run: SeedRun) -> None:
    """Writes a run to an empty file."""
    SEAL.write(key, file, lambda content: _write(content, run))


def read_run(file: IO[bytes], key: str, long_tables: Path | None, max_bytes: int | None = None) -> SeedRun:
    """Reads the run with this key from a file at its start; raises WrongRunError unless it is that run, complete.

    Long tables become unnamed files in the folder `long_tables`; if None, they are read into memory. Raises OSError
    if that folder's disk fails.
    """
    try:
        SEAL.check(key, file)
        with zipfile.ZipFile(file) as archive:
            return _Members(archive, max_bytes).run(long_tables)
    except BrokenSealError as error:
        raise WrongRunError(str(error)) from error
    except OSError as error:
        if long_tables is not None:
            # The seal is intact, so p4cc wrote what follows: the disk has failed.
            raise
        raise WrongRunError(f"cannot be read as a run: {type(error).__name__}") from error
    except _UNREADABLE as error:
        raise WrongRunError(f"cannot be read as a run: {type(error).__name__}") from error


def packed(key: str, run: SeedRun) -> bytes:
    """Serialises a run as an object of a store."""
    out = io.BytesIO()
    write_run(out, key, run)
    return out.getvalue()


def unpacked(key: str, data: bytes, place: str) -> SeedRun:
    """Reads the object at `place`; raises UserError unless it is the complete run with this key."""
    remedy = "remove this object; the run is then repeated"
    if len(data) > MAX_BYTES:
        raise UserError(f"has {len(data)} bytes, and runs have at most {MAX_BYTES}", place=place, remedy=remedy)
    try:
        return read_run(io.BytesIO(data), key, None, MAX_BYTES)
    except WrongRunError as error:
        raise UserError(str(error), place=place, remedy=remedy) from error


def is_head_of(key: str, head: bytes) -> bool:
    """Whether the first bytes of an object name the run with this key."""
    return SEAL.is_on(key, head)


def _write(content: Any, run: SeedRun) -> None:
    with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(_SUMMARY, json.dumps({"seed": run.seed, "summary": run.summary}))
        tables = {name: _listed(table) for name, table in run.tables.items()}
        tables |= {name: {"rows": long.num_rows, "long": True} for name, long in run.long_tables.items()}
        archive.writestr(_TABLES, json.dumps(tables), zipfile.ZIP_DEFLATED)
        for name, table in run.tables.items():
            # Most tables of a run are empty; a file for each would make up most of the object.
            if table.num_rows:
                sink = io.BytesIO()
                pq.write_table(table, sink, compression="zstd")
                archive.writestr(f"{name}{_TABLE}", sink.getvalue())
        for name, long in run.long_tables.items():
            _write_long(archive, name, long)
        for name, data in run.captures.items():
            archive.writestr(f"{name}{_CAPTURE}", data, zipfile.ZIP_DEFLATED, 1)


def _listed(table: pa.Table) -> dict[str, Any]:
    if table.num_rows:
        return {"rows": table.num_rows}
    return {"rows": 0, "columns": [[column.name, str(column.type)] for column in table.schema]}


def _write_long(archive: zipfile.ZipFile, name: str, long: LongTable) -> None:
    long.file.seek(0)
    with archive.open(f"{name}{_TABLE}", "w", force_zip64=True) as member:
        shutil.copyfileobj(long.file, member, _COPIED_BYTES)


class _Members:
    """Reader of a run's zip that checks each member."""

    def __init__(self, archive: zipfile.ZipFile, max_bytes: int | None) -> None:
        """`max_bytes` limits the unpacked size."""
        sizes = {info.filename: info.file_size for info in archive.infolist()}
        if len(sizes) != len(archive.infolist()) or (max_bytes is not None and sum(sizes.values()) > max_bytes):
            raise WrongRunError("holds a name twice, or more than a run can")
        if max(sizes[_SUMMARY], sizes[_TABLES]) > MAX_SUMMARY_BYTES:
            raise WrongRunError(f"has a summary of more than {MAX_SUMMARY_BYTES} bytes")
        self._archive = archive
        self._names = frozenset(sizes)
        self._max_bytes = max_bytes

    def run(self, long_tables: Path | None) -> SeedRun:
        """The run."""
        seed, summary = _summary(json.loads(self._archive.read(_SUMMARY)))
        listed = _object(self._archive.read(_TABLES))
        if missing := [name for name in (*ENGINE_TABLES, "counters") if name not in listed]:
            raise WrongRunError(f"has no table {missing[0]}")
        tables, long, captures = dict[str, pa.Table](), dict[str, LongTable](), dict[str, bytes]()
        for name, entry in listed.items():
            if entry.get("long") and long_tables is not None:
                long[name] = self._long_table(name, entry, long_tables)
            else:
                tables[name] = self._table(name, entry)
        for name in self._names - {_SUMMARY, _TABLES, *(f"{name}{_TABLE}" for name in listed if listed[name]["rows"])}:
            if not name.endswith(_CAPTURE):
                raise WrongRunError(f"holds {name[:60]!r}, which no run has")
        for name in (one.filename for one in self._archive.infolist() if one.filename.endswith(_CAPTURE)):
            captures[_capture_name(name.removesuffix(_CAPTURE))] = self._archive.read(name)
        # The engine's order of tables, as in a run made here.
        ordered = {name: tables[name] for name in (*ENGINE_TABLES, *DERIVED_TABLES) if name in tables}
        return SeedRun(seed, summary, ordered, captures, long)

    def _table(self, name: str, entry: dict[str, Any]) -> pa.Table:
        if not entry["rows"]:
            schema = pa.schema([(str(column), COLUMN_TYPES[kind]) for column, kind in entry["columns"]])
            _check_columns(name, schema)
            return schema.empty_table()
        file = pq.ParquetFile(io.BytesIO(self._archive.read(f"{name}{_TABLE}")))
        meta = file.metadata
        size = sum(meta.row_group(group).total_byte_size for group in range(meta.num_row_groups))
        if self._max_bytes is not None and size > self._max_bytes:
            raise WrongRunError(f"has a table {name[:60]} of more than {self._max_bytes} bytes")
        # One chunk, as from the engine: chunks would change the bytes of result files.
        table = file.read(use_threads=False).combine_chunks()
        _check_columns(name, table.schema)
        _check_rows(name, entry, table.num_rows)
        return table

    def _long_table(self, name: str, entry: dict[str, Any], folder: Path) -> LongTable:
        """Copies the table to an unnamed file, so that freeing cache space does not affect it."""
        # The owner of the table also owns the file.
        file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        with self._archive.open(f"{name}{_TABLE}") as member:
            shutil.copyfileobj(member, file, _COPIED_BYTES)
        long = LongTable(file)
        _check_columns(name, pq.ParquetFile(file).schema_arrow)
        _check_rows(name, entry, long.num_rows)
        return long


def _object(text: bytes) -> dict[str, dict[str, Any]]:
    found = json.loads(text)
    if not isinstance(found, dict):
        raise WrongRunError("has a list where names belong")
    tables = cast("dict[str, dict[str, Any]]", found)
    if not all(isinstance(entry, dict) and isinstance(entry.get("rows"), int) for entry in tables.values()):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise WrongRunError("does not say how many rows its tables have")
    return tables


def _summary(held: Any) -> tuple[int, dict[str, Any]]:
    seed, summary = held["seed"], held["summary"]
    if not isinstance(seed, int) or not isinstance(summary, dict):
        raise WrongRunError("has no seed with a summary")
    values = cast("dict[str, Any]", summary)
    if wrong := [name for name, value in values.items() if not isinstance(value, int | float | str | None)]:
        raise WrongRunError(f"has no plain value of {wrong[0][:60]!r}")
    for name in ("packet_hops", "end_ns", "flows_finite", "flows_completed", "pass_limit_drops", "assertions_failed"):
        if not isinstance(values.get(name), int):
            raise WrongRunError(f"has no number of {name}")
    return seed, values


def _capture_name(name: str) -> str:
    """Checked because it becomes a file name."""
    if not _CAPTURE_NAME.fullmatch(name):
        raise WrongRunError(f"has a capture {name[:60]!r}, which is not the name of a port")
    return name


def _check_rows(name: str, entry: dict[str, Any], rows: int) -> None:
    if entry["rows"] != rows:
        raise WrongRunError(f"has {rows} rows of {name}, where {entry['rows']} were written")


def _check_columns(name: str, schema: pa.Schema) -> None:
    """Raises WrongRunError for a table that runs do not have, or for wrong columns."""
    expected = run_schemas().get(name)
    if expected is None:
        raise WrongRunError(f"has a table {name[:60]!r}, which no run has")
    names = schema.names
    if len(set(names)) != len(names):
        raise WrongRunError(f"has a column of {name} twice")
    for column in schema:
        if column.name not in expected.names:
            raise WrongRunError(f"has a column {column.name[:60]!r} of {name}, which no run has")
        if (kind := expected.field(column.name).type) != column.type:
            held = str(column.type)[:60]
            raise WrongRunError(f"has column {column.name!r} of {name} as {held}, and runs have it as {kind}")
    for column in expected.names:
        if column not in names:
            raise WrongRunError(f"lacks column {column!r} of {name}")
    if names != expected.names:
        raise WrongRunError(f"has the columns of {name} in another order")
