"""Slowdowns by size: bins of equal count, percentiles at index int(n p), the floor of 1.

Source: docs/algorithms/metrics.md#metrics.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from p4cc.analysis.slowdown import BIN_SCHEMA, by_size


def frame(flows: Sequence[tuple[int, float | None]]) -> pl.DataFrame:
    schema = {"size_bytes": pl.Int64, "slowdown": pl.Float64}
    return pl.DataFrame(flows, schema=schema, orient="row")


def test_deciles_of_a_hundred_flows() -> None:
    rows = by_size(frame([(size, size / 10) for size in range(100, 0, -1)]), 10)
    assert [row["max_size_bytes"] for row in rows] == list(range(10, 101, 10))
    assert all(row["flows"] == 10 for row in rows)
    # Index int(10 * 0.5) = 5 of 9.1 to 10.0; 0.95 and 0.99 of ten values are both the last.
    assert rows[-1] | {"flows": 0} == {"max_size_bytes": 100, "flows": 0, "p50": 9.6, "p95": 10.0, "p99": 10.0}
    assert rows[0]["p50"] == 1.0, "0.6 counts as 1"


def test_flows_that_are_not_complete_do_not_count() -> None:
    rows = by_size(frame([(10, 2.0), (20, None), (30, 3.0)]), 2)
    assert [(row["max_size_bytes"], row["flows"], row["p50"]) for row in rows] == [(10, 1, 2.0), (30, 1, 3.0)]
    assert by_size(frame([(20, None)]), 10) == []


@given(
    st.lists(st.tuples(st.integers(1, 10**9), st.floats(0.5, 1e6)), max_size=200),
    st.sampled_from((1, 10, 20)),
)
def test_bins_share_all_flows_evenly_and_rise(flows: list[tuple[int, float]], bins: int) -> None:
    rows = by_size(frame(flows), bins)
    assert sum(row["flows"] for row in rows) == len(flows)
    assert len(rows) == min(bins, len(flows))
    if rows:
        counts = [row["flows"] for row in rows]
        assert max(counts) - min(counts) <= 1
        assert rows[-1]["max_size_bytes"] == max(size for size, _ in flows)
    assert [row["max_size_bytes"] for row in rows] == sorted(row["max_size_bytes"] for row in rows)
    for row in rows:
        assert list(row) == list(BIN_SCHEMA)
        assert 1.0 <= row["p50"] <= row["p95"] <= row["p99"]
    assert max((row["p99"] for row in rows), default=1.0) <= max([1.0, *(slow for _, slow in flows)])
