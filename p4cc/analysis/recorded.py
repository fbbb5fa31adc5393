"""Reads a results folder: tables, and run.json and summary.json, validated."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import polars as pl
from pydantic import BaseModel, Field, JsonValue, TypeAdapter, ValidationError

from p4cc.errors import UserError
from p4cc.json_data import mapping

if TYPE_CHECKING:
    from pathlib import Path

RUN_FILE = "run.json"
"""The record of the call."""
SUMMARY = "summary.json"
"""The numbers of each run."""
_OURS = "name a folder that p4cc run wrote"


class RecordedInput(BaseModel):
    """An input file of the runs."""

    name: str
    sha256: str


class RecordedThresholds(BaseModel):
    """Thresholds, and the number of ports that have them."""

    k_pkts: int | None
    k_dc_pkts: int | None
    ports: int


class RecordedVariant(BaseModel, extra="allow"):
    """A variant of the resolved scenario."""

    name: str


class RecordedScenario(BaseModel, extra="allow"):
    """The relevant parts of a resolved scenario, of this version of p4cc or another."""

    name: str
    topology: dict[str, JsonValue]
    variants: list[RecordedVariant]
    sweep: dict[str, list[JsonValue]] = {}


class RecordedCase(BaseModel, extra="allow"):
    """One case; `model_extra` has its point of the sweep."""

    variant: str
    program: str
    algorithms: dict[str, dict[str, JsonValue]]
    installed: list[RecordedThresholds]


class RecordedRun(BaseModel):
    """The relevant parts of run.json."""

    format: Literal["p4cc run 1"]
    p4cc: dict[str, str | None]
    variants_chosen: list[str] = []
    seeds: list[int]
    inputs: list[RecordedInput]
    cases: list[RecordedCase]
    scenario: RecordedScenario


class RecordedRow(BaseModel, extra="allow"):
    """A row of summary.json."""

    variant: str
    seed: int

    @property
    def columns(self) -> dict[str, JsonValue]:
        """All columns."""
        return {"variant": self.variant, "seed": self.seed, **(self.model_extra or {})}


_RUNS = TypeAdapter(Annotated[list[RecordedRow], Field(min_length=1)])


@dataclass(frozen=True)
class Results:
    """A folder of results."""

    folder: Path
    run: RecordedRun
    rows: list[RecordedRow]
    """One row per run, from summary.json."""

    @property
    def runs(self) -> list[dict[str, JsonValue]]:
        """The columns of each row."""
        return [row.columns for row in self.rows]


def read_table(folder: Path, name: str) -> pl.DataFrame | None:
    """A table of results; None if it has no rows."""
    path = folder / f"{name}.parquet"
    return pl.read_parquet(path) if path.exists() else None


def read_run(folder: Path) -> RecordedRun:
    """Reads run.json of a folder; raises UserError if it is missing or invalid."""
    path = folder / RUN_FILE
    try:
        return RecordedRun.model_validate(_read_json(path))
    except ValidationError as error:
        first = error.errors()[0]
        at = ".".join(str(step) for step in first["loc"])
        cause = f"does not say what was run ({at}: {first['msg']})" if at else "does not say what was run"
        raise UserError(cause, place=str(path), remedy=_OURS) from error


def read_results(folder: Path) -> Results:
    """Reads a results folder; raises UserError if it is missing or invalid."""
    if not folder.is_dir():
        raise UserError("there is no such folder", place=str(folder), remedy=_OURS)
    if not (folder / RUN_FILE).exists():
        inside = sorted(path.parent.name for path in folder.glob(f"*/{RUN_FILE}"))
        remedy = f"name one of the folders in it: {', '.join(inside)}" if inside else _OURS
        raise UserError(f"holds no {RUN_FILE}", place=str(folder), remedy=remedy)
    run, path = read_run(folder), folder / SUMMARY
    summary = _read_json(path)
    try:
        rows = _RUNS.validate_python(mapping(summary).get("runs"))
    except ValidationError as error:
        raise UserError("holds no runs", place=str(path), remedy=_OURS) from error
    return Results(folder, run, rows)


def _read_json(path: Path) -> JsonValue:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError("there is no such file", place=str(path), remedy=_OURS) from error
    except (ValueError, RecursionError) as error:
        raise UserError("is not JSON", place=str(path), remedy=_OURS) from error
