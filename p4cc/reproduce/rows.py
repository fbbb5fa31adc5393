"""Rows of a frame that a claim is about; messages name the columns and variants that there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from p4cc.errors import UserError
from p4cc.scenario.where import Equal, OneOf

if TYPE_CHECKING:
    from p4cc.scenario.where import Where


def of_variant(frame: pl.DataFrame, variant: str, where: Where) -> pl.DataFrame:
    """Rows of the variant where the columns are as asked; raises UserError when there are none."""
    rows = frame.filter(pl.col("variant") == variant)
    for column, want in where.items():
        need(frame, column)
        if isinstance(want, Equal):
            rows = rows.filter(pl.col(column) == want.value)
        elif isinstance(want, OneOf):
            rows = rows.filter(pl.col(column).is_in(want.among))
        else:
            value = pl.col(column).cast(pl.Float64)
            rows = rows if want.min is None else rows.filter(value >= want.min)
            rows = rows if want.max is None else rows.filter(value <= want.max)
    if rows.is_empty():
        known = ", ".join(frame["variant"].unique(maintain_order=True).to_list())
        raise UserError(f"no run of {variant!r} is left by {list(where) or 'nothing'}", remedy=f"variants: {known}")
    return rows


def need(frame: pl.DataFrame, *columns: str) -> None:
    """Raises UserError for the first column that is not there."""
    for column in columns:
        if column not in frame.columns:
            raise UserError(f"no column {column!r}", remedy=f"columns: {', '.join(frame.columns)}")
