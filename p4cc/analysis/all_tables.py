"""All tables of a results folder, also as CSV: for `p4cc tables` and for Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from p4cc.analysis.recorded import read_table
from p4cc.analysis.seeds import interval_of, over_seeds
from p4cc.analysis.tables import TABLE_NAMES
from p4cc.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from os import PathLike

    from p4cc.analysis.intervals import Interval
    from p4cc.analysis.recorded import Results


def runs_frame(results: Results) -> pl.DataFrame:
    """One row per run with its plain numbers."""
    plain = [{key: value for key, value in row.items() if not isinstance(value, list | dict)} for row in results.runs]
    return pl.DataFrame(plain, infer_schema_length=None)


def statistics_frame(results: Results, interval: Interval | None = None) -> pl.DataFrame:
    """One row per variant, point and number of the runs; `interval` defaults to the scenario's."""
    chosen = interval or interval_of(results.run.scenario.model_dump())
    return pl.DataFrame(over_seeds(results, chosen), infer_schema_length=None)


def all_tables(results: Results) -> Iterator[tuple[str, pl.DataFrame]]:
    """`runs`, `statistics`, and every non-empty table, one by one."""
    yield "runs", runs_frame(results)
    yield "statistics", statistics_frame(results)
    for name in TABLE_NAMES:
        if (frame := read_table(results.folder, name)) is not None:
            yield name, frame


def write_csv(tables: Iterable[tuple[str, pl.DataFrame]], folder: str | PathLike[str]) -> Iterator[Path]:
    """Writes NAME.csv for each table to a folder, which is created if absent; raises UserError if it cannot."""
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name, frame in tables:
            path = target / f"{name}.csv"
            _flat(frame).write_csv(path)
            yield path
    except OSError as error:
        cause, remedy = f"cannot be written: {error.strerror or error}", "name a folder that can be written to"
        raise UserError(cause, place=str(target), remedy=remedy) from error


def _flat(frame: pl.DataFrame) -> pl.DataFrame:
    """Converts a frame for CSV: lists become JSON, bytes hexadecimal digits."""
    columns: list[pl.Expr] = []
    for name, kind in frame.schema.items():
        if isinstance(kind, pl.List | pl.Struct | pl.Array):
            texts = [None if one is None else json.dumps(one, default=str) for one in frame[name].to_list()]
            columns.append(pl.lit(pl.Series(name, texts, pl.String)))
        elif kind == pl.Binary:
            columns.append(pl.col(name).bin.encode("hex"))
    return frame.with_columns(columns)
