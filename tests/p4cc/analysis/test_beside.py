"""Slowdowns beside another simulator's: which bins count as off, and what is refused."""

from __future__ import annotations

import polars as pl
import pytest

from p4cc.errors import UserError
from p4cc.reproduce.other_simulator import bins_beside, count_off
from p4cc.scenario.beside_claims import BesideMeasure

SIZES = [100, 200]


def measure(theirs: list[list[float]], aim: float = 0.1, sizes: list[int] | None = None) -> BesideMeasure:
    return BesideMeasure(
        kind="beside", variant="DCQCN", percentile=50, aim=aim, sizes_bytes=sizes or SIZES, theirs=theirs
    )


def flows(*seeds: tuple[float, float]) -> pl.DataFrame:
    """Three flows in each of two bins, whose medians are given for each seed."""
    rows = [
        {"variant": "DCQCN", "seed": seed, "size_bytes": size - 1 + place, "slowdown": median - 1 + place}
        for seed, medians in enumerate(seeds, start=1)
        for size, median in zip((99, 199), medians, strict=True)
        for place in range(3)
    ]
    return pl.DataFrame(rows)


def test_means_of_both_sides_and_their_spread() -> None:
    frame = flows((3.0, 2.0), (5.0, 2.0))
    first, second = bins_beside(frame, measure([[2.0, 6.0], [2.0, 2.0]]))
    assert (list(first.ours), list(second.ours)) == ([3.0, 5.0], [2.0, 2.0])
    assert (first.difference, first.scatter, second.scatter) == (0.0, 1.0, 0.0)
    assert first.text() == "100 B: 4.000 (2.000 to 6.000), ours 4.000 (3.000 to 5.000), +0.0 %"


@pytest.mark.parametrize(
    ("theirs", "aim", "off"),
    [
        ([3.0, 3.0], 0.30, 1),
        ([3.0, 3.0], 0.34, 0),
        # 4 lies 1 above their mean of 3: within a scatter of 1.2, beyond one of 0.8.
        ([2.4, 3.6], 0.05, 0),
        ([2.6, 3.4], 0.05, 1),
    ],
)
def test_a_bin_is_off_beyond_the_aim_and_the_scatter(theirs: list[float], aim: float, off: int) -> None:
    found, text = count_off(flows((4.0, 2.0)), measure([theirs, [2.0, 2.0]], aim))
    assert found == off
    assert text.count("B: ") == 2


def test_other_bins_are_refused() -> None:
    with pytest.raises(UserError, match="seed 1: bins end with flows of 100, 200 bytes"):
        bins_beside(flows((4.0, 2.0)), measure([[2.0, 2.0], [2.0, 2.0]], sizes=[100, 300]))


@pytest.mark.parametrize(
    ("sizes", "theirs", "cause"),
    [
        ([100, 200], [[1.0, 1.0]], "theirs has 1 bins but sizes_bytes has 2"),
        ([200, 100], [[1.0, 1.0], [1.0, 1.0]], "must be in ascending order"),
        ([100], [[1.0]], "at least 2 items"),
        ([100], [[0.5, 1.0]], "greater than or equal to 1"),
    ],
)
def test_faults_of_the_measure_are_named(sizes: list[int], theirs: list[list[float]], cause: str) -> None:
    with pytest.raises(UserError, match=cause):
        measure(theirs, sizes=sizes)
