"""Which rows of a table a figure shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4cc.errors import UserError

if TYPE_CHECKING:
    import polars as pl


def need_columns(file: str, frame: pl.DataFrame, *columns: str) -> None:
    """Raises UserError for the first column that the frame of a figure lacks."""
    for column in columns:
        if column not in frame.columns:
            raise UserError(
                f"figure {file}: the runs have no column {column!r}", remedy=f"columns: {', '.join(frame.columns)}"
            )


def of_seed(frame: pl.DataFrame, seed: int | None) -> pl.DataFrame:
    """Rows of one seed: the first if none is named."""
    if frame.is_empty():
        return frame
    wanted = frame["seed"][0] if seed is None else seed
    return frame.filter(frame["seed"] == wanted)


def at_point(file: str, frame: pl.DataFrame, over: str | None, at: str | float | None) -> pl.DataFrame:
    """Rows of one value of a swept column, or all without one; raises UserError where the value was not run."""
    if over is None:
        return frame
    need_columns(file, frame, over)
    chosen = frame.filter(frame[over] == at)
    if chosen.is_empty() and not frame.is_empty():
        values = frame[over].unique(maintain_order=True).to_list()
        raise UserError(f"figure {file}: no row has {over} {at}", remedy=f"values of {over}: {values}")
    return chosen


def split(frame: pl.DataFrame, over: str | None) -> list[tuple[str, str, pl.DataFrame]]:
    """Rows by variant and value of a swept column (as text; empty without one), in order of appearance."""
    keys = ["variant", *([over] if over else [])]
    groups = frame.group_by(*keys, maintain_order=True)
    return [(str(key[0]), str(key[1]) if over else "", group) for key, group in groups]
