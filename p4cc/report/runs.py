"""The runs of one or more folders: series, points and seeds, and which runs a page shows in detail."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from p4cc.json_data import number
from p4cc.report.document import Series
from p4cc.report.reduce import spread_over

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from p4cc.analysis.intervals import Interval
    from p4cc.figures.chart import Samples
    from p4cc.json_data import JsonObject
    from p4cc.report.folders import RunFolder

MAX_DETAILED = 80
"""Number of runs with series over time and loads of links in a page."""


class Key(NamedTuple):
    """A run: indices of its series and point, and its seed."""

    series: int
    point: int
    seed: int


@dataclass(frozen=True)
class Runs:
    """The runs of a report."""

    folders: Sequence[RunFolder]

    def letter(self, folder: int) -> str:
        """A folder's letter if there are several."""
        return chr(ord("A") + folder) if len(self.folders) > 1 else ""

    @cached_property
    def series(self) -> list[Series]:
        """One series per variant and folder."""
        return [
            Series(f"{self.letter(number)}: {variant}".removeprefix(": "), variant, number)
            for number, one in enumerate(self.folders)
            for variant in dict.fromkeys(row.variant for row in one.results.rows)
        ]

    @cached_property
    def points(self) -> list[str]:
        """Points of the sweeps of all folders."""
        return list(dict.fromkeys(one.point_of(row) for one in self.folders for row in one.results.runs))

    @cached_property
    def seeds(self) -> list[int]:
        """Seeds of all folders."""
        return sorted({row.seed for one in self.folders for row in one.results.rows})

    @cached_property
    def interval(self) -> Interval:
        """The spread that charts show: that of the scenarios, if they agree."""
        asked = {str(one.results.run.scenario.model_dump().get("interval")) for one in self.folders}
        return "t" if asked == {"t"} else "bootstrap" if asked == {"bootstrap"} else "range"

    def selectable(self, samples: Samples) -> Samples | None:
        """The values behind a spread, from which a page computes it anew for some of the seeds; no interval is."""
        return samples if self.interval == "range" else None

    @cached_property
    def _series_of(self) -> dict[tuple[int, str], int]:
        return {(one.folder, one.variant): place for place, one in enumerate(self.series)}

    @cached_property
    def _point_of(self) -> dict[str, int]:
        return {label: place for place, label in enumerate(self.points)}

    def key(self, folder: int, variant: str, seed: int, row: Mapping[str, object]) -> Key:
        """The run of a row."""
        return Key(self._series_of[folder, variant], self._point_of[self.folders[folder].point_of(row)], seed)

    @cached_property
    def numbers(self) -> dict[Key, JsonObject]:
        """Each run's row of summary.json."""
        return {
            self.key(place, row.variant, row.seed, row.columns): row.columns
            for place, folder in enumerate(self.folders)
            for row in folder.results.rows
        }

    @cached_property
    def detailed(self) -> set[Key]:
        """Runs shown in detail: as many seeds of every case as fit, otherwise points evenly over the sweep."""
        cases = len({(key.series, key.point) for key in self.numbers})
        seeds = set(self.seeds[: max(1, MAX_DETAILED // max(cases, 1))])
        points = set(range(len(self.points)))
        if cases > MAX_DETAILED:
            points = set(spread_over(len(points), max(1, MAX_DETAILED // len(self.series))))
        return {key for key in self.numbers if key.seed in seeds and key.point in points}

    @cached_property
    def left_out(self) -> str:
        """Which runs have details in the page; empty if all have."""
        count = len(self.detailed)
        if count == len(self.numbers):
            return ""
        seeds = sorted({key.seed for key in self.detailed})
        points = len({key.point for key in self.detailed})
        at = f", {points} of {len(self.points)} points" if points < len(self.points) else ""
        which = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {', '.join(map(str, seeds))}"
        return f"Of {count} of {len(self.numbers)} runs ({which}{at}), so that the page stays small."

    def frames(self, table: str, *, detailed: bool = False) -> Iterator[tuple[Key, pl.DataFrame]]:
        """A table's rows for each run, in the order of the results; optionally only of runs shown in detail."""
        for place, folder in enumerate(self.folders):
            frame = folder.table(table)
            if frame is None or frame.is_empty():
                continue
            if detailed:
                frame = frame.filter(pl.col("seed").is_in(sorted({key.seed for key in self.detailed})))
            by = ["variant", *(name for name in folder.swept if name in frame.columns), "seed"]
            for values, rows in frame.group_by(by, maintain_order=True):
                key = self.key(place, values[0], values[-1], dict(zip(by, values, strict=True)))
                if key in self.numbers and (not detailed or key in self.detailed):
                    yield key, rows

    @cached_property
    def spans(self) -> dict[Key, tuple[int, int]]:
        """From the first start of a flow to the end of the run, in ns."""
        starts = {key: rows["start_ns"].min() for key, rows in self.frames("flows")}
        spans: dict[Key, tuple[int, int]] = {}
        for key, numbers in self.numbers.items():
            first, end = starts.get(key), int(number(numbers.get("end_ns")) or 0)
            spans[key] = (min(first, end) if isinstance(first, int) else 0, end)
        return spans

    @cached_property
    def first_point(self) -> int:
        """The point to show first: the middle one of those with details."""
        points = sorted({key.point for key in self.detailed})
        return points[len(points) // 2] if points else 0

    def label(self, key: Key) -> tuple[str, str, int]:
        """A run's series, point and seed for a table."""
        return self.series[key.series].label, self.points[key.point], key.seed
