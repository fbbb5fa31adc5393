"""The figures that a scenario names: those of lines, bars and maps as interactive ones, the others as they were drawn.

What is drawn is worked out by the same functions as for the files (`p4cc.figures`), and medians by the page, from the
values of the seeds that are on.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Literal

import polars as pl
from pydantic import TypeAdapter, ValidationError

from p4cc.digits import digits
from p4cc.errors import UserError
from p4cc.figures.cdf import of_classes
from p4cc.figures.chart import axis_label
from p4cc.figures.heatmap import cells, label_of, points_of
from p4cc.figures.series import THROUGHPUT_BIN_NS, goodput
from p4cc.figures.traces import whole_bins
from p4cc.json_data import mapping, number
from p4cc.report.document import Chart, HeatMap, Image, Line, Map, Panel, Text
from p4cc.report.flows import cdf_panel
from p4cc.report.reduce import numbers, short, spread_over
from p4cc.report.time import MAX_LINES, spans_for, steps
from p4cc.scenario.figures import (
    BarFigure,
    CdfFigure,
    Figure,
    HeatMapFigure,
    SweepFigure,
    TimeFigure,
    TracesFigure,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from p4cc.report.document import Block, Number
    from p4cc.report.folders import RunFolder
    from p4cc.report.runs import Key, Runs
    from p4cc.scenario.figures import Panel as PanelSpec

_IMAGE_BYTES = 1_500_000
"""All pictures of a page together."""
_KINDS = {".png": "image/png", ".svg": "image/svg+xml"}
_FIGURES: TypeAdapter[list[Figure]] = TypeAdapter(list[Figure])
_AS_DRAWN = "As the run drew it; this kind of figure is not interactive, and the switches above do not act on it."
_CDF_POINTS = 200


def blocks(runs: Runs) -> list[Block]:
    """The figures of the first folder's scenario, with the series of all folders."""
    folder = runs.folders[0]
    specs = mapping(folder.plain.get("scenario")).get("figures", [])
    try:
        figures = _FIGURES.validate_python(specs)
    except ValidationError:
        return [Text("The scenario's figures are of another version of p4cc; they stand in the folder.", "why")]
    result: list[Block] = []
    room = _IMAGE_BYTES
    for figure in figures:
        try:
            block = _interactive(runs, figure)
        except (UserError, KeyError, pl.exceptions.PolarsError) as error:
            result.append(Text(f"{figure.title or figure.file}: not drawn: {error}", "why"))
            continue
        if block is None:
            block, size = _picture(folder, figure, room)
            room -= size
        result.append(block)
    return result


def _interactive(runs: Runs, figure: Figure) -> Block | None:
    """The figure for the page; None for kinds that have none. Raises UserError for columns that are not there."""
    match figure:
        case SweepFigure():
            return _over_sweep(runs, figure)
        case BarFigure() if figure.limit_over is None:
            return _bars(runs, figure)
        case CdfFigure():
            return _cdf(runs, figure)
        case HeatMapFigure():
            return _heat(runs, figure)
        case TimeFigure():
            return _over_time(runs, figure)
        case TracesFigure():
            return _traces(runs, figure)
        case _:
            return None


def _spread(runs: Runs, x: str | None, spec: PanelSpec, kind: Literal["spread", "bars"]) -> list[Line]:
    """A line for each series: for each `x` the values of the seeds, other swept fields put together."""
    grouped: dict[int, dict[float | str, dict[int, list[Number]]]] = {}
    for key, row in runs.numbers.items():
        if spec.y not in row or (x is not None and x not in row):
            missing = x if x is not None and x not in row else spec.y
            raise UserError(f"the runs have no column {missing!r}")
        value = "" if x is None else row[x]
        at = value if isinstance(value, int | float) else str(value)
        grouped.setdefault(key.series, {}).setdefault(at, {}).setdefault(key.seed, []).append(number(row[spec.y]))
    lines: list[Line] = []
    for series, at in grouped.items():
        # Where other fields are swept as well, a seed has several values here.
        seeds = [seed for of in list(at.values())[:1] for seed, values in of.items() for _ in values]
        places = [place for place in at if isinstance(place, int | float)]
        ordered = sorted(places) if len(places) == len(at) else list(at)
        y = [
            [None if one is None else short(one * spec.scale) for values in at[place].values() for one in values]
            for place in ordered
        ]
        lines.append(Line(series, kind, ordered, y, seeds=seeds))
    return lines


