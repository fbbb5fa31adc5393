"""Results of a user's controller in a lab: the table `control`, and counts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from pathlib import Path

FILE = "control.json"
_COLUMNS = {"time_ns": pl.Int64, "switch": pl.String, "name": pl.String, "value": pl.Float64}


@dataclass(frozen=True)
class ControlResult:
    """Read after the lab's end; empty where the controller failed."""

    summary: dict[str, int]
    """Named as in `p4cc run`: `control_calls`, `control_writes`, `control_packet_outs`."""
    rows: pl.DataFrame
    """As the table `control` of `p4cc run`."""
    warnings: tuple[str, ...] = ()


def read_control_result(folder: Path) -> ControlResult:
    """The file that the controller writes at its end."""
    try:
        plain = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ControlResult({}, pl.DataFrame(schema=_COLUMNS))
    rows = pl.DataFrame(plain["rows"], schema=_COLUMNS, orient="row")
    warnings: list[str] = []
    if plain["calls_left_out"]:
        warnings.append(
            f"the controller was too late for {plain['calls_left_out']} calls of `every`, which were left out: a lab "
            "waits for nobody; give longer intervals"
        )
    if plain["messages_lost"]:
        warnings.append(f"{plain['messages_lost']} messages of switches found no room and did not reach the controller")
    return ControlResult({f"control_{name}": count for name, count in plain["counts"].items()}, rows, tuple(warnings))
