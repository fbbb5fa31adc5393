"""`p4cc.run`, `load`, `sweep`, `compile`: what programs and notebooks call."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from matplotlib import pyplot as plt

import p4cc
from p4cc.analysis.tables import TABLE_NAMES
from p4cc.api.tables import TableOf, Tables
from p4cc.running.loops import run_to_end
from tests.p4cc.scenarios import scenario, write

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RECORD = {"windows_interval_ns": 10_000, "queues_interval_ns": 10_000}


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> p4cc.Result:
    folder = tmp_path_factory.mktemp("api")
    return p4cc.run(write(folder, scenario(record=RECORD)), out=folder / "out", quiet=True, seeds=[1, 2])


def test_every_table_is_an_attribute(result: p4cc.Result) -> None:
    assert [name for name, held in vars(Tables).items() if isinstance(held, TableOf)] == list(TABLE_NAMES)
    for name in TABLE_NAMES:
        frame = getattr(result, name)
        assert isinstance(frame, pl.DataFrame)
        assert frame.is_empty() == (name not in result.tables)
        assert list(result.describe(name)["column"][:2]) == ["variant", "algorithm"]


def test_frames_are_the_files_and_columns_have_units(result: p4cc.Result) -> None:
    assert result.flows.equals(pl.read_parquet(result.folder / "flows.parquet"))
    assert result.units("flows")["fct_ns"] == "ns"
    assert "seed" not in result.units("flows")
    assert result.runs["seed"].to_list() == [1, 2]
    assert result.runs["outcome"].to_list() == [
        row["outcome"] for row in json.loads((result.folder / "summary.json").read_text())["runs"]
    ]


def test_what_is_loaded_again_is_the_same(result: p4cc.Result) -> None:
    again = p4cc.load(result.folder)
    assert again.flows.equals(result.flows)
    assert again.runs.equals(result.runs)
    assert again.scenario["seeds"] == [1, 2]


def test_an_unknown_table_or_folder_is_refused(result: p4cc.Result, tmp_path: Path) -> None:
    with pytest.raises(p4cc.UserError, match="flows, traffic"):
        result.table("flow")
    with pytest.raises(p4cc.UserError, match="no such folder"):
        p4cc.load(tmp_path / "nothing")
    shutil.copy(result.folder / "run.json", tmp_path)
    with pytest.raises(p4cc.UserError, match=r"summary\.json"):
        p4cc.load(tmp_path)


def test_plots_hold_what_the_tables_hold(result: p4cc.Result) -> None:
    axes = result.plot.cdf("fct")
    (line,) = axes.get_lines()
    slowest_us = result.flows["fct_ns"].cast(pl.Float64).sort()[-1] / 1e3
    assert np.asarray(line.get_xdata()).max() == pytest.approx(slowest_us)
    switch, peer = result.queues.select("switch", "peer").row(0)
    same = result.plot.queue(switch, peer, ax=axes)
    assert same is axes, "a plot goes where it is told to"
    assert len({str(one.get_color()) for one in axes.get_lines()}) == len(axes.get_lines()) == 2
    deepest = result.plot.queue(switch, peer, seed=2).get_lines()[0].get_ydata()
    of_port = result.queues.filter((pl.col("seed") == 2) & (pl.col("peer") == peer) & (pl.col("switch") == switch))
    assert np.asarray(deepest).max() == of_port["depth_pkts"].max()
    assert result.plot.windows(1).get_lines()
    assert "p99" in result.plot.slowdown(99).get_ylabel()


@pytest.mark.parametrize(
    ("method", "arguments", "told"),
    [
        ("cdf", {"column": "fctns"}, "fct_ns"),
        ("queue", {"switch": "s9", "peer": "h1"}, "ports with samples: s1 to "),
        ("windows", {"flow_id": 99}, "flows with samples: 1"),
        ("windows", {"flow_id": 1, "seed": 7}, "seeds:"),
        ("slowdown", {"percentile": 42}, "50, 95 or 99"),
    ],
)
def test_a_plot_of_nothing_says_what_there_is(
    result: p4cc.Result, method: str, arguments: dict[str, Any], told: str
) -> None:
    with pytest.raises(p4cc.UserError) as refused:
        getattr(result.plot, method)(**arguments)
    assert told in str(refused.value)


def test_changes_are_paths_or_keywords(tmp_path: Path) -> None:
    file = write(tmp_path, scenario())
    one = p4cc.run(file, {"topology.senders": 3}, out=tmp_path / "one", quiet=True)
    two = p4cc.run(file, topology__senders=3, out=tmp_path / "two", quiet=True)
    assert one.flows.equals(two.flows)
    assert one.scenario["topology"]["senders"] == 3
    with pytest.raises(p4cc.UserError, match="topology"):
        p4cc.run(file, topology__sender=3, quiet=True)
    with pytest.raises(p4cc.UserError, match="seeds"):
        p4cc.run(file, seeds={1}, quiet=True)  # pyright: ignore[reportArgumentType]


def test_a_scenario_may_be_a_mapping(tmp_path: Path) -> None:
    plain = scenario()
    of_file = p4cc.run(write(tmp_path, plain), out=tmp_path / "file", quiet=True)
    of_mapping = p4cc.run(plain, out=tmp_path / "mapping", quiet=True)
    assert of_mapping.flows.equals(of_file.flows)


def test_a_sweep_has_its_values_as_columns(tmp_path: Path) -> None:
    swept = p4cc.sweep(write(tmp_path, scenario()), {"transport.rwnd": [8, 32]}, out=tmp_path / "out", quiet=True)
    assert swept.runs["rwnd"].to_list() == [8, 32]
    assert set(swept.flows["rwnd"]) == {8, 32}


def test_notebooks_show_names_and_run_nothing(tmp_path: Path) -> None:
    hostile = scenario(
        name="x", variants=[{"name": "<script>alert(1)</script>", "congestion_avoidance": {"name": "dctcp"}}]
    )
    shown = p4cc.run(write(tmp_path, hostile), out=tmp_path / "<b>out", quiet=True)._repr_html_()  # pyright: ignore[reportPrivateUsage]
    assert "<script" not in shown
    assert "&lt;script&gt;" in shown
    assert "<b>" not in shown


def test_a_run_works_where_an_event_loop_runs(tmp_path: Path) -> None:
    file = write(tmp_path, scenario())

    async def cell() -> p4cc.Result:
        return p4cc.run(file, out=tmp_path / "out", quiet=True)

    assert not asyncio.run(cell()).flows.is_empty()


def test_what_fails_within_a_loop_is_raised_and_ctrl_c_cancels() -> None:
    ended, waited = threading.Event(), threading.Event()

    async def fails() -> None:
        raise p4cc.UserError("cause", place="here", remedy="none")

    async def waits() -> None:
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            await asyncio.sleep(60)
            waited.set()
        finally:
            ended.set()

    async def cell(main: Any) -> None:
        run_to_end(main)

    with pytest.raises(p4cc.UserError, match="cause"):
        asyncio.run(cell(fails))
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(cell(waits))
    assert ended.is_set(), "the work was cancelled before the call returned"
    assert not waited.is_set(), "the work went on to its own end"


def test_programs_compile() -> None:
    program = p4cc.compile("p4src/v1model/ecn_dual.p4")
    assert program.ok
    assert "ecn" in program.p4info_text()


def test_what_does_not_compile_says_where(tmp_path: Path) -> None:
    file = tmp_path / "bad.p4"
    file.write_text("const bit<8> A = B;\n")
    program = p4cc.compile(file)
    assert not program.ok
    assert "bad.p4:1:18" in program.rendered
    assert "bad.p4:1:18" not in p4cc.compile(file, defines={"B": "7"}).rendered