def _over_sweep(runs: Runs, figure: SweepFigure) -> Chart:
    panels = [
        Panel(
            figure.x_label or figure.x,
            axis_label(spec.y, spec.label),
            _spread(runs, figure.x, spec, "spread"),
            spec.title,
            x_log=figure.x_log,
            y_log=spec.log,
        )
        for spec in figure.panels
    ]
    return Chart(figure.title or figure.file, _SPREAD, panels)


_SPREAD = "Median over the seeds that are on; the band is their range from the 5th to the 95th percentile."


def _bars(runs: Runs, figure: BarFigure) -> Chart:
    panels = [
        Panel(
            figure.x_label or figure.x or "",
            axis_label(spec.y, spec.label),
            [
                Line(line.series, line.kind, [str(one) for one in line.x], line.y, seeds=line.seeds)
                for line in _spread(runs, figure.x, spec, "bars")
            ],
            spec.title,
            y_log=spec.log,
        )
        for spec in figure.panels
    ]
    return Chart(figure.title or figure.file, _SPREAD.replace("band", "bar"), panels)


def _cdf(runs: Runs, figure: CdfFigure) -> Chart:
    frames: list[tuple[Key, str, pl.DataFrame]] = []
    # A swept column that splits the lines is a point of the sweep: the reader chooses it.
    split = None if any(figure.split in folder.swept for folder in runs.folders) else figure.split
    for key, rows in runs.frames(figure.table):
        chosen = of_classes(rows, figure.classes)
        if split is None:
            frames.append((key, "", chosen))
        else:
            frames += [(key, f"{split} {of[0]}", part) for of, part in chosen.group_by(split, maintain_order=True)]
    if not frames:
        raise UserError(f"table {figure.table} has no rows")
    panels = [
        cdf_panel(
            frames,
            spec.y,
            spec.scale,
            _CDF_POINTS,
            x_label=axis_label(spec.y, spec.label),
            x_log=figure.x_log,
            title=spec.title,
        )
        for spec in figure.panels
    ]
    return Chart(
        figure.title or figure.file, "Share of rows up to a value; seeds that are on are put together.", panels
    )


def _heat(runs: Runs, figure: HeatMapFigure) -> HeatMap:
    maps: list[Map] = []
    for place, series in enumerate(runs.series):
        rows = [row for key, row in runs.numbers.items() if key.series == place]
        frame = pl.DataFrame(rows, infer_schema_length=None)
        missing = [name for name in (*figure.x, *figure.y, figure.value) if name not in frame.columns]
        if missing:
            raise UserError(f"the runs of {series.label} have no column {missing[0]!r}")
        columns, lines = points_of(frame, figure.x), points_of(frame, figure.y)
        values = cells(frame, figure)
        grid = [[values.get((x, y)) for x in columns] for y in lines]
        z = [[None if one is None else short(one * figure.scale) for one in line] for line in grid]
        text = [["" if one is None else digits(one) for one in line] for line in z]
        labels = [label_of(figure.x, one).replace("\n", " ") for one in columns]
        maps.append(Map(place, labels, [label_of(figure.y, one).replace("\n", " ") for one in lines], z, text=text))
    return HeatMap(
        figure.title or figure.file,
        "Medians over all seeds.",
        figure.x_label or ", ".join(figure.x),
        figure.y_label or ", ".join(figure.y),
        axis_label(figure.value, figure.label),
        maps,
    )


def _over_time(runs: Runs, figure: TimeFigure) -> Chart:
    windows = dict(runs.frames("windows", detailed=True))
    queues = dict(runs.frames("queues", detailed=True))
    if not windows:
        raise UserError("no windows were recorded; set record.windows_interval_ns")
    flows = {key: _some(rows["flow_id"].unique(maintain_order=True).to_list(), None) for key, rows in windows.items()}
    spans = spans_for(sum(map(len, flows.values())) * len(figure.panels))
    panels: list[Panel] = []
    for spec in figure.panels:
        lines: list[Line] = []
        for key, rows in windows.items():
            of = rows if figure.until_ns is None else rows.filter(pl.col("time_ns") <= figure.until_ns)
            depths = queues.get(key)
            if spec.y == "rate_bps":
                frame, column = goodput(of, THROUGHPUT_BIN_NS), "rate_bps"
            elif depths is not None and spec.y in depths.columns:
                frame = depths.group_by("time_ns").agg(pl.col(spec.y).max()).sort("time_ns")
                column = spec.y
            else:
                lines += [one for flow in flows[key] for one in _of_flow(key, of, flow, spec, spans)]
                continue
            lines.append(
                Line(key.series, "steps", *steps(frame, column).reduced(spans, spec.scale), key.point, key.seed)
            )
        panels.append(_timed(spec, lines, figure.until_ns))
    return Chart(figure.title or figure.file, "A value holds until the next sample.", panels, _time_notes(runs, flows))


