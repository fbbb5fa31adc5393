"""Flows as a table, in CSV or Parquet (docs/algorithms/traffic.md#flow-table).

    src,dst,size_bytes,start_ns,priority,class,deadline_ns
    h0,h1,2000000,0,3,query,1000000

Ends are names of hosts. The last three columns may be missing, or empty in a row. polars reads and checks whole
columns, so a million rows take no loop; the line of a fault is looked up when there is one.
"""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import polars as pl

from p4cc.errors import UserError
from p4cc.scenario.base import MAX_FLOW_BYTES, MAX_TIME_NS
from topos.loaders.words import shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

MAX_FLOWS = 1_000_000
MAX_FILE_BYTES = 1 << 28
MAX_NAME = 63
"""Characters of a host's name in a topology."""
_TEXTS = ("src", "dst", "class")
_WORDS = (pl.String, pl.Categorical, pl.Enum, pl.Null)
_NUMBERS = {
    "size_bytes": (1, MAX_FLOW_BYTES),
    "start_ns": (0, MAX_TIME_NS),
    "priority": (0, 7),
    "deadline_ns": (1, MAX_TIME_NS),
}
"""Columns of whole numbers with the least and the largest value."""
_REQUIRED = ("src", "dst", "size_bytes", "start_ns")
_OPTIONAL = ("priority", "class", "deadline_ns")
COLUMNS = (*_REQUIRED, *_OPTIONAL)
_CLASS = r"^[A-Za-z0-9_-]{1,32}$"
_ROW = "row"


def read_flow_table(path: Path, hosts: Sequence[str] | None = None) -> pl.DataFrame:
    """The rows in order with all of COLUMNS, null where one is missing; raises UserError with the line of a fault.

    Ends must be among `hosts` where these are given.
    """
    whole = _read(path)
    _check_columns(path, whole.columns)
    if whole.height > MAX_FLOWS:
        cause = f"the table has {whole.height} rows; the limit is {MAX_FLOWS}"
        raise UserError(cause, place=str(path), remedy="give fewer flows")
    # A blank line of a CSV file is a row without values.
    table = whole.with_row_index(_ROW).filter(~pl.all_horizontal(pl.exclude(_ROW).is_null()))
    if table.is_empty():
        raise UserError("the table has no flow", place=str(path), remedy="add a row")
    for name in table.columns[1:]:
        table = table.with_columns(_column(path, table, name))
    _check(path, table, "dst", table["src"] == table["dst"], "{} would send to itself", "correct the flow")
    if hosts is not None:
        for name in ("src", "dst"):
            shown_hosts = ", ".join(hosts[:8]) + (", ..." if len(hosts) > 8 else "")
            wrong = ~table[name].is_in(list(hosts))
            _check(path, table, name, wrong, "there is no host {}", f"hosts of the topology: {shown_hosts}")
    absent = [pl.lit(None).alias(name) for name in _OPTIONAL if name not in table.columns]
    return table.with_columns(absent).select(COLUMNS)


