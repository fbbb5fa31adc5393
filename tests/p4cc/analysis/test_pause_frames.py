"""Pauses one by one: how long each lasted, who waited for whom; worked out by hand on made-up frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from p4cc.analysis.pause_frames import pause_times, waits
from p4cc.errors import UserError
from p4cc.figures import pauses
from p4cc.scenario.flow_figures import PausesFigure
from tests.p4cc.scenarios import Ran, run, skewed

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = ["time_ns", "node", "port", "peer", "priority", "pause", "towards"]


def _frames(*rows: tuple[Any, ...]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=COLUMNS, orient="row").with_columns(variant=pl.lit("A"), seed=pl.lit(1))


FRAMES = _frames(
    (10, "s1", 1, "h1", 3, 1, "h3"),
    (12, "s1", 2, "h2", 3, 1, "h3"),
    (15, "s1", 1, "h1", 3, 0, ""),
    (16, "s1", 1, "h1", 4, 1, "h4"),
    (20, "s1", 1, "h1", 3, 1, "h3"),
    (28, "s1", 1, "h1", 3, 0, ""),
)


def test_a_pause_lasts_until_the_resume_of_its_port_and_priority() -> None:
    found = pause_times(FRAMES)
    assert found.select("time_ns", "peer", "priority", "lasted_ns").rows() == [
        (10, "h1", 3, 5),
        (12, "h2", 3, None),
        (16, "h1", 4, None),
        (20, "h1", 3, 8),
    ]


def test_waits_are_summed_and_the_longest_stands_first() -> None:
    assert waits(pause_times(FRAMES)).rows() == [
        ("h1", "s1", "h3", 2, 13),
        ("h1", "s1", "h4", 1, 0),
        ("h2", "s1", "h3", 1, 0),
    ]


def test_a_figure_without_its_point_says_which_there_are() -> None:
    frames = FRAMES.with_columns(pattern=pl.lit("skewed"))
    figure = PausesFigure(kind="pauses", file="p.png", over="pattern", at="even")
    with pytest.raises(UserError, match="no row has pattern even") as error:
        pauses.chart(frames, figure)
    assert error.value.remedy == "values of pattern: ['skewed']"


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Little buffer, so that switches pause each other; a bound on what a host is offered."""
    traffic = {**skewed()["traffic"], "busiest_load": 0.6}
    data = skewed(traffic=traffic, record={"pauses": True}, switch={**skewed()["switch"], "buffer": {"bytes": 450_000}})
    return run(tmp_path_factory.mktemp("pauses"), data)


def test_the_frames_of_a_run_are_those_that_its_summary_counts(ran: Ran) -> None:
    frames = ran.table("pause_frames")
    assert sum(one["pauses"] for one in ran.runs) == frames["pause"].sum() > 0
    for one in ran.runs:
        of_run = frames.filter(
            (pl.col("variant") == one["variant"])
            & (pl.col("pattern") == one["pattern"])
            & (pl.col("seed") == one["seed"])
        )
        lasted = pause_times(of_run)["lasted_ns"].drop_nulls()
        # The receiver obeys a little later than the sender asks, by the frames on the link.
        assert lasted.is_empty() or abs(int(str(lasted.max())) - one["longest_pause_ns"]) < 500


def test_no_host_is_offered_more_than_the_bound(ran: Ran) -> None:
    flows = ran.table("flows").filter(pl.col("variant") == "HPCC")
    most = 0.6 * 100e9 / 8 * 200e-6
    for end in ("src", "dst"):
        offered = flows.group_by("pattern", "seed", end).agg(pl.col("size_bytes").sum())
        assert offered["size_bytes"].max() <= most  # pyright: ignore[reportOperatorIssue]


def test_a_bound_below_the_load_is_refused(tmp_path: Path) -> None:
    data = skewed(traffic={**skewed()["traffic"], "busiest_load": 0.2})
    with pytest.raises(UserError, match=r"busiest_load 0.2 is less than load 0.3"):
        run(tmp_path, data)
