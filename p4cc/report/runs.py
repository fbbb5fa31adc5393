"""The runs of one or more folders: series, points and seeds, and which runs a page keeps in detail."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from p4cc.report.document import Series
from p4cc.report.reduce import spread_over

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from p4cc.report.folders import RunFolder

MAX_DETAILED = 80
"""Runs of which a page keeps series over time and loads of links."""


class Key(NamedTuple):
    """Which run: places in the lists of series and points, and the seed."""

    series: int
    point: int
    seed: int


@dataclass(frozen=True)
class Runs:
    """What is reported of."""

    folders: Sequence[RunFolder]

    def letter(self, folder: int) -> str:
        """A folder's letter where there are two or more."""
        return chr(ord("A") + folder) if len(self.folders) > 1 else ""

    @cached_property
    def series(self) -> list[Series]:
        """A series for each variant of each folder."""
        return [
            Series(f"{self.letter(number)}: {variant}".removeprefix(": "), variant, number)
            for number, one in enumerate(self.folders)
            for variant in dict.fromkeys(row["variant"] for row in one.ran.runs)
        ]

    @cached_property
    def points(self) -> list[str]:
        """Points of the sweeps, of all folders."""
        return list(dict.fromkeys(one.point_of(row) for one in self.folders for row in one.ran.runs))

    @cached_property
    def seeds(self) -> list[int]:
        """Seeds of all folders."""
        return sorted({row["seed"] for one in self.folders for row in one.ran.runs})

    @cached_property
    def _series_of(self) -> dict[tuple[int, str], int]:
        return {(one.folder, one.variant): place for place, one in enumerate(self.series)}

    @cached_property
    def _point_of(self) -> dict[str, int]:
        return {label: place for place, label in enumerate(self.points)}

    def key(self, folder: int, row: dict[str, Any]) -> Key:
        """The run that a row of results is of."""
        point = self._point_of[self.folders[folder].point_of(row)]
        return Key(self._series_of[folder, row["variant"]], point, row["seed"])

    @cached_property
    def numbers(self) -> dict[Key, dict[str, Any]]:
        """The row of summary.json of each run."""
        return {self.key(number, row): row for number, one in enumerate(self.folders) for row in one.ran.runs}

    @cached_property
    def detailed(self) -> set[Key]:
        """Runs kept in detail: as many seeds of every case as there is room for, else points evenly over the sweep."""
        cases = len({(key.series, key.point) for key in self.numbers})
        seeds = set(self.seeds[: max(1, MAX_DETAILED // max(cases, 1))])
        points = set(range(len(self.points)))
        if cases > MAX_DETAILED:
            points = set(spread_over(len(points), max(1, MAX_DETAILED // len(self.series))))
        return {key for key in self.numbers if key.seed in seeds and key.point in points}

    @cached_property
    def left_out(self) -> str:
        """Which runs have no details in the page; empty where all have."""
        kept = len(self.detailed)
        if kept == len(self.numbers):
            return ""
        seeds = sorted({key.seed for key in self.detailed})
        points = len({key.point for key in self.detailed})
        at = f", {points} of {len(self.points)} points" if points < len(self.points) else ""
        said = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {', '.join(map(str, seeds))}"
        return f"Of {kept} of {len(self.numbers)} runs ({said}{at}), so that the page stays small."

    def frames(self, table: str, *, detailed: bool = False) -> Iterator[tuple[Key, pl.DataFrame]]:
        """A table's rows of each run, in the order of the results; of runs kept in detail only, if asked for."""
        for number, folder in enumerate(self.folders):
            frame = folder.table(table)
            if frame is None or frame.is_empty():
                continue
            if detailed:
                frame = frame.filter(pl.col("seed").is_in(sorted({key.seed for key in self.detailed})))
            by = ["variant", *(name for name in folder.swept if name in frame.columns), "seed"]
            for values, rows in frame.group_by(by, maintain_order=True):
                key = self.key(number, dict(zip(by, values, strict=True)))
                if key in self.numbers and (not detailed or key in self.detailed):
                    yield key, rows

    @cached_property
    def spans(self) -> dict[Key, tuple[int, int]]:
        """When something happened in a run, in ns: from the first start of a flow to the end of the run."""
        begun = {key: rows["start_ns"].min() for key, rows in self.frames("flows")}
        found: dict[Key, tuple[int, int]] = {}
        for key, numbers in self.numbers.items():
            first, end = begun.get(key), int(numbers.get("end_ns") or 0)
            found[key] = (min(first, end) if isinstance(first, int) else 0, end)
        return found

    @cached_property
    def first_point(self) -> int:
        """The point to begin with: the one in the middle of the sweep that has details."""
        kept = sorted({key.point for key in self.detailed})
        return kept[len(kept) // 2] if kept else 0

    def label(self, key: Key) -> tuple[str, str, int]:
        """A run's series, point and seed for a table."""
        return self.series[key.series].label, self.points[key.point], key.seed