def _traces(runs: Runs, figure: TracesFigure) -> Chart:
    windows = dict(runs.frames("windows", detailed=True))
    state = dict(runs.frames("algorithm_state", detailed=True))
    if not windows:
        raise UserError("no windows were recorded; set record.windows_interval_ns")
    flows = {
        key: _some(rows["flow_id"].unique(maintain_order=True).to_list(), figure.flows) for key, rows in windows.items()
    }
    spans = spans_for(sum(map(len, flows.values())) * len(figure.panels))
    panels: list[Panel] = []
    for spec in figure.panels:
        lines: list[Line] = []
        for key, rows in windows.items():
            of = rows if figure.until_ns is None else rows.filter(pl.col("time_ns") <= figure.until_ns)
            for flow in flows[key]:
                if spec.y == "rate_bps":
                    bins = whole_bins(of.filter(pl.col("flow_id") == flow), figure.bin_ns)
                    lines += _line(key, bins, "rate_bps", flow, spec, spans)
                elif spec.y in of.columns:
                    lines += _of_flow(key, of, flow, spec, spans)
                elif (samples := state.get(key)) is not None:
                    named = samples.filter((pl.col("flow_id") == flow) & (pl.col("name") == spec.y))
                    lines += _line(key, named, "value", flow, spec, spans)
        panels.append(_timed(spec, lines, figure.until_ns))
    return Chart(
        figure.title or figure.file,
        "A value holds until the next sample.",
        panels,
        _time_notes(runs, flows),
        pick="flows",
        picked=MAX_LINES,
    )


def _timed(spec: PanelSpec, lines: list[Line], until_ns: int | None) -> Panel:
    until = None if until_ns is None else until_ns / 1e6
    return Panel("time (ms)", axis_label(spec.y, spec.label), lines, spec.title, y_log=spec.log, until=until)


def _of_flow(key: Key, rows: pl.DataFrame, flow: int, spec: PanelSpec, spans: int) -> Iterator[Line]:
    if spec.y not in rows.columns:
        raise UserError(f"no time series has a column {spec.y!r}")
    yield from _line(key, rows.filter(pl.col("flow_id") == flow).drop_nulls(spec.y), spec.y, flow, spec, spans)


def _line(key: Key, rows: pl.DataFrame, column: str, flow: int, spec: PanelSpec, spans: int) -> Iterator[Line]:
    if rows.height:
        x, y = steps(rows, column).reduced(spans, spec.scale)
        yield Line(key.series, "steps", x, numbers(y), key.point, key.seed, name=f"flow {flow}")


def _some(known: list[int], wanted: list[int] | None) -> list[int]:
    """Flows to draw: those that the figure names, evenly chosen where there are too many."""
    ids = sorted(known) if wanted is None else [flow for flow in wanted if flow in set(known)]
    return [ids[place] for place in spread_over(len(ids), MAX_LINES)] if ids else []


def _time_notes(runs: Runs, flows: dict[Key, list[int]]) -> list[str]:
    most = max(map(len, flows.values()), default=0)
    notes = [f"{most} flows of each run, evenly chosen."] if most == MAX_LINES else []
    return [*notes, *filter(None, [runs.left_out])]


def _picture(folder: RunFolder, figure: Figure, room: int) -> tuple[Block, int]:
    """The file that the run drew, within the page; how many bytes it takes."""
    path: Path = folder.folder / figure.file
    title = figure.title or figure.file
    kind = _KINDS.get(path.suffix)
    if not path.is_file():
        return Text(f"{title}: {figure.file} is not in the folder; run without --no-figures to draw it.", "why"), 0
    content = path.read_bytes()
    if kind is None or len(content) > room:
        return Text(f"{title}: see {figure.file} in the folder of results.", "why"), 0
    address = f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"
    return Image(title, _AS_DRAWN, address), len(address)
