"""A finished run as one object for other machines: what it is, a hash of what follows, and a zip of Parquet tables.

Whoever reads one believes nothing before it is checked: the run's key, the hash, sizes, names and columns.
"""

# pyarrow's stubs leave some overloads partly untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
import zlib
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq

from p4cc.analysis.long_tables import whole
from p4cc.errors import UserError
from p4cc.running.cache import SeedRun
from p4cc.running.kept_columns import kept_columns
from p4cc.running.result_writer import DERIVED_TABLES, ENGINE_TABLES

MAX_BYTES = 2 << 30
"""Of an object, and of all that it holds when it is unpacked."""
MAX_SUMMARY_BYTES = 1 << 20
FORMAT = "p4cc run 1"

_HEAD = re.compile(rb"p4cc run 1 ([0-9a-f]{64}) ([0-9a-f]{64})\n")
"""The run's key, and the hash of what follows."""
HEAD_BYTES = len(f"{FORMAT} {64 * 'k'} {64 * 'h'}\n")
_SUMMARY = "summary.json"
_EMPTY = "empty.json"
_TABLE = ".parquet"
_CAPTURE = ".pcapng"
_CAPTURE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:+=,-]{0,200}")
_KINDS: dict[str, pa.DataType] = {
    "uint64": pa.uint64(),
    "int64": pa.int64(),
    "double": pa.float64(),
    "string": pa.string(),
}


_UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, pa.ArrowException, OSError, EOFError),
    *(ValueError, KeyError, TypeError),
    # Ciphers, unknown compression, nesting beyond Python's stack.
    RuntimeError,
)
"""What readers of zips, JSON and Parquet raise."""


class _WrongError(Exception):
    """What is wrong with an object."""


def packed(key: str, run: SeedRun) -> bytes:
    """A run as an object."""
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(_SUMMARY, json.dumps({"seed": run.seed, "summary": run.summary}))
        # Most tables of a run are empty, and a file for each would be most of the object.
        empty = {name: _plain_schema(table) for name, table in run.tables.items() if not table.num_rows}
        archive.writestr(_EMPTY, json.dumps(empty), zipfile.ZIP_DEFLATED)
        for name, table in {**run.tables, **{name: whole(long) for name, long in run.long_tables.items()}}.items():
            if table.num_rows:
                sink = io.BytesIO()
                pq.write_table(table, sink, compression="zstd")
                archive.writestr(f"{name}{_TABLE}", sink.getvalue())
        for name, data in run.captures.items():
            archive.writestr(f"{name}{_CAPTURE}", data, zipfile.ZIP_DEFLATED, 1)
    content = body.getvalue()
    return f"{FORMAT} {key} {hashlib.sha256(content).hexdigest()}\n".encode() + content


def unpacked(key: str, data: bytes, place: str) -> SeedRun:
    """The run of an object at `place`; raises UserError for what is not the run of this key, whole."""
    try:
        return _run(key, data)
    except _WrongError as error:
        raise UserError(str(error), place=place, remedy="remove this object; the run is then made anew") from error


def is_head_of(key: str, head: bytes) -> bool:
    """Whether an object that begins so says that it is the run of this key."""
    found = _HEAD.match(head)
    return found is not None and found[1].decode() == key


def _run(key: str, data: bytes) -> SeedRun:
    if len(data) > MAX_BYTES:
        raise _WrongError(f"has {len(data)} bytes, and runs have at most {MAX_BYTES}")
    head = _HEAD.match(data)
    if head is None:
        raise _WrongError("is no run of p4cc's")
    if head[1].decode() != key:
        raise _WrongError(f"holds another run than its name says ({head[1].decode()[:16]}… in place of {key[:16]}…)")
    content = data[head.end() :]
    if hashlib.sha256(content).hexdigest() != head[2].decode():
        raise _WrongError("holds other bytes than were written (their SHA-256 differs)")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return _members(archive)
    except _WrongError:
        raise
    except _UNREADABLE as error:
        raise _WrongError(f"cannot be read as a run: {type(error).__name__}") from error


