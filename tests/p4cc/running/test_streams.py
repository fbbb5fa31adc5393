"""Tables that stream to Parquet while a run goes on: the same results, on full disks and of killed runs none."""

# pyarrow's stubs leave some overloads partly untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import errno
import os
import random
import tempfile
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from p4cc.analysis.latencies import of_rtts
from p4cc.analysis.long_tables import ROW_GROUP_ROWS, LongTable, parts_of, whole
from p4cc.analysis.metrics import goodput_bins, goodput_of_parts
from p4cc.analysis.percentiles import PERCENTILES, percentile
from p4cc.analysis.queues import queue_stats
from p4cc.errors import UserError
from p4cc.running import result_writer, streams
from p4cc.running.cache import RunCache
from p4cc.running.result_writer import ResultWriter
from p4cc.running.streams import Streams
from p4cc.scenario.figures import Window
from tests.p4cc.control.test_controller import reactive
from tests.p4cc.running.test_cache import empty_run
from tests.p4cc.scenarios import RENO, run, scenario, skewed
from tests.p4cc.user_algorithms.test_user_algorithms import own

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

GROUP, PART = 700, 150
MUCH = {"windows_interval_ns": 2_000, "queues_interval_ns": 1_000, "events": True, "rtts": True}


def _of_few_rows(monkeypatch: pytest.MonkeyPatch, group: int, part: int) -> None:
    """Row groups and parts of few rows, so that small runs have long tables."""
    monkeypatch.setattr(streams, "ROW_GROUP_ROWS", group)
    monkeypatch.setattr(result_writer, "ROW_GROUP_ROWS", group)
    monkeypatch.setattr(streams, "PART_ROWS", part)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are long with more than 700 rows."""
    _of_few_rows(monkeypatch, GROUP, PART)


def _long(**changes: Any) -> dict[str, Any]:
    return scenario(traffic={"kind": "incast", "sru_bytes": 700_000}, **changes)


class _NoEngine:
    """What a stream needs of a network."""

    def stream_tables(self, sink: object, part_rows: int = 1) -> None:
        """Has nothing to hand over."""


def _table(rows: Sequence[int]) -> Any:
    return pa.table(dict.fromkeys(("time_ns", "device_id", "port", "depth_pkts"), pa.array(rows, pa.uint64())))


def _streamed(folder: Path, cuts: Sequence[int], rows: int) -> tuple[dict[str, pa.Table], dict[str, LongTable]]:
    """A table of so many rows, handed over up to each of the cuts."""
    with Streams(folder) as it:
        first = 0
        for cut in cuts:
            it.take("queues", _table(range(first, cut)))
            first = cut
        network: Any = _NoEngine()
        return it.finish(network, {"queues": _table(range(first, rows)), "flows": _table([])})


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("cuts", "rows"), [([700], 700), ([150, 690, 720], 730), ([150, 2_500], 2_501), ([1], 701), ([1_400], 1_400)]
)
def test_a_long_table_has_all_rows_in_whole_groups(tmp_path: Path, cuts: Sequence[int], rows: int) -> None:
    short, long = _streamed(tmp_path, cuts, rows)
    assert (list(short), list(long)) == (["flows"], ["queues"])
    parts = list(parts_of(long["queues"]))
    assert [part.num_rows for part in parts] == [GROUP] * (rows // GROUP) + ([rows % GROUP] if rows % GROUP else [])
    assert whole(long["queues"]).equals(_table(range(rows)))
    assert long["queues"].num_rows == rows
    assert not list(tmp_path.iterdir()), "its file has no name"


@pytest.mark.usefixtures("small")
def test_a_table_of_fewer_rows_stays_in_memory(tmp_path: Path) -> None:
    short, long = _streamed(tmp_path, [150, 300], 699)
    assert not long
    assert short["queues"].equals(_table(range(699)))
    assert all(column.num_chunks == 1 for column in short["queues"].columns)


def test_files_have_the_bytes_of_tables_written_at_once(tmp_path: Path) -> None:
    rows = ROW_GROUP_ROWS + 5
    table = _table(range(rows)).rename_columns(["time_ns", "port", "switch", "depth_pkts"])
    with tempfile.TemporaryFile() as file:
        pq.write_table(table, file)
        for name, one in (("whole", table), ("parts", LongTable(file))):
            with ResultWriter(tmp_path / name, {}) as writer:
                writer.add({"variant": "a", "seed": 1}, {"queues": one})
    first, second = ((tmp_path / name / "queues.parquet").read_bytes() for name in ("whole", "parts"))
    assert first == second
    assert pq.ParquetFile(tmp_path / "parts" / "queues.parquet").metadata.row_group(0).num_rows == ROW_GROUP_ROWS


class _BothWays:
    """Runs a scenario with tables that stream, and with all rows kept."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.streamed: set[str] = set()
        """Names of the tables that streamed in the run before."""
        finish = Streams.finish

        def finish_and_note(it: Streams, *given: Any) -> Any:
            short, long = finish(it, *given)
            self.streamed |= set(long)
            return short, long

        monkeypatch.setattr(Streams, "finish", finish_and_note)
        self._monkeypatch = monkeypatch
        self._folder = folder

    def same(self, data: dict[str, Any], *tables: str, threads: int = 1) -> None:
        """Both leave the same files and numbers, and these tables streamed."""
        streamed = run(self._folder, data, threads=threads)
        files, rows = streamed.bytes(), [{**row, "wall_s": 0} for row in streamed.runs]
        assert self.streamed >= set(tables)
        self.streamed.clear()
        again = run(self._folder, data, threads=threads)
        assert (again.bytes() == files, self.streamed) == (True, set()), "those of the cache too"
        with self._monkeypatch.context() as patch:
            patch.setattr(Streams, "take_from", _take_nothing)
            kept = run(self._folder, data, use_cache=False, threads=threads)
        assert not self.streamed
        assert kept.bytes() == files
        assert [{**row, "wall_s": 0} for row in kept.runs] == rows


