"""A folder of results read back: its tables, and run.json and summary.json, checked."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import polars as pl
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from p4cc.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

RUN_FILE = "run.json"
"""What was run."""
SUMMARY = "summary.json"
"""What came of each run."""
_OURS = "name a folder that p4cc run wrote"


class RecordedInput(BaseModel):
    """A file that decided the runs."""

    name: str
    sha256: str


class RecordedThresholds(BaseModel):
    """Thresholds of so many ports."""

    k_pkts: int | None
    k_dc_pkts: int | None
    ports: int


class RecordedVariant(BaseModel, extra="allow"):
    """A variant of the scenario as resolved."""

    name: str


class RecordedScenario(BaseModel, extra="allow"):
    """The scenario as resolved, of this p4cc or another: what it is looked into for."""

    name: str
    topology: dict[str, Any]
    variants: list[RecordedVariant]
    sweep: dict[str, list[Any]] = {}


class RecordedCase(BaseModel, extra="allow"):
    """One case as it ran, with its point of the sweep beside (`model_extra`)."""

    variant: str
    program: str
    algorithms: dict[str, dict[str, Any]]
    installed: list[RecordedThresholds]


class RecordedRun(BaseModel):
    """run.json, as far as p4cc reads it again."""

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


_RUNS = TypeAdapter(Annotated[list[RecordedRow], Field(min_length=1)])


@dataclass(frozen=True)
class Ran:
    """A folder of results."""

    folder: Path
    told: RecordedRun
    runs: list[dict[str, Any]]
    """One row per run, as in summary.json."""


def read_table(folder: Path, name: str) -> pl.DataFrame | None:
    """A table of results; None where it has no rows."""
    path = folder / f"{name}.parquet"
    return pl.read_parquet(path) if path.exists() else None


def read_run(folder: Path) -> RecordedRun:
    """run.json of a folder; raises UserError where there is none, or one that does not say what was run."""
    path = folder / RUN_FILE
    held = _read_json(path)
    try:
        return RecordedRun.model_validate(held)
    except ValidationError as error:
        first = error.errors()[0]
        at = ".".join(str(step) for step in first["loc"])
        cause = f"does not say what was run ({at}: {first['msg']})" if at else "does not say what was run"
        raise UserError(cause, place=str(path), remedy=_OURS) from error


def read_ran(folder: Path) -> Ran:
    """What was run and what came of it; raises UserError for a folder that is not there or does not say."""
    if not folder.is_dir():
        raise UserError("there is no such folder", place=str(folder), remedy=_OURS)
    if not (folder / RUN_FILE).exists():
        inside = sorted(path.parent.name for path in folder.glob(f"*/{RUN_FILE}"))
        remedy = f"name one of the folders in it: {', '.join(inside)}" if inside else _OURS
        raise UserError(f"holds no {RUN_FILE}", place=str(folder), remedy=remedy)
    told, path = read_run(folder), folder / SUMMARY
    summary = _read_json(path)
    runs: Any = cast("dict[str, Any]", summary).get("runs") if isinstance(summary, dict) else None
    try:
        rows = _RUNS.validate_python(runs)
    except ValidationError as error:
        raise UserError("holds no runs", place=str(path), remedy=_OURS) from error
    return Ran(folder, told, [{"variant": row.variant, "seed": row.seed, **(row.model_extra or {})} for row in rows])


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError("there is no such file", place=str(path), remedy=_OURS) from error
    except (ValueError, RecursionError) as error:
        raise UserError("is not JSON", place=str(path), remedy=_OURS) from error