def _read(path: Path) -> pl.DataFrame:
    _check_size(path)
    try:
        with path.open("rb") as file:
            is_parquet = file.read(4) == b"PAR1"
        return pl.read_parquet(path) if is_parquet else pl.read_csv(path, infer_schema=False, glob=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        place, cause = _unreadable(path)
        raise UserError(cause, place=place, remedy="give CSV in UTF-8 with a header, or Parquet") from error
    except BaseException as error:
        # Its decoders panic on some damaged files, which is no Exception.
        if type(error).__name__ != "PanicException":
            raise
        raise UserError("cannot read the table", place=str(path), remedy="give an undamaged file") from None


def _check_size(path: Path) -> None:
    try:
        size_bytes = path.stat().st_size
    except OSError:
        size_bytes = 0
    if size_bytes > MAX_FILE_BYTES:
        cause = f"the table has {size_bytes} bytes; the limit is {MAX_FILE_BYTES}"
        raise UserError(cause, place=str(path), remedy="give a smaller table")


def _unreadable(path: Path) -> tuple[str, str]:
    """Place and cause of a file that polars does not read: the first line whose fields are not those of the header."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = csv.reader(file, strict=True)
            header = next(lines, list[str]())
            for fields in lines:
                if fields and len(fields) != len(header):
                    return f"{path}:{lines.line_num}", f"the row has {len(fields)} fields, the header {len(header)}"
    except (OSError, UnicodeDecodeError, csv.Error):
        pass
    return str(path), "cannot read the table"


def _check_columns(path: Path, columns: Sequence[str]) -> None:
    place = f"{path}:1" if path.suffix != ".parquet" else str(path)
    remedy = f"columns: {', '.join(_REQUIRED)}, and where wanted {', '.join(_OPTIONAL)}"
    if unknown := [name for name in columns if name not in COLUMNS]:
        raise UserError(f"there is no column {', '.join(map(shown, unknown[:4]))}", place=place, remedy=remedy)
    if missing := [name for name in _REQUIRED if name not in columns]:
        raise UserError(f"the table has no column {', '.join(missing)}", place=place, remedy=remedy)


def _column(path: Path, table: pl.DataFrame, name: str) -> pl.Series:
    """A column in its type and range; raises UserError."""
    given = table[name]
    if name not in _OPTIONAL:
        _check(path, table, name, given.is_null(), f"{name} is empty", f"give {name} in each row")
    if name in _TEXTS:
        if not (given.dtype.is_integer() or given.dtype.is_float() or given.dtype.base_type() in _WORDS):
            cause = f"{name} is of type {given.dtype}"
            raise UserError(cause, place=str(path), remedy=f"give {name} as text or whole numbers")
        if given.dtype != pl.String:
            given = given.cast(pl.String, strict=False)
        if name != "class":
            long = (given.str.len_chars() > MAX_NAME).fill_null(value=False)
            _check(path, table, name, long, f"{name} is {{}}", f"use at most {MAX_NAME} characters")
        if name == "class":
            wrong = ~given.str.contains(_CLASS).fill_null(value=True)
            _check(path, table, name, wrong, "class is {}", "use up to 32 letters, digits, _ and -")
        return given
    least, most = _NUMBERS[name]
    remedy = f"give a whole number from {least} to {most}"
    made = _whole(given)
    _check(path, table, name, made.is_null() & given.is_not_null(), f"{name} is {{}}", remedy)
    _check(path, table, name, ((made < least) | (made > most)).fill_null(value=False), f"{name} is {{}}", remedy)
    return made


def _whole(given: pl.Series) -> pl.Series:
    """Whole numbers, null for anything else."""
    if given.dtype.is_integer():
        return given.cast(pl.Int64, strict=False)
    if given.dtype.is_float():
        whole = given.is_finite() & (given == given.floor())
        return pl.select(pl.when(whole).then(given).otherwise(None).cast(pl.Int64, strict=False)).to_series()
    if given.dtype != pl.String:
        return pl.Series(given.name, [None] * len(given), dtype=pl.Int64)
    text = given.str.strip_chars(" ")
    digits = text.str.contains(r"^[0-9]{1,18}$")
    return pl.select(pl.when(digits).then(text).otherwise(None).cast(pl.Int64, strict=False)).to_series()


def _check(path: Path, table: pl.DataFrame, name: str, wrong: pl.Series, cause: str, remedy: str) -> None:
    """Raises UserError for the first row that is wrong; `{}` in the cause is its value."""
    first = wrong.arg_max() if wrong.any() else None
    if first is None:
        return
    value = table[name][first]
    raise UserError(cause.format(shown(str(value))), place=_place(path, int(table[_ROW][first])), remedy=remedy)


def _place(path: Path, row: int) -> str:
    """The line of a row of a CSV file, or the row of another."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = csv.reader(file)
            next(line for line in lines if line)
            for number, _ in enumerate(lines):
                if number == row:
                    return f"{path}:{lines.line_num}"
    except (OSError, UnicodeDecodeError, csv.Error, StopIteration):
        pass
    return f"{path} row {row}"