@pytest.fixture
def both_ways(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> _BothWays:
    """With tables that are long from a hundred rows on."""
    _of_few_rows(monkeypatch, 100, 30)
    return _BothWays(monkeypatch, tmp_path)


def test_a_run_that_streams_leaves_the_files_of_one_that_does_not(both_ways: _BothWays) -> None:
    both = [RENO, {"name": "dctcp", "congestion_avoidance": {"name": "dctcp"}}]
    data = _long(record={**MUCH, "goodput_interval_ns": 10_000}, seeds=[1, 2], variants=both)
    both_ways.same(data, "windows", "queues", "rtts")


def test_so_does_one_on_two_threads(both_ways: _BothWays) -> None:
    record = {"windows_interval_ns": 30_000, "queues_interval_ns": 30_000}
    both_ways.same(skewed(record=record, sweep={}, seeds=[1]), "windows", threads=2)


def test_so_does_one_with_algorithms_in_python(both_ways: _BothWays, tmp_path: Path) -> None:
    record = {"windows_interval_ns": 3_000, "state": ["acks"], "rtts": True}
    both_ways.same(_long(**own(tmp_path, record=record)), "windows", "algorithm_state", "rtts")


def test_so_does_one_with_a_controller(both_ways: _BothWays) -> None:
    data = reactive(traffic={"kind": "incast", "sru_bytes": 200_000}, record={**MUCH, "events": False})
    both_ways.same(data, "rtts")


def _take_nothing(_: Streams, _network: object) -> None:
    """Has the engine keep all rows."""


class _Full:
    """A file on a full disk."""

    closed = False

    def write(self, _: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def tell(self) -> int:
        return 0

    def flush(self) -> None: ...

    def close(self) -> None: ...


def _full(_: Path) -> _Full:
    return _Full()


@pytest.mark.usefixtures("small")
def test_a_full_disk_ends_the_run_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "_nameless", _full)
    with pytest.raises(UserError, match="No space left on device") as caught:
        run(tmp_path, _long(record=MUCH))
    assert "free some room" in caught.value.remedy
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob(".out*"))


