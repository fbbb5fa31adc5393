"""Distributions from files: one `value percent` pair a line, as public traffic generators write flow sizes.

Files that end at 1 in place of 100 have shares in place of percentages (pFabric's generators, ABM, PowerTCP).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

from p4cc.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_FILE_BYTES = 1 << 24
MAX_POINTS = 10_000
MAX_SIZE_BYTES = 1 << 50
MAX_GAP_NS = 3.6e12


@dataclass(frozen=True)
class SizeCdf:
    """Points (bytes, share of flows up to it), rising from share 0 to 1; linear in between."""

    points: tuple[tuple[int, float], ...]

    @property
    def mean_bytes(self) -> float:
        """Mean flow size: the area under the inverse (docs/algorithms/traffic.md#uniform)."""
        pairs = zip(self.points, self.points[1:], strict=False)
        return sum((high - low) * (a + b) / 2 for (a, low), (b, high) in pairs)


def read_cdf(path: Path) -> SizeCdf:
    """Reads a distribution of sizes in bytes; `#` begins a comment. Raises UserError with file and line."""
    points = _read_points(path, "a size in bytes", MAX_SIZE_BYTES - 1)
    return SizeCdf(tuple((int(size), share) for size, share in points))


def read_gap_cdf(path: Path) -> tuple[tuple[float, float], ...]:
    """Reads a distribution of gaps in ns, as points (gap, share of gaps up to it). Raises UserError likewise."""
    return _read_points(path, "a gap in ns", MAX_GAP_NS)


def read_lines(path: Path, what: str) -> Iterator[tuple[str, list[str]]]:
    """Lines that hold something, in words, each with its place; raises UserError for a file that is not text."""
    try:
        if (size := path.stat().st_size) > MAX_FILE_BYTES:
            raise UserError(
                f"the file has {size} bytes; the limit is {MAX_FILE_BYTES}",
                place=str(path),
                remedy="give a smaller file",
            )
        text = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read the {what}", place=str(path), remedy="give a text file") from error
    for number, line in enumerate(text.splitlines(), start=1):
        if words := line.split("#", 1)[0].split():
            yield f"{path}:{number}", words


def _read_points(path: Path, unit: str, most: float) -> tuple[tuple[float, float], ...]:
    points: list[tuple[float, float]] = []
    for place, words in read_lines(path, "distribution"):
        if len(points) == MAX_POINTS:
            raise UserError(f"the file has more than {MAX_POINTS} points", place=place, remedy="give fewer points")
        points.append(_point(place, words, unit, most, points[-1] if points else None))
    whole = points[-1][1] if points else 0.0
    if len(points) < 2 or points[0][1] != 0.0 or whole not in (1.0, 100.0):
        raise UserError(
            "the percentages do not cover 0 to 100",
            place=str(path),
            remedy="start with the smallest value at 0 and end with the largest at 100, or at 1 for shares",
        )
    return tuple((value, part / whole) for value, part in points)


def _point(
    place: str, words: list[str], unit: str, most: float, before: tuple[float, float] | None
) -> tuple[float, float]:
    text = " ".join(words)
    try:
        value, percent = (float(one) for one in words)
    except ValueError:
        raise UserError(f"{text!r} is not a point", place=place, remedy=f"write {unit} and a percentage") from None
    if not (isfinite(value) and 0 <= value <= most and 0 <= percent <= 100):
        raise UserError(
            f"{text!r} is out of range",
            place=place,
            remedy=(f"{unit} must be from 0 to {most:.4g}, and a percentage from 0 to 100"),
        )
    point = (value, percent)
    if before is not None and (point[0] < before[0] or point[1] < before[1]):
        raise UserError(
            f"{text!r} is less than the previous line",
            place=place,
            remedy="sort the lines by value; percentages must not decrease",
        )
    return point
