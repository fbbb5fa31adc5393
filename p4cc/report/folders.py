"""What stands in a folder that a report is asked of: results, a lab, or what a call that has not ended left."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import polars as pl

from p4cc.analysis.recorded import RUN_FILE, read_ran, read_table
from p4cc.errors import UserError
from p4cc.lab.compare import TABLE_FILE
from p4cc.lab.report import FILE as LAB_FILE
from p4cc.lab.report import FORMAT as LAB_FORMAT
from p4cc.running.result_folder import REPORT, Manifest, read_manifest
from p4cc.scenario.expand import column_names

if TYPE_CHECKING:
    from p4cc.analysis.recorded import Ran

_OURS = "name a folder that p4cc run, p4cc sweep or p4cc lab wrote"


@dataclass(frozen=True)
class RunFolder:
    """Results of `p4cc run`."""

    folder: Path
    shown: str
    """How the reader knows it: the path as it was given."""
    ran: Ran
    plain: dict[str, Any]
    """run.json as it is."""

    @cached_property
    def swept(self) -> dict[str, str]:
        """Swept fields by the names of their columns."""
        return column_names(self.ran.told.scenario.sweep)

    def point_of(self, row: dict[str, Any]) -> str:
        """The point of the sweep that a row of results is of, for people; empty without a sweep."""
        return ", ".join(f"{name}={row.get(name)}" for name in self.swept)

    def table(self, name: str) -> pl.DataFrame | None:
        """A table of results, None where it has no rows; raises UserError for a file that cannot be read."""
        try:
            return read_table(self.folder, name)
        except (OSError, pl.exceptions.PolarsError) as error:
            place = str(self.folder / f"{name}.parquet")
            raise UserError(f"cannot be read ({error})", place=place, remedy="run the scenario once more") from error


@dataclass(frozen=True)
class LabFolder:
    """What a lab left: `lab.json`."""

    folder: Path
    shown: str
    plain: dict[str, Any]
    is_under_way: bool


@dataclass(frozen=True)
class LabComparison:
    """What `p4cc lab --compare` left: a row per variant and clock."""

    folder: Path
    shown: str
    rows: list[dict[str, Any]]


@dataclass(frozen=True)
class Unfinished:
    """A folder that a call claimed, and that holds no results yet."""

    folder: Path
    shown: str
    manifest: Manifest


Folder = RunFolder | LabFolder | LabComparison | Unfinished


def read_folder(folder: Path, shown: str | None = None) -> Folder:
    """What a folder holds; raises UserError where nothing of it can be read."""
    name = str(folder) if shown is None else shown
    manifest = read_manifest(folder)
    if (folder / LAB_FILE).exists():
        plain = _mapping(folder / LAB_FILE)
        if plain.get("format") != LAB_FORMAT:
            raise UserError("is not of a lab of this p4cc", place=str(folder / LAB_FILE), remedy=_OURS)
        return LabFolder(folder, name, plain, manifest is not None and manifest.under_way)
    if (folder / TABLE_FILE).exists():
        rows = _json(folder / TABLE_FILE)
        if not isinstance(rows, list):
            raise UserError("holds no rows", place=str(folder / TABLE_FILE), remedy=_OURS)
        return LabComparison(folder, name, [one for one in cast("list[Any]", rows) if isinstance(one, dict)])
    if manifest is not None and not (folder / RUN_FILE).exists():
        if {*manifest.files} - {REPORT} and not manifest.replaced:
            raise UserError(f"holds no {RUN_FILE} any more", place=str(folder), remedy="run the scenario once more")
        return Unfinished(folder, name, manifest)
    return RunFolder(folder, name, read_ran(folder), _mapping(folder / RUN_FILE))


def mapping(held: Any) -> dict[str, Any]:
    """What JSON holds where a mapping is expected; an empty one for anything else."""
    return cast("dict[str, Any]", held) if isinstance(held, dict) else {}


def listed(held: Any) -> list[Any]:
    """What JSON holds where a list is expected; an empty one for anything else."""
    return cast("list[Any]", held) if isinstance(held, list) else []


def _mapping(path: Path) -> dict[str, Any]:
    held = _json(path)
    if not isinstance(held, dict):
        raise UserError("is no mapping", place=str(path), remedy=_OURS)
    return cast("dict[str, Any]", held)


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"cannot be read ({error})", place=str(path), remedy=_OURS) from error
