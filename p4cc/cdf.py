"""Flow-size distributions from files: one `bytes percent` pair a line, as public traffic generators write them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from p4cc.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

MAX_CDF_BYTES = 1 << 20


@dataclass(frozen=True)
class SizeCdf:
    """Points (bytes, share of flows up to it), rising from share 0 to 1; linear in between."""

    points: tuple[tuple[int, float], ...]

    @property
    def mean_bytes(self) -> float:
        """Mean flow size: the area under the inverse (spec 16.1)."""
        pairs = zip(self.points, self.points[1:], strict=False)
        return sum((high - low) * (a + b) / 2 for (a, low), (b, high) in pairs)


def read_cdf(path: Path) -> SizeCdf:
    """Reads a distribution; `#` begins a comment. Raises UserError with file and line."""
    try:
        raw = path.read_bytes()
        text = raw.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError("cannot read the distribution", place=str(path), remedy="give a text file") from error
    if len(raw) > MAX_CDF_BYTES:
        raise UserError(f"{len(raw)} bytes are more than {MAX_CDF_BYTES}", place=str(path), remedy="give fewer points")
    points: list[tuple[int, float]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        content = line.split("#", 1)[0].split()
        if content:
            points.append(_point(f"{path}:{number}", content, points[-1] if points else None))
    if len(points) < 2 or points[0][1] != 0.0 or points[-1][1] != 1.0:
        raise UserError(
            "the percentages do not go from 0 to 100",
            place=str(path),
            remedy="begin with the smallest size at 0 and end with the largest at 100",
        )
    return SizeCdf(tuple(points))


def _point(place: str, content: list[str], before: tuple[int, float] | None) -> tuple[int, float]:
    try:
        size, percent = (float(one) for one in content)
    except ValueError:
        raise UserError(
            f"{' '.join(content)!r} is no point", place=place, remedy="write a size in bytes and a percentage"
        ) from None
    if not (0 <= size < 1 << 50 and 0 <= percent <= 100):
        raise UserError(
            f"{' '.join(content)!r} is out of range", place=place, remedy="sizes are bytes, percentages 0 to 100"
        )
    point = (int(size), percent / 100)
    if before is not None and (point[0] < before[0] or point[1] < before[1]):
        raise UserError(
            f"{' '.join(content)!r} lies below the line before", place=place, remedy="sort by size; percentages rise"
        )
    return point
