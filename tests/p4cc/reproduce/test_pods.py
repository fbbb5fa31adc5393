"""Measures of claims on pairs of pods, on a made-up table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from p4cc.errors import UserError
from p4cc.reproduce.flows import measure_flows
from p4cc.scenario.claims import Reproduction
from p4cc.scenario.flow_claims import CellsAboveMeasure, CellsOrderedMeasure, PodCellsMeasure, PodPairMeasure

if TYPE_CHECKING:
    from collections.abc import Sequence

ABOVE = CellsAboveMeasure.model_validate(
    {"kind": "cells_above", "variant": "A", "over": "load", "of": "high", "to": "low"}
)
# Pods, slowdowns at the low and at the high load, and how many flows each has at the high one.
CELLS = [
    (0, 1, 1.0, 2.0, 25),
    (1, 0, 1.0, 3.0, 25),
    (0, 0, 2.0, 2.0, 25),
    (1, 1, 2.0, 1.0, 25),
    # No cell of both loads: without flows, of fewer than a p95 needs, or of a pod that is not full.
    (2, 0, 1.0, None, 0),
    (2, 1, 1.0, 9.0, 19),
    (3, 0, 1.0, 9.0, 25),
]


def pairs(cells: Sequence[tuple[int, int, float, float | None, int]], seed: int = 1) -> pl.DataFrame:
    """The cells as rows of `pod_pairs`."""
    rows = [
        {
            "variant": "A",
            "seed": seed,
            "load": load,
            "src_pod": src,
            "dst_pod": dst,
            "is_full": src < 3,
            "slowdown_p95": high if load == "high" else low,
            "flows_completed": flows if load == "high" else 25,
        }
        for src, dst, low, high, flows in cells
        for load in ("low", "high")
    ]
    other = [row | {"variant": "B", "slowdown_p95": 0.0} for row in rows]
    return pl.DataFrame([*rows, *other])


def test_cells_above_are_those_with_flows_at_both_points() -> None:
    """Two of four: an equal one is not above."""
    table = pairs(CELLS)
    assert measure_flows(pl.DataFrame(), lambda _: table, ABOVE) == 50
    back = ABOVE.model_copy(update={"of": "low", "to": "high"})
    assert measure_flows(pl.DataFrame(), lambda _: table, back) == 25


def test_a_percentile_of_few_flows_is_no_cell() -> None:
    """The cells of (0, 1) and (2, 1) are above; a p95 of 19 flows is no data, a median of them is."""
    table = pairs([(0, 1, 1.0, 2.0, 19), *CELLS[1:]])
    assert measure_flows(pl.DataFrame(), lambda _: table, ABOVE) == pytest.approx(100 / 3)
    medians = table.rename({"slowdown_p95": "slowdown_p50"})
    how = ABOVE.model_copy(update={"column": "slowdown_p50"})
    assert measure_flows(pl.DataFrame(), lambda _: medians, how) == 60


@pytest.mark.parametrize(
    ("slowdowns", "share"),
    [
        ((1.0, 2.0, 3.0, 4.0), 100),
        ((4.0, 3.0, 2.0, 1.0), 0),
        # Of the six pairs two are the other way round, and the pair of equal slowdowns does not follow.
        ((1.0, 3.0, 2.0, 2.0), 50),
    ],
)
def test_cells_with_more_bytes_are_the_slower_ones(slowdowns: Sequence[float], share: float) -> None:
    cells = [(0, 1), (1, 0), (0, 0), (1, 1)]
    table = pairs([(*cell, one, one, 20) for cell, one in zip(cells, slowdowns, strict=True)])
    order = pl.DataFrame({"src_pod": [0, 1, 0, 1], "dst_pod": [1, 0, 0, 1], "place": [1, 2, 3, 4]})
    table = table.filter(pl.col("load") == "high").join(order, on=["src_pod", "dst_pod"])
    table = table.with_columns(bytes=10 * pl.col("place"))
    how = CellsOrderedMeasure.model_validate({"kind": "cells_ordered", "variant": "A", "column": "slowdown_p95"})
    assert measure_flows(pl.DataFrame(), lambda _: table, how) == pytest.approx(share)
    alike = table.with_columns(bytes=pl.lit(1))
    assert measure_flows(pl.DataFrame(), lambda _: alike, how) is None


def test_cells_above_are_counted_by_seed() -> None:
    table = pl.concat([pairs(CELLS, 1), pairs(CELLS[:1], 2), pairs(CELLS[:3], 3)])
    assert measure_flows(pl.DataFrame(), lambda _: table, ABOVE) == pytest.approx(200 / 3)


def test_cells_above_need_cells_and_the_swept_column() -> None:
    table = pairs(CELLS)
    empty = table.with_columns(is_full=pl.lit(value=False))
    assert measure_flows(pl.DataFrame(), lambda _: empty, ABOVE) is None
    # No run has such a value, or no value of this type.
    for update, found in (({"of": "higher"}, "'higher'"), ({"to": 5}, "5")):
        with pytest.raises(UserError, match=f"no run of 'A' has load = {found}"):
            measure_flows(pl.DataFrame(), lambda _: table, ABOVE.model_copy(update=update))
    with pytest.raises(UserError, match="no column 'rate'"):
        measure_flows(pl.DataFrame(), lambda _: table, ABOVE.model_copy(update={"over": "rate"}))


def test_cells_above_are_refused_where_a_second_column_is_swept() -> None:
    """Each cell of one point would be compared with those of all others."""
    table = pl.concat([pairs(CELLS).with_columns(queue=pl.lit(queue)) for queue in (10, 20)])
    with pytest.raises(UserError, match="more than one run of a seed has load = 'high'"):
        measure_flows(pl.DataFrame(), lambda _: table, ABOVE)


def test_a_percentile_of_cells_is_of_those_with_as_many_flows_as_it_needs() -> None:
    """The cell of 19 flows has the largest p95, and 20 are needed; that of the whole count holds for any number."""
    table = pairs([*CELLS, (1, 2, 1.0, 0.5, 19)])
    cells = {"kind": "pod_cells", "variant": "A", "where": {"load": "high"}}

    def measured(**more: str | float) -> float | None:
        return measure_flows(pl.DataFrame(), lambda _: table, PodCellsMeasure.model_validate({**cells, **more}))

    assert [measured(give=give) for give in ("min", "max", "ratio")] == [1, 3, 3]
    assert measured(give="min", column="flows_completed", scale=2) == 38


def test_each_number_of_a_table_of_pods_is_a_claim() -> None:
    """Cells without a number are none, and other readings of a cell count with its claim."""
    first = {"kind": "pod_pair", "variant": "A", "src_pod": 0, "dst_pod": 0, "column": "slowdown_p95"}
    table = {"name": "t", "text": "slowdown", "at": "the table", "measure": first, "rows": [[1.5, None], [2, 3]]}
    more = {"same_as": {"1,0": "other.two"}, "derived": {"1,1": "repeated"}}
    again = {"name": "again", "text": "again", "at": "the table", "measure": first, "readings_of": "t"}
    found = Reproduction.model_validate({"figure": "F", "pod_tables": [table | more, again]}).of(["A"])
    assert [(one.name, one.paper, one.counts_as("F")) for one in found.claims] == [
        ("t_0_0", 1.5, "F.t_0_0"),
        ("t_1_0", 2, "other.two"),
        ("t_1_1", 3, ""),
        ("again_0_0", 1.5, "F.t_0_0"),
        ("again_1_0", 2, "other.two"),
        ("again_1_1", 3, ""),
    ]
    measured = [one.measure for one in found.claims[:3]]
    ends = [(how.src_pod, how.dst_pod) for how in measured if isinstance(how, PodPairMeasure)]
    assert ends == [(0, 0), (1, 0), (1, 1)]
    with pytest.raises(ValueError, match="again needs `rows`, or `readings_of` a table that has some"):
        Reproduction.model_validate({"figure": "F", "pod_tables": [again]})