def _members(archive: zipfile.ZipFile) -> SeedRun:
    members = {info.filename: info.file_size for info in archive.infolist()}
    if len(members) != len(archive.infolist()) or sum(members.values()) > MAX_BYTES:
        raise _WrongError("holds a name twice, or more than a run can")
    if max(members[_SUMMARY], members[_EMPTY]) > MAX_SUMMARY_BYTES:
        raise _WrongError(f"has a summary of more than {MAX_SUMMARY_BYTES} bytes")
    seed, summary = _summary(json.loads(archive.read(_SUMMARY)))
    tables = {name: _empty_table(name, columns) for name, columns in _object(archive.read(_EMPTY)).items()}
    captures: dict[str, bytes] = {}
    for name in members:
        if name.endswith(_TABLE):
            tables[name.removesuffix(_TABLE)] = _table(name.removesuffix(_TABLE), archive.read(name))
        elif name.endswith(_CAPTURE):
            captures[_capture_name(name.removesuffix(_CAPTURE))] = archive.read(name)
        elif name not in {_SUMMARY, _EMPTY}:
            raise _WrongError(f"holds {name[:60]!r}, which no run has")
    if missing := [name for name in (*ENGINE_TABLES, "counters") if name not in tables]:
        raise _WrongError(f"has no table {missing[0]}")
    # The order of tables is that of the engine, as in a run that was made here.
    ordered = {name: tables[name] for name in (*ENGINE_TABLES, *DERIVED_TABLES) if name in tables}
    return SeedRun(seed, summary, ordered, captures)


def _object(text: bytes) -> dict[str, Any]:
    found = json.loads(text)
    if not isinstance(found, dict):
        raise _WrongError("has a list where names belong")
    return cast("dict[str, Any]", found)


def _summary(held: Any) -> tuple[int, dict[str, Any]]:
    seed, summary = held["seed"], held["summary"]
    if not isinstance(seed, int) or not isinstance(summary, dict):
        raise _WrongError("has no seed with a summary")
    values = cast("dict[str, Any]", summary)
    if wrong := [name for name, value in values.items() if not isinstance(value, int | float | str | None)]:
        raise _WrongError(f"has no plain value of {wrong[0][:60]!r}")
    for name in ("packet_hops", "end_ns", "flows_finite", "flows_completed", "pass_limit_drops", "assertions_failed"):
        if not isinstance(values.get(name), int):
            raise _WrongError(f"has no number of {name}")
    return seed, values


def _capture_name(name: str) -> str:
    """Checked, as it becomes the name of a file."""
    if not _CAPTURE_NAME.fullmatch(name):
        raise _WrongError(f"has a capture {name[:60]!r}, which is no name of a port")
    return name


def _plain_schema(table: pa.Table) -> list[list[str]]:
    return [[field.name, str(field.type)] for field in table.schema]


def _empty_table(name: str, columns: Any) -> pa.Table:
    schema = pa.schema([(str(column), _KINDS[kind]) for column, kind in columns])
    return _checked(name, schema.empty_table())


def _table(name: str, data: bytes) -> pa.Table:
    file = pq.ParquetFile(io.BytesIO(data))
    meta = file.metadata
    if sum(meta.row_group(group).total_byte_size for group in range(meta.num_row_groups)) > MAX_BYTES:
        raise _WrongError(f"has a table {name[:60]} of more than {MAX_BYTES} bytes")
    # In one piece, as the engine gives it: pieces would show in the bytes of result files.
    return _checked(name, file.read().combine_chunks())


def _checked(name: str, table: pa.Table) -> pa.Table:
    """A table that runs are kept as, with the columns that they have."""
    expected = kept_columns().get(name)
    if expected is None:
        raise _WrongError(f"has a table {name[:60]!r}, which no run has")
    names = table.column_names
    if len(set(names)) != len(names):
        raise _WrongError(f"has a column of {name} twice")
    for field in table.schema:
        if field.name not in expected.names:
            raise _WrongError(f"has a column {field.name[:60]!r} of {name}, which no run has")
        if (kind := expected.field(field.name).type) != field.type:
            held = str(field.type)[:60]
            raise _WrongError(f"has column {field.name!r} of {name} as {held}, and runs have it as {kind}")
    for column in expected.names:
        if column not in names:
            raise _WrongError(f"lacks column {column!r} of {name}")
    if names != expected.names:
        raise _WrongError(f"has the columns of {name} in another order")
    return table
