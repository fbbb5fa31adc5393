"""Every kind that a scenario may name does its work and is explained; every algorithm, shape and command likewise."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
import typer
from matplotlib.patches import Rectangle
from PIL import Image

from p4cc.algorithms import Algorithm, registry
from p4cc.analysis.recorded import read_table
from p4cc.cli import app
from p4cc.figures import picture
from p4cc.figures.chart import Level, Line
from p4cc.figures.draw import chart_of
from p4cc.report import interactive
from p4cc.scenario.claims import MEASURE_KINDS
from p4cc.scenario.figures import FIGURE_KINDS
from p4cc.scenario.load import validate
from p4cc.scenario.parts import find, kinds_at, text
from p4cc.scenario.topology import TOPOLOGY_KINDS
from p4cc.scenario.traffic import TRAFFIC_KINDS
from p4cc.scenario.yaml import read_document
from tests.p4cc.scenarios import Ran, run, scenario, skewed
from topos import GENERATORS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes

    from p4cc.figures.chart import Chart

ROOT = Path(__file__).resolve().parents[3]
KINDS = {
    "figures": FIGURE_KINDS,
    "topology": TOPOLOGY_KINDS,
    "traffic": TRAFFIC_KINDS,
    "reproduces.claims.measure": MEASURE_KINDS,
}
READ_FROM_FILES = {"custom", "ns3", "htsim", "import"}
"""Topologies that no generator makes."""

INCAST_FIGURES: dict[str, dict[str, Any]] = {
    "over_sweep": {"x": "rwnd", "panels": [{"y": "goodput_bps"}]},
    "over_time": {"panels": [{"y": "cwnd_segments"}]},
    "traces": {"flows": [1, 2], "panels": [{"y": "cwnd_segments"}]},
    "cdf": {"panels": [{"y": "fct_ns"}]},
    "bar": {"panels": [{"y": "finish_ns"}]},
    "percentiles": {"x": "rwnd", "panels": [{"y": "fct_ns"}]},
    "heatmap": {"x": ["rwnd"], "y": ["iw"], "value": "goodput_bps"},
    "utilisation": {"x": "rwnd"},
    "program_state": {"y": "packets"},
    "port_shares": {"over": "rwnd"},
}
POD_FIGURES: dict[str, dict[str, Any]] = {
    "pod_matrix": {"column": "bytes", "over": "pattern"},
    "paired_fct": {"over": "pattern", "of": "skewed", "to": "uniform", "variant": "HPCC"},
    "pod_pair": {"src_pod": 0, "dst_pod": 1, "over": "pattern"},
    "by_size": {"bins": 2, "over": "pattern"},
    "depths": {"over": "pattern"},
    "decided_cells": {"variant": "HPCC", "over": "pattern", "at": "skewed"},
    "pauses": {"over": "pattern", "at": "skewed", "ports": 4, "bins": 10},
}
COLLECTIVE_FIGURES: dict[str, dict[str, Any]] = {"collective_steps": {"over": "traffic.size_bytes"}}
EXAMPLES = {**INCAST_FIGURES, **POD_FIGURES, **COLLECTIVE_FIGURES}


def _figures(examples: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"kind": kind, "file": f"{kind}.png", **more} for kind, more in examples.items()]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ran]:
    """Two small runs that have a table for every kind of figure, by kind."""
    incast = scenario(
        sweep={"transport.rwnd": [8, 32], "transport.iw": [1, 2]},
        record={"windows_interval_ns": 10_000, "queues_interval_ns": 10_000, "counters": {}},
        figures=_figures(INCAST_FIGURES),
    )
    pods = skewed(
        record={
            "windows_interval_ns": None,
            "queues_interval_ns": None,
            "queue_histogram_interval_ns": 1_000,
            "pauses": True,
        },
        switch={**skewed()["switch"], "buffer": {"bytes": 450_000}},
        figures=_figures(POD_FIGURES),
    )
    collective = scenario(
        traffic={"kind": "collective", "operation": "all_gather", "size_bytes": 40_000},
        sweep={"traffic.size_bytes": [40_000, 80_000]},
        figures=_figures(COLLECTIVE_FIGURES),
    )
    kinds = (INCAST_FIGURES, incast), (POD_FIGURES, pods), (COLLECTIVE_FIGURES, collective)
    return {
        kind: ran for names, data in kinds for ran in [run(tmp_path_factory.mktemp("kinds"), data)] for kind in names
    }


def _chart(ran: Ran, kind: str) -> Chart:
    document = read_document(ran.outcome.folder.parent / "scenario.yaml")
    described = validate(document, document.plain())
    figure = next(one for one in described.figures if one.kind == kind)
    runs = pl.DataFrame(ran.runs, infer_schema_length=None)
    return chart_of(figure, runs, lambda name: read_table(ran.outcome.folder, name), described)


@pytest.mark.parametrize("kind", FIGURE_KINDS)
def test_every_kind_of_figure_draws_something(kind: str, folders: dict[str, Ran], tmp_path: Path) -> None:
    assert kind in EXAMPLES, "give this test an example of the new kind"
    chart = _chart(folders[kind], kind)
    assert not [panel.says for panel in chart.panels if panel.says]
    with Image.open(picture.write(chart, tmp_path / "a.png")) as shown:
        colours = shown.convert("RGB").getcolors(1 << 24)
    assert colours is not None
    assert len(colours) > 20, "lines, texts and their smooth edges have many colours"


def _rounded(*columns: Iterable[Any]) -> set[tuple[Any, ...]]:
    """Points as a renderer has them, to six digits; those without a value are left out."""

    def short(value: Any) -> Any:
        # A page has eight digits; the last ones of what is rounded twice would differ.
        return float(f"{float(f'{value:.8g}'):.6g}") if isinstance(value, int | float) else value

    points = {tuple(map(short, point)) for point in zip(*columns, strict=True)}
    return {point for point in points if all(one is not None and one == one for one in point)}


def _in_file(axes: Axes) -> set[tuple[Any, ...]]:
    """Points of lines, ends of bars and values of cells."""
    found: set[tuple[Any, ...]] = set()
    for line in axes.get_lines():
        found |= _rounded(np.asarray(line.get_xdata(orig=True)).tolist(), np.asarray(line.get_ydata()).tolist())
    for bar in axes.patches:
        assert isinstance(bar, Rectangle)
        found |= _rounded([bar.get_width()], [bar.get_y() + bar.get_height() / 2])
        found |= _rounded([bar.get_x() + bar.get_width() / 2], [bar.get_height()])
    for image in axes.images:
        masked: Any = image.get_array()
        values: list[list[float]] = masked.astype(float).filled(np.nan).tolist()
        found |= _rounded(*zip(*_cells(values), strict=True))
    return found


def _cells(values: list[list[float]]) -> list[tuple[int, int, float]]:
    return [(row, column, value) for row, line in enumerate(values) for column, value in enumerate(line)]


def _in_page(traces: list[dict[str, Any]]) -> set[tuple[Any, ...]]:
    found: set[tuple[Any, ...]] = set()
    for trace in traces:
        if trace["type"] == "heatmap":
            found |= _rounded(*zip(*_cells(trace["z"]), strict=True))
        elif trace["meta"].get("role") != "band":
            found |= _rounded(trace["x"], trace["y"])
    return found


@pytest.mark.parametrize("kind", FIGURE_KINDS)
def test_a_file_and_a_page_show_the_same_numbers_and_labels(kind: str, folders: dict[str, Ran]) -> None:
    chart = _chart(folders[kind], kind)
    file, page = picture.drawn(chart), interactive.figure(chart)
    assert json.loads(json.dumps(page, allow_nan=False)) == page
    drawn_panels = [axes for axes in file.axes if axes.get_label() != "<colorbar>"]
    for number, (panel, axes) in enumerate(zip(chart.panels, drawn_panels, strict=False)):
        at = "" if number == 0 else str(number + 1)
        for name, axis in (("xaxis", axes.get_xlabel()), ("yaxis", axes.get_ylabel())):
            assert html.unescape(page["layout"][f"{name}{at}"]["title"]["text"]) == axis
        assert (axes.get_xlabel(), axes.get_ylabel()) == (panel.x.text, panel.y.text)
        drawn = _in_page([trace for trace in page["data"] if trace.get("xaxis") == f"x{at}"])
        assert drawn
        assert drawn <= _in_file(axes)
        lines = [mark for mark in panel.marks if isinstance(mark, Line)]
        assert {point for line in lines for point in _rounded(line.x, line.y)} <= drawn
        levels = [mark.at for mark in panel.marks if isinstance(mark, Level)]
        shapes = [one for one in page["layout"]["shapes"] if f"y{at}" in (one["yref"], one["xref"].replace("x", "y"))]
        assert len(shapes) == len(levels)
    assert list(dict.fromkeys(chart.notes)) == page["notes"][: len(set(chart.notes))]


def test_the_examples_are_of_kinds_that_there_are() -> None:
    assert sorted(EXAMPLES) == sorted(FIGURE_KINDS)


@pytest.mark.parametrize(("part", "kind"), [(part, kind) for part, kinds in KINDS.items() for kind in kinds])
def test_every_kind_is_explained(part: str, kind: str) -> None:
    """`p4cc schema PART.KIND` has a sentence on the kind, and a line for each of its fields."""
    assert kind in kinds_at(find(part))
    first, *rest = text(find(f"{part}.{kind}"), 110).splitlines()
    assert first.startswith(f"{part}.{kind}")
    assert any(len(line.split()) > 3 for line in rest)


@pytest.mark.parametrize("name", GENERATORS)
def test_every_generator_is_a_kind_of_topology(name: str) -> None:
    assert name in TOPOLOGY_KINDS


@pytest.mark.parametrize("kind", TOPOLOGY_KINDS)
def test_every_kind_of_topology_has_a_generator_or_a_file(kind: str) -> None:
    assert (kind in GENERATORS) != (kind in READ_FROM_FILES)


@pytest.mark.parametrize("entry", registry(), ids=lambda entry: entry.name)
def test_every_algorithm_is_explained_and_stands_in_the_documents(entry: Algorithm) -> None:
    assert entry.summary
    assert entry.source
    assert all(one.summary and one.source for one in entry.parameters)
    pages = [path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "algorithms").glob("*.md")]
    named = re.compile(rf"\b{entry.name.replace('_', '[_ -]')}\b", re.IGNORECASE)
    assert any(named.search(page) for page in pages), "docs/algorithms names it"


COMMANDS: dict[str, Any] = getattr(typer.main.get_command(app), "commands")  # noqa: B009 - click's group is untyped


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_what_it_does(name: str) -> None:
    assert COMMANDS[name].help
