"""The figures that a scenario names: the charts that its files are drawn of, for the page."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING

import polars as pl
from pydantic import ValidationError

from p4cc.errors import UserError
from p4cc.figures.draw import chart_of
from p4cc.json_data import mapping
from p4cc.report.document import Figure, Text, View
from p4cc.report.interactive import figure as drawn
from p4cc.scenario.figures import TimeFigure, TracesFigure
from p4cc.scenario.schema import Scenario

if TYPE_CHECKING:
    from p4cc.report.document import Block
    from p4cc.report.runs import Runs
    from p4cc.scenario.figures import Figure as FigureSpec

_SPREAD = "Median over the seeds that are on; the range is from the 5th to the 95th percentile."
_OF_ALL = "Of all seeds."
_OF_A_RUN = "Of one seed."


def blocks(runs: Runs) -> list[Block]:
    """The figures of the first folder's scenario, with the series of all folders."""
    try:
        scenario = Scenario.model_validate(mapping(runs.folders[0].plain.get("scenario")))
    except ValidationError:
        return [Text("The scenario's figures are of another version of p4cc; they stand in the folder.", "why")]
    tables = lru_cache(maxsize=None)(partial(_table, runs))
    rows = [{**row, "variant": runs.series[key.series].label} for key, row in runs.numbers.items()]
    numbers = pl.DataFrame(rows, infer_schema_length=None)
    result: list[Block] = []
    for figure in scenario.figures:
        title = figure.title or figure.file
        try:
            views: list[View] = []
            notes: dict[str, None] = {}
            for point, seed in _shown(runs, figure):
                spec = figure if seed is None else figure.model_copy(update={"seed": seed})
                found = drawn(chart_of(spec, numbers, partial(tables, point=point), scenario))
                views.append(View(point, seed, found["data"], found["layout"]))
                notes |= dict.fromkeys(found["notes"])
        except (UserError, KeyError, pl.exceptions.PolarsError) as error:
            result.append(Text(f"{title}: not drawn: {error}", "why"))
            continue
        result.append(Figure(title, _caption(views), views, list(notes)))
    return result


def _caption(views: list[View]) -> str:
    if views[0].seed is not None:
        return _OF_A_RUN
    return _SPREAD if any("samples" in trace["meta"] for trace in views[0].data) else _OF_ALL


def _shown(runs: Runs, figure: FigureSpec) -> list[tuple[int | None, int | None]]:
    """Points and seeds of which the page has the figure: each, where it is of one run."""
    if "seed" not in type(figure).model_fields:
        return [(None, None)]
    is_of_point = isinstance(figure, TimeFigure | TracesFigure)
    places = {(key.point if is_of_point else None, key.seed) for key in runs.detailed}
    return sorted(places, key=lambda place: (place[0] or 0, place[1]))


def _table(runs: Runs, name: str, point: int | None = None) -> pl.DataFrame | None:
    """Rows of a table of all folders, or of a point of the sweep, by the names of the report's series."""
    parts = [
        rows.with_columns(variant=pl.lit(runs.series[key.series].label))
        for key, rows in runs.frames(name, detailed=point is not None)
        if point in (None, key.point)
    ]
    return pl.concat(parts, how="diagonal_relaxed") if parts else None
