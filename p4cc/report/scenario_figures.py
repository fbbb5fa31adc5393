"""The scenario's figures: the same charts as in their files, for the page."""

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
from p4cc.scenario.schema import ScenarioModel

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from p4cc.report.document import Block
    from p4cc.report.runs import Runs
    from p4cc.scenario.figures import Figure as FigureSpec

    Tables: TypeAlias = Callable[..., pl.DataFrame | None]

_SPREAD = "Median over the selected seeds; the range is from the 5th to the 95th percentile."
_OF_ALL = "Of all seeds."
_OF_A_RUN = "Of one seed."
MAX_VALUES = 480_000
"""Values of one figure, over all its runs."""


def blocks(runs: Runs) -> list[Block]:
    """The figures of the first folder's scenario, with the series of all folders."""
    try:
        scenario = ScenarioModel.model_validate(mapping(runs.folders[0].plain.get("scenario")))
    except ValidationError:
        return [Text("The scenario's figures are from another version of p4cc; see their files in the folder.", "why")]
    tables = lru_cache(maxsize=None)(partial(_table, runs))
    rows = [{**row, "variant": runs.series[key.series].label} for key, row in runs.numbers.items()]
    numbers = pl.DataFrame(rows, infer_schema_length=None)
    result: list[Block] = []
    # A figure for LaTeX and the web has two files and one drawing here.
    different = {figure.model_dump_json(exclude={"file", "width_mm"}): figure for figure in reversed(scenario.figures)}
    for figure in reversed(different.values()):
        try:
            result.append(_figure(runs, figure, scenario, numbers, tables))
        except (UserError, KeyError, pl.exceptions.PolarsError) as error:
            result.append(Text(f"{figure.title or figure.file}: not drawn: {error}", "why"))
    return result


def _figure(runs: Runs, figure: FigureSpec, scenario: ScenarioModel, numbers: pl.DataFrame, tables: Tables) -> Figure:
    views: list[View] = []
    notes: dict[str, None] = {}
    shown = _shown(runs, figure)
    room = MAX_VALUES
    # A figure of one variant belongs to the first folder.
    labels = [one.label for one in runs.series if one.variant == getattr(figure, "variant", None)]
    for point, seed in shown:
        changes = {**({} if seed is None else {"seed": seed}), **({"variant": labels[0]} if labels else {})}
        spec = figure.model_copy(update=changes)
        found = drawn(chart_of(spec, numbers, partial(tables, point=point), scenario))
        room -= sum(len(trace["x"]) for trace in found["data"])
        if views and room < 0:
            notes[f"Of {len(views)} of {len(shown)} runs, so that the page stays small."] = None
            break
        views.append(View(point, seed, found["data"], found["layout"]))
        notes |= dict.fromkeys(found["notes"])
    return Figure(figure.title or figure.file, _caption(views), views, list(notes))


def _caption(views: list[View]) -> str:
    if views[0].seed is not None:
        return _OF_A_RUN
    return _SPREAD if any("samples" in trace["meta"] for trace in views[0].data) else _OF_ALL


def _shown(runs: Runs, figure: FigureSpec) -> list[tuple[int | None, int | None]]:
    """Points and seeds for which the page has the figure: each, if it shows a single run."""
    if "seed" not in type(figure).model_fields:
        return [(None, None)]
    is_of_point = isinstance(figure, TimeFigure | TracesFigure)
    places = {(key.point if is_of_point else None, key.seed) for key in runs.detailed}
    return sorted(places, key=lambda place: (place[0] or 0, place[1]))


def _table(runs: Runs, name: str, point: int | None = None) -> pl.DataFrame | None:
    """Rows of a table from all folders, or of a point of the sweep, by the report's series names."""
    parts = [
        rows.with_columns(variant=pl.lit(runs.series[key.series].label))
        for key, rows in runs.frames(name, detailed=point is not None)
        if point in (None, key.point)
    ]
    return pl.concat(parts, how="diagonal_relaxed") if parts else None
