"""Reads a folder for a report: results, a lab, or the files of an unfinished call."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from p4cc.analysis.recorded import RUN_FILE, read_results, read_table
from p4cc.errors import UserError
from p4cc.lab.compare import TABLE_FILE
from p4cc.lab.report import FILE as LAB_FILE
from p4cc.lab.report import FORMAT as LAB_FORMAT
from p4cc.running.result_folder import REPORT, Manifest, read_manifest
from p4cc.scenario.expand import column_names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from p4cc.analysis.recorded import Results
    from p4cc.json_data import JsonObject, JsonValue

_OURS = "name a folder that p4cc run, p4cc sweep or p4cc lab wrote"


@dataclass(frozen=True)
class RunFolder:
    """Results of `p4cc run`."""

    folder: Path
    shown: str
    """The path as the user wrote it."""
    results: Results
    plain: JsonObject
    """Content of run.json."""

    @cached_property
    def swept(self) -> dict[str, str]:
        """Swept fields by column name."""
        return column_names(self.results.run.scenario.sweep)

    def point_of(self, row: Mapping[str, object]) -> str:
        """A row's point of the sweep, for people; empty without a sweep."""
        return ", ".join(f"{name}={row.get(name)}" for name in self.swept)

    def table(self, name: str) -> pl.DataFrame | None:
        """A table of results, None if it has no rows; raises UserError for a file that cannot be read."""
        try:
            return read_table(self.folder, name)
        except (OSError, pl.exceptions.PolarsError) as error:
            place = str(self.folder / f"{name}.parquet")
            raise UserError(f"cannot be read ({error})", place=place, remedy="run the scenario again") from error


@dataclass(frozen=True)
class LabFolder:
    """A lab: `lab.json`."""

    folder: Path
    shown: str
    plain: JsonObject
    is_under_way: bool


@dataclass(frozen=True)
class LabComparison:
    """Results of `p4cc lab --compare`: a row per variant and clock."""

    folder: Path
    shown: str
    rows: Sequence[JsonObject]


@dataclass(frozen=True)
class Unfinished:
    """The folder of a call that has no results yet."""

    folder: Path
    shown: str
    manifest: Manifest


Folder = RunFolder | LabFolder | LabComparison | Unfinished


def read_folder(folder: Path, shown: str | None = None) -> Folder:
    """Reads a folder; raises UserError unless p4cc wrote it."""
    name = str(folder) if shown is None else shown
    manifest = read_manifest(folder)
    if (folder / LAB_FILE).exists():
        plain = _mapping(folder / LAB_FILE)
        if plain.get("format") != LAB_FORMAT:
            raise UserError("is not from a lab of this version of p4cc", place=str(folder / LAB_FILE), remedy=_OURS)
        return LabFolder(folder, name, plain, manifest is not None and manifest.under_way)
    if (folder / TABLE_FILE).exists():
        rows = _json(folder / TABLE_FILE)
        if not isinstance(rows, list):
            raise UserError("holds no rows", place=str(folder / TABLE_FILE), remedy=_OURS)
        return LabComparison(folder, name, [row for row in rows if isinstance(row, dict)])
    if manifest is not None and not (folder / RUN_FILE).exists():
        if {*manifest.files} - {REPORT} and not manifest.replaced:
            raise UserError(f"no longer holds {RUN_FILE}", place=str(folder), remedy="run the scenario again")
        return Unfinished(folder, name, manifest)
    return RunFolder(folder, name, read_results(folder), _mapping(folder / RUN_FILE))


def _mapping(path: Path) -> JsonObject:
    value = _json(path)
    if not isinstance(value, dict):
        raise UserError("is not a mapping", place=str(path), remedy=_OURS)
    return value


def _json(path: Path) -> JsonValue:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"cannot be read ({error})", place=str(path), remedy=_OURS) from error