@pytest.mark.usefixtures("small")
def test_rows_beyond_the_limit_are_counted_in_tables_that_stream(tmp_path: Path) -> None:
    def rows(most: int) -> tuple[dict[str, int], int]:
        ran = run(tmp_path, _long(record={**MUCH, "max_rows": most}), use_cache=False)
        return {name: ran.table(name).height for name in ("windows", "queues", "rtts")}, ran.runs[0]["rows_left_out"]

    (few, left_out), (every, none) = rows(1_000), rows(100_000)
    assert few == {name: min(height, 1_000) for name, height in every.items()}
    assert (few["rtts"], none) == (1_000, 0)
    assert left_out == sum(every.values()) - sum(few.values())


def test_what_a_cache_keeps_of_a_long_table_is_whole_or_not_there(tmp_path: Path) -> None:
    cache, key, run_of_one = RunCache(tmp_path), "ab" * 32, empty_run(1)
    columns = {field.name: list(range(1_000)) for field in run_of_one.tables["queues"].schema}
    table = pa.table(columns).cast(run_of_one.tables["queues"].schema)
    short = {name: one for name, one in run_of_one.tables.items() if name != "queues"}
    with tempfile.TemporaryFile() as file:
        pq.write_table(table, file, row_group_size=300)
        cache.store(key, replace(run_of_one, tables=short, long_tables={"queues": LongTable(file)}))
    held = cache.load(key)
    assert held is not None
    (path,) = tmp_path.glob("??/*")
    path.unlink()
    # Whoever makes room in the cache takes nothing from a run that was read.
    assert [part.num_rows for part in held.long_tables["queues"].parts()] == [300, 300, 300, 100]
    assert whole(held.long_tables["queues"]).equals(table)
    cache.store(key, held)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    assert cache.load(key) is None


def _cut(frame: pl.DataFrame, rng: random.Random) -> list[pl.DataFrame]:
    places = sorted(rng.sample(range(frame.height + 1), 3))
    return [frame.slice(a, b - a) for a, b in zip([0, *places], [*places, frame.height], strict=True)]


def test_what_is_worked_out_of_parts_is_that_of_the_whole() -> None:
    rng = random.Random(5)
    times = sorted(rng.randrange(10_000) for _ in range(400))
    queues = pl.DataFrame(
        [(time, f"s{rng.randrange(2)}", rng.randrange(3), "h", rng.randrange(9)) for time in dict.fromkeys(times)],
        schema={
            "time_ns": pl.UInt64,
            "switch": pl.String,
            "port": pl.UInt64,
            "peer": pl.String,
            "depth_pkts": pl.UInt64,
        },
        orient="row",
    )
    windows = pl.DataFrame(
        [(time, rng.randrange(4), time // 3) for time in times],
        schema={"time_ns": pl.UInt64, "flow_id": pl.UInt64, "acked_bytes": pl.UInt64},
        orient="row",
    )
    for _ in range(20):
        assert queue_stats(_cut(queues, rng), 11_000).equals(queue_stats([queues], 11_000))
        assert goodput_of_parts(_cut(windows, rng), 1_000).equals(goodput_bins(windows, 1_000))


def test_round_trip_times_of_parts_are_those_of_the_whole() -> None:
    rng = random.Random(6)
    rows = [(time, rng.randrange(5_000, 5_090)) for time in range(1_000)]
    rtts = pl.DataFrame(rows, schema={"time_ns": pl.UInt64, "rtt_ns": pl.UInt64}, orient="row")
    windows = [Window(name="late", start_ns=500, end_ns=700), Window(name="never", start_ns=2_000, end_ns=3_000)]
    found = of_rtts(_cut(rtts, rng), windows)
    for suffix, values in (("", [rtt for _, rtt in rows]), ("_late", [rtt for _, rtt in rows[500:700]])):
        floats = np.array(values, dtype=np.float64)
        assert found[f"rtt_count{suffix}"] == len(values)
        assert found[f"rtt_mean_ns{suffix}"] == float(floats.mean())
        for percent in PERCENTILES:
            assert found[f"rtt_p{percent}_ns{suffix}"] == percentile(floats, percent)
    assert (found["rtt_count_never"], np.isnan(found["rtt_p50_ns_never"])) == (0, True)
    assert not of_rtts([rtts.clear()], windows)
