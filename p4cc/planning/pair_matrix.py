"""A user's own matrix of pairs: one `src dst intensity [sizes [gaps]]` line for each pair with traffic.

`sizes` and `gaps` are files of distributions next to the matrix; `-` or nothing leaves what the scenario gives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from p4cc.errors import UserError
from p4cc.files import note_input
from p4cc.planning.cdf_file import read_cdf, read_gap_cdf, read_lines

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from p4cc import spec

MAX_PAIRS = 100_000
MIN_INTENSITY, MAX_INTENSITY = 1e-9, 1e9
_NONE = "-"


@dataclass(frozen=True)
class PairLine:
    """A pair in the file; files are None if the scenario's distributions apply."""

    src: str
    dst: str
    intensity: float
    size_file: str | None
    gap_file: str | None


def read_matrix(path: Path, hosts: Collection[str]) -> list[PairLine]:
    """Reads a matrix whose hosts are among `hosts`; raises UserError with file and line."""
    known = frozenset(hosts)
    pairs: list[PairLine] = []
    seen: set[tuple[str, str]] = set()
    for place, words in read_lines(path, "pair matrix"):
        if len(pairs) == MAX_PAIRS:
            raise UserError(
                f"the matrix has more than {MAX_PAIRS} pairs", place=place, remedy="remove the smallest ones"
            )
        pair = _pair(place, words)
        for host in (pair.src, pair.dst):
            if host not in known:
                some = ", ".join(list(hosts)[:8])
                raise UserError(f"there is no host {host!r}", place=place, remedy=f"hosts: {some}, ...")
        if pair.src == pair.dst:
            raise UserError(f"{pair.src!r} would send to itself", place=place, remedy="name another host")
        if (pair.src, pair.dst) in seen:
            raise UserError(
                f"the pair {pair.src} to {pair.dst} occurs twice", place=place, remedy="give each pair once"
            )
        seen.add((pair.src, pair.dst))
        pairs.append(pair)
    if not pairs:
        raise UserError(
            "the matrix has no pairs", place=str(path), remedy="write lines of: src dst intensity [sizes [gaps]]"
        )
    return pairs


def matrix_description(path: Path, hosts: Collection[str], size: spec.SizeSpec, gap: spec.GapSpec) -> spec.GivenMatrix:
    """The engine's form of the matrix in a file; `size` and `gap` hold where a pair names no file."""
    sizes: dict[str | None, spec.SizeSpec] = {None: size}
    gaps: dict[str | None, spec.GapSpec] = {None: gap}
    pairs: list[spec.PairSpec] = []
    for pair in read_matrix(path, hosts):
        if pair.size_file not in sizes:
            sizes[pair.size_file] = size_description(_beside(path, str(pair.size_file)))
        if pair.gap_file not in gaps:
            gaps[pair.gap_file] = gap_description(_beside(path, str(pair.gap_file)))
        pairs.append(
            {
                "src": pair.src,
                "dst": pair.dst,
                "intensity": pair.intensity,
                "size": list(sizes).index(pair.size_file),
                "gap": list(gaps).index(pair.gap_file),
            }
        )
    return {"kind": "given", "pairs": pairs, "sizes": list(sizes.values()), "gaps": list(gaps.values())}


def _beside(matrix: Path, name: str) -> Path:
    path = matrix.parent / name
    note_input(name, path)
    return path


def size_description(path: Path) -> spec.CdfSize:
    """The engine's form of a file of sizes."""
    return {"kind": "cdf", "points": [{"bytes": size, "share": share} for size, share in read_cdf(path).points]}


def gap_description(path: Path) -> spec.CdfGap:
    """The engine's form of a file of gaps."""
    return {"kind": "cdf", "points": [{"gap_ns": gap, "share": share} for gap, share in read_gap_cdf(path)]}


def _pair(place: str, words: list[str]) -> PairLine:
    text = " ".join(words)
    try:
        src, dst, number, *files = words
        intensity = float(number)
    except ValueError:
        remedy = "write: src dst intensity [sizes [gaps]]"
        raise UserError(f"{text!r} is not a pair", place=place, remedy=remedy) from None
    if not MIN_INTENSITY <= intensity <= MAX_INTENSITY:
        remedy = f"give {MIN_INTENSITY:g} to {MAX_INTENSITY:g}; remove pairs without traffic"
        raise UserError(f"intensity {number} is out of range", place=place, remedy=remedy)
    if len(files) > 2:
        raise UserError(f"{text!r} has more than five words", place=place, remedy="file names must not contain spaces")
    size_file, gap_file = ([None if one == _NONE else one for one in files] + [None, None])[:2]
    return PairLine(src, dst, intensity, size_file, gap_file)
