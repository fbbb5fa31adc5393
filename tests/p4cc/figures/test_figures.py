"""Every kind of figure is drawn, the same bytes each time; what
they show is computed as docs/algorithms/metrics.md#metrics says."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from p4cc.analysis.human import swept
from p4cc.analysis.metrics import goodput_bins, jain, supported
from p4cc.analysis.queues import queue_stats
from p4cc.errors import UserError
from p4cc.figures.by_rank import by_size
from p4cc.figures.cdf import distribution
from p4cc.figures.heatmap import cells
from p4cc.figures.percentiles import percentile_by
from p4cc.figures.picture import write
from p4cc.figures.shares import shared
from p4cc.figures.style import COLOURS, MARKERS, column_width, log_scale
from p4cc.scenario.figures import HeatMapFigure
from p4cc.scenario.flow_figures import BySizeFigure
from tests.p4cc.scenarios import RENO, run, scenario

if TYPE_CHECKING:
    from pathlib import Path

FIGURES: list[dict[str, Any]] = [
    {"kind": "over_sweep", "file": "sweep.png", "x": "senders", "panels": [{"y": "goodput_bps"}]},
    {
        "kind": "over_time",
        "file": "time.png",
        "panels": [{"y": "cwnd_segments"}, {"y": "depth_pkts"}, {"y": "rate_bps"}],
    },
    {"kind": "traces", "file": "traces.png", "flows": [1, 2], "panels": [{"y": "cwnd_segments"}, {"y": "rate_bps"}]},
    {"kind": "cdf", "file": "cdf.png", "x_log": True, "panels": [{"y": "fct_ns"}, {"y": "slowdown"}]},
    {"kind": "cdf", "file": "split.png", "split": "senders", "panels": [{"y": "fct_ns"}]},
    {"kind": "bar", "file": "bar.png", "panels": [{"y": "finish_ns", "scale": 1e-6}]},
    {"kind": "bar", "file": "bars.png", "x": "senders", "panels": [{"y": "drops"}]},
    {"kind": "percentiles", "file": "load.png", "x": "senders", "panels": [{"y": "fct_ns", "log": True}]},
    {
        "kind": "percentiles",
        "file": "loads.png",
        "x": "senders",
        "percentiles": [1, 50, 99],
        "panel_per_percentile": True,
        "panels": [{"y": "fct_ns", "title": "completion"}, {"y": "slowdown"}],
    },
    {"kind": "port_shares", "file": "shares.png", "over": "senders"},
    {"kind": "heatmap", "file": "map.png", "x": ["iw"], "y": ["rwnd"], "value": "timeouts", "limit_over": "senders"},
]


def test_every_kind_is_drawn_and_a_second_time_alike(tmp_path: Path) -> None:
    data = scenario(
        variants=[RENO, {"name": "DCTCP", "congestion_avoidance": {"name": "dctcp"}}],
        sweep={"topology.senders": [2, 3], "transport.iw": [1, 2], "transport.rwnd": [8, 32]},
        record={"windows_interval_ns": 10_000, "queues_interval_ns": 10_000},
        figures=FIGURES,
    )
    first = run(tmp_path, data, figures=True)
    assert [path.name for path in first.outcome.figures] == [figure["file"] for figure in FIGURES]
    pictures = {path.name: path.read_bytes() for path in first.outcome.figures}
    assert all(picture.startswith(b"\x89PNG") for picture in pictures.values())
    again = run(tmp_path, data, figures=True)
    assert {path.name: path.read_bytes() for path in again.outcome.figures} == pictures


@pytest.mark.parametrize("figure", FIGURES, ids=[figure["file"] for figure in FIGURES])
def test_a_column_that_is_not_there_is_named(tmp_path: Path, figure: dict[str, Any]) -> None:
    wrong: dict[str, Any] = {"value": "gudput", "over": "gudput", "panels": [{"y": "gudput"}]}
    key = next(key for key in wrong if key in figure)
    changed = {**figure, key: wrong[key]}
    data = scenario(
        sweep={"transport.iw": [1], "transport.rwnd": [8]},
        record={"windows_interval_ns": 100_000, "queues_interval_ns": 100_000},
        figures=[changed],
    )
    with pytest.raises(UserError, match="gudput"):
        run(tmp_path, data, figures=True)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("exp_mean_ns", 20_000_000, "20 ms"),
        ("max_bytes", 50_000, "50 kB"),
        ("rate_bps", 2_500_000_000, "2.5 Gb/s"),
        ("start_ns", 0, "0 ns"),
        ("flows_per_s", 3000, "3000"),
        ("recovery", "newreno", "newreno"),
        ("bounce", True, "True"),
        ("deadline", '{"offset_ns": 60000000, "change": {"after_ns": 2000}}', "offset 60 ms, change (after 2 us)"),
        ("title", "{no json", "{no json"),
    ],
)
def test_swept_values_are_said_in_words(name: str, value: Any, said: str) -> None:
    assert swept(name, value) == said


def test_many_lines_differ_in_colour_or_marker() -> None:
    lines = {(COLOURS[at % len(COLOURS)], MARKERS[at % len(MARKERS)]) for at in range(90)}
    assert len(lines) == 90


@pytest.mark.parametrize(
    ("values", "said"),
    [((0.5, 3), {"1", "2"}), ((0.02, 500), {"0.1", "1", "10", "100"}), ((1, 1e9), {r"$\mathdefault{10^{8}}$"})],
)
def test_a_logarithmic_axis_has_plain_numbers(values: tuple[float, float], said: set[str]) -> None:
    page = Figure()
    axes = page.add_subplot()
    axes.add_line(Line2D([1, 2], values))
    axes.autoscale_view()
    log_scale(axes)
    page.draw_without_rendering()
    ticks = [*axes.yaxis.get_major_ticks(), *axes.yaxis.get_minor_ticks()]
    assert said <= {tick.label1.get_text() for tick in ticks}


def test_a_distribution_ends_below_1_where_values_are_missing() -> None:
    values, shares = distribution(pl.Series([30, None, 10, 20]), 0.1)
    assert (values, shares) == ([1.0, 1.0, 2.0, 3.0], [0.0, 1 / 4, 2 / 4, 3 / 4])
    assert distribution(pl.Series([None, None]), 1.0) == ([], [])
    many, _ = distribution(pl.Series(range(100_000)), 1.0)
    assert len(many) <= 2_002
    assert many[-1] == 99_999


def test_percentiles_take_the_value_at_index_np() -> None:
    flows = pl.DataFrame({"load": [1] * 100 + [2] * 2, "fct": [*range(100), 7, None]})
    for percent, want in ((0, [0, 7]), (50, [50, 7]), (99, [99, 7]), (100, [99, 7])):
        assert percentile_by(flows, "load", "fct", percent)["value"].to_list() == want


def test_queue_percentiles_weigh_a_depth_by_how_long_it_held() -> None:
    rows = [(0, 1, 0), (60, 1, 10), (90, 1, 40), (0, 2, 3)]
    queues = pl.DataFrame(rows, schema=["time_ns", "port", "depth_pkts"], orient="row").cast(pl.UInt64)
    named = queues.with_columns(switch=pl.lit("s1"), peer=pl.lit("h1"))
    first, second = queue_stats([named], 100).iter_rows(named=True)
    assert first == {
        "switch": "s1", "port": 1, "peer": "h1",
        "mean_pkts": 7.0, "p50_pkts": 0, "p95_pkts": 40, "p99_pkts": 40, "max_pkts": 40,
    }  # fmt: skip
    assert (second["mean_pkts"], second["p50_pkts"], second["max_pkts"]) == (3.0, 3, 3)


def test_goodput_bins_add_up_to_what_was_acknowledged() -> None:
    rows = [(10, 1, 100), (20, 1, 150), (35, 1, 400), (12, 2, 7)]
    windows = pl.DataFrame(rows, schema=["time_ns", "flow_id", "acked_bytes"], orient="row").cast(pl.UInt64)
    bins = goodput_bins(windows, 10).with_columns(bytes=pl.col("rate_bps") * 10 / 8e9)
    # A sample at a bin's end belongs to that bin.
    assert bins.select("flow_id", "time_ns").rows() == [(1, 0), (1, 10), (1, 30), (2, 10)]
    assert bins["bytes"].to_list() == pytest.approx([100, 50, 250, 7])


def test_shares_of_ports_add_up_and_are_in_order() -> None:
    ports = pl.DataFrame(
        [("s1", 2, "s2", 30), ("s1", 3, "s3", 10), ("s1", 2, "s2", 0), ("s1", 4, "h1", 0)],
        schema=["switch", "port", "peer", "tx_bytes"],
        orient="row",
    )
    shares = shared(ports, "tx_bytes")
    assert list(shares.items()) == [("s1 to s2", 0.75), ("s1 to s3", 0.25), ("s1 to h1", 0.0)]
    assert shared(ports.filter(pl.col("peer") == "h1"), "tx_bytes") == {}


def test_fairness_and_supported_concurrency() -> None:
    assert jain([5.0, 5.0, 5.0]) == pytest.approx(1.0)
    assert jain([1.0, 0.0, 0.0, 0.0]) == pytest.approx(0.25)
    assert math.isnan(jain([]))
    assert math.isnan(jain([0.0]))
    assert supported([(4, True), (2, True), (8, False), (16, True)]) == 4
    assert supported([(2, False), (4, True)]) is None
    assert supported([(0, False), (4, True)]) is None
    assert supported([(0, True), (4, False)]) == 0
    assert supported([]) is None


def test_a_heat_map_s_cells_are_medians_or_limits() -> None:
    figure = HeatMapFigure.model_validate({**FIGURES[-1], "x": ["a"], "y": ["b"]})
    runs = pl.DataFrame(
        [(1, 1, 10, 0), (1, 1, 10, 5), (1, 1, 10, 0), (1, 1, 20, 3), (2, 1, 10, 1)],
        schema=["a", "b", "senders", "timeouts"],
        orient="row",
    )
    assert cells(runs, figure) == {((1,), (1,)): 10.0, ((2,), (1,)): 0.0}
    # A point where no run has a value is not fine: what comes behind it does not count.
    some = runs.with_columns(timeouts=pl.when(pl.col("senders") != 10).then(0))
    assert cells(some, figure)[(1,), (1,)] == 0.0
    # With `at_least` a point is fine where the median has as much of the value.
    enough = figure.model_copy(update={"at_least": 1.0})
    assert cells(runs, enough) == {((1,), (1,)): 0.0, ((2,), (1,)): 10.0}
    assert cells(some, enough)[(1,), (1,)] == 0.0
    medians = cells(runs, figure.model_copy(update={"limit_over": None}))
    # The median of 0, 0, 3, 5.
    assert medians[(1,), (1,)] == 1.5


def test_a_figure_for_latex_is_as_wide_as_its_column_with_embedded_fonts(tmp_path: Path) -> None:
    sizes = list(range(1_000, 41_000, 100))
    flows = pl.DataFrame(
        {
            "variant": ["A"] * len(sizes),
            "seed": [place % 3 for place in range(len(sizes))],
            "size_bytes": sizes,
            "slowdown": [1 + (place * 7 % 13) / 4 for place in range(len(sizes))],
        }
    )
    figure = BySizeFigure(file="size.pdf", percentile=99, bins=2, width_mm=84.7)
    with column_width(figure.width_mm):
        made = write(by_size(flows, figure, "bootstrap"), tmp_path / figure.file).read_bytes()
    (box,) = re.findall(rb"/MediaBox \[ 0 0 ([0-9.]+) ", made)
    # A point is 1/72 inch.
    assert float(box) == pytest.approx(84.7 / 25.4 * 72, abs=0.1)
    assert b"/FontFile2" in made
    assert b"STIX" in made
    usual = write(by_size(flows, BySizeFigure(file="usual.pdf")), tmp_path / "usual.pdf").read_bytes()
    assert b"STIX" not in usual
