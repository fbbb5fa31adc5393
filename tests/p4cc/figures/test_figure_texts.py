"""What figures say in words: the number behind a percentile, seeds left out, what is cut off, why a panel is empty."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from p4cc.analysis.metrics import goodput_bins
from tests.p4cc.running.test_provenance import cli
from tests.p4cc.scenarios import RENO, Ran, run, scenario, write

if TYPE_CHECKING:
    from pathlib import Path

DCTCP = {"name": "DCTCP", "congestion_avoidance": {"name": "dctcp"}}
P99 = [{"y": "fct_p99_ns"}]
FEW = "of fewer values than 100 (p99) in a run"
LOSSY = {"kind": "star", "senders": 25, "queue_capacity_pkts": 20}


def drawn(place: Path, *figures: dict[str, Any], **changes: Any) -> tuple[Ran, list[str]]:
    """A run of the small scenario with figures, and the text of each, one line after the other."""
    named = [{**figure, "file": f"{number}.svg"} for number, figure in enumerate(figures)]
    ran = run(place, scenario(**changes, figures=named), figures=True)
    return ran, [texts(path) for path in ran.outcome.figures]


def texts(path: Path) -> str:
    """What an SVG says: its letters are shapes, with the words in a comment in front."""
    return "\n".join(re.findall(r"<!-- (.*?) -->", path.read_text(encoding="utf-8"), re.DOTALL))


def test_percentiles_of_few_flows_are_marked_with_their_number(tmp_path: Path) -> None:
    figures: list[dict[str, Any]] = [
        {"kind": "over_sweep", "x": "senders", "panels": [{"y": "goodput_bps"}, *P99]},
        {"kind": "bar", "panels": P99},
        {"kind": "heatmap", "x": ["iw"], "y": ["rwnd"], "value": "fct_p99_ns"},
        {"kind": "percentiles", "x": "senders", "panels": [{"y": "fct_ns"}]},
        {"kind": "cdf", "panels": [{"y": "fct_ns"}]},
        {"kind": "by_size", "bins": 2, "percentile": 95},
    ]
    sweep = {"topology.senders": [2, 4], "transport.iw": [2], "transport.rwnd": [64]}
    ran, said = drawn(tmp_path, *figures, sweep=sweep, seeds=[1, 2])
    for text, words in zip(
        said,
        (
            (f"hollow: {FEW}", "Reno (n = 2 to 4)"),
            (f"hatched: {FEW}", "Reno (n = 2 to 4)"),
            (f"*: {FEW}",),
            ("hollow: of fewer values than 100 (p99)", "Reno (n = 4 to 8)"),
            ("Reno (n = 12)",),
            ("hollow: of fewer values than 20 (p95)", "Reno (n = 6)", "slowdown (FCT / FCT alone), p95"),
        ),
        strict=True,
    ):
        # Labels break their lines where they stand close together.
        flat = text.replace("\n", " ")
        for word in words:
            assert word in flat
    assert {one["fct_count"] for one in ran.runs} == {2, 4}
    for one in ran.runs:
        assert one["few_values"] == ["fct_p95_ns", "fct_p99_ns", "slowdown_p95", "slowdown_p99"]


def test_percentiles_of_enough_flows_are_not_marked(tmp_path: Path) -> None:
    traffic = {"kind": "poisson", "size": {"kind": "fixed", "bytes": 1_000}, "flows_per_s": 60_000, "end_ns": 2_000_000}
    figures: list[dict[str, Any]] = [{"kind": "bar", "panels": P99}, {"kind": "by_size", "bins": 4, "percentile": 95}]
    ran, said = drawn(tmp_path, *figures, traffic=traffic)
    assert ran.runs[0]["fct_count"] >= 100
    assert ran.runs[0]["few_values"] == []
    assert "fewer values" not in said[0] + said[1]
    # A flow that nothing disturbs lies below 1; the figure says what becomes of it.
    assert "slowdowns below 1 count as 1" in said[1]


def test_medians_say_which_seeds_they_leave_out(tmp_path: Path) -> None:
    figures: list[dict[str, Any]] = [
        {"kind": "over_sweep", "x": "senders", "panels": [{"y": "finish_ns"}]},
        {"kind": "bar", "panels": [{"y": "finish_ns"}]},
        {"kind": "heatmap", "x": ["senders"], "y": ["iw"], "value": "finish_ns"},
    ]
    traffic = {"kind": "incast", "sru_bytes": 20_000, "start_jitter_ns": 1_000_000}
    whole = run(tmp_path, scenario(traffic=traffic, seeds=[1, 2])).runs
    first, second = sorted(one["finish_ns"] for one in whole)
    sweep = {"transport.iw": [2]}
    _, said = drawn(tmp_path, *figures, traffic=traffic, seeds=[1, 2], stop_ns=(first + second) // 2, sweep=sweep)
    for text in said:
        assert "1/2" in text
        assert "k/n: k of n runs have a value, the median is theirs" in text
    done = cli("run", str(tmp_path / "scenario.yaml"), "--no-figures", "--out", "out", folder=tmp_path)
    assert "1 of 2 finished" in done.stdout
    assert "of fewer values than 100 (p99) in a run" in done.stdout


def test_a_bin_above_the_line_rate_is_explained(tmp_path: Path) -> None:
    figures: list[dict[str, Any]] = [
        {"kind": "over_time", "panels": [{"y": "rate_bps"}], "until_ns": 1_000_000},
        {"kind": "traces", "panels": [{"y": "rate_bps"}]},
    ]
    record = {"windows_interval_ns": 10_000, "queues_interval_ns": 10_000}
    traffic = {"kind": "incast", "sru_bytes": 100_000}
    explained = "one ACK fills a hole and releases"
    ran, said = drawn(tmp_path, *figures, topology=LOSSY, traffic=traffic, record=record)
    assert (
        goodput_bins(ran.table("windows"), 100_000).group_by("time_ns").agg(pl.col("rate_bps").sum())["rate_bps"].max()
        > 10e9
    )  # pyright: ignore[reportOptionalOperand, reportOperatorIssue]
    assert explained in said[0].replace("\n", " ")
    assert "shown to 1 ms; samples continue to" in said[0]
    smooth = {"kind": "star", "senders": 2, "queue_capacity_pkts": 100}
    _, said = drawn(tmp_path, *figures, topology=smooth, traffic=traffic, record=record)
    for text in said:
        assert explained not in text.replace("\n", " ")


def test_bins_and_points_of_figures_over_time_are_said(tmp_path: Path) -> None:
    figure: dict[str, Any] = {"kind": "traces", "bin_ns": 10_000, "panels": [{"y": "rate_bps"}]}
    record = {"windows_interval_ns": 200_000, "queues_interval_ns": None}
    _, (text,) = drawn(tmp_path, figure, sweep={"topology.senders": [2, 3]}, record=record)
    assert "bins of 200 us, as long as the samples" in text
    assert "senders=2: the first of 2 points of the sweep" in text


EMPTY: list[tuple[dict[str, Any], str]] = [
    ({"kind": "over_sweep", "x": "senders", "panels": [{"y": "finish_ns", "log": True}]}, "no run has a value"),
    ({"kind": "over_sweep", "x": "senders", "x_log": True, "panels": P99}, "no run has a value of fct_p99_ns"),
    ({"kind": "bar", "panels": [{"y": "finish_ns"}]}, "no run has a value of finish_ns"),
    ({"kind": "bar", "x": "senders", "panels": [{"y": "finish_ns", "log": True}]}, "no run has a value"),
    ({"kind": "heatmap", "x": ["senders"], "y": ["iw"], "value": "finish_ns"}, "no run has a value of finish_ns"),
    ({"kind": "percentiles", "x": "senders", "panels": [{"y": "fct_ns", "log": True}]}, "nothing finished"),
    ({"kind": "percentiles", "x": "senders", "classes": ["x"], "panels": [{"y": "fct_ns"}]}, "no rows selected"),
    ({"kind": "cdf", "x_log": True, "panels": [{"y": "fct_ns"}]}, "nothing finished"),
    ({"kind": "cdf", "classes": ["x"], "panels": [{"y": "slowdown"}]}, "no rows selected"),
    ({"kind": "by_size", "over": "senders"}, "nothing finished"),
    ({"kind": "traces", "flows": [9], "panels": [{"y": "cwnd_segments"}]}, "none of the flows began"),
    ({"kind": "traces", "panels": [{"y": "delta", "log": True}]}, "no sample has a value of delta"),
    ({"kind": "over_time", "panels": [{"y": "delta"}]}, "no sample has a value of delta"),
    ({"kind": "cdf", "table": "rtts", "panels": [{"y": "rtt_ns"}]}, "table rtts has no rows"),
    ({"kind": "pod_matrix", "column": "fct_p95_ns"}, "table pod_pairs has no rows"),
    ({"kind": "depths"}, "table queue_histogram has no rows"),
    ({"kind": "port_shares", "peers": ["x*"]}, "nothing passed these ports"),
]


@pytest.mark.parametrize("of", [[RENO, DCTCP]], ids=["both"])
def test_a_panel_without_values_says_why_and_no_library_speaks(tmp_path: Path, of: list[Any]) -> None:
    named = [{**figure, "file": f"{number}.svg"} for number, (figure, _) in enumerate(EMPTY)]
    data = scenario(
        variants=of,
        seeds=[1, 2],
        stop_ns=30_000,
        sweep={"topology.senders": [2, 3], "transport.iw": [2]},
        record={"windows_interval_ns": 10_000, "queues_interval_ns": None},
        figures=named,
    )
    path = write(tmp_path, data)
    # As on a machine where plotting finds no folder for its caches.
    environment = {"PYTHONWARNINGS": "always", "MPLCONFIGDIR": "/proc/none"}
    done = cli("run", str(path), "--out", "out", folder=tmp_path, environment=environment)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if not line.startswith(("warning: ", "note: "))]
    assert lines == []
    for number, (figure, said) in enumerate(EMPTY):
        assert said in texts(tmp_path / "out" / f"{number}.svg").replace("\n", " "), figure


def test_values_that_a_logarithmic_axis_leaves_out_are_counted(tmp_path: Path) -> None:
    figure: dict[str, Any] = {"kind": "over_sweep", "x": "senders", "panels": [{"y": "drops", "log": True}]}
    _, (text,) = drawn(
        tmp_path,
        figure,
        topology=LOSSY,
        traffic={"kind": "incast", "sru_bytes": 100_000},
        sweep={"topology.senders": [1, 2, 25]},
    )
    assert "values of 0, not on the logarithmic axis: 1" in text
