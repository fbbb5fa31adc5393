"""The tables of docs/reference/wire-format.md as data: where each field of each header is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "reference" / "wire-format.md"
TRANSPORT = "Transport header, 36 bytes"


@dataclass(frozen=True)
class Field:
    """A field of a header."""

    name: str
    start: int
    """Its first bit, counted from the header's first, the highest of byte 0."""
    width: int


def cells(heading: str, text: str | None = None) -> list[list[str]]:
    """The rows of the first table below a heading that begins so, without its head."""
    section = re.split(rf"^#+ {re.escape(heading)}", text or PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1]
    table = re.findall(r"^\|.*\|$", section.split("\n#", 1)[0].split("\n\n|", 1)[1].split("\n\n", 1)[0], re.MULTILINE)
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in table[1:]]


def layouts(heading: str, text: str | None = None) -> dict[str, list[Field]]:
    """The header of a section's table as `header`, and what repeats as `record`; fields in wire order, gapless.

    Rows give a byte offset (`2 + 8i` in record `i`) and bits: `32 bits`, or numbers like `7-4` in the bytes from that
    offset on, whose highest is that of the first row with the offset.
    """
    found: dict[str, list[Field]] = {}
    place, base, top, record_base = "header", 0, 7, 0
    for offset, bits, name, *_ in cells(heading, text):
        if offset:
            numbers = re.fullmatch(r"(\d+)(?:-(\d+))?(?: \+ \d+[ih])?", offset)
            assert numbers, offset
            first = int(numbers[1])
            if "+" in offset and place == "header":
                place, record_base = "record", first
            base = 8 * (first - record_base)
            top = 8 * (int(numbers[2] or first) - first + 1) - 1
        numbers = re.fullmatch(r"(\d+)(?:-(\d+))?( bits)?(?: \(0x[0-9a-f]+\))?", bits)
        if numbers is None:
            # `others`: bits in between that have no name.
            continue
        high, low = int(numbers[1]), int(numbers[2] or numbers[1])
        if numbers[3]:
            start, width = base, high
        else:
            top = max(top, -(-(high + 1) // 8) * 8 - 1)
            start, width = base + top - high, high - low + 1
        found.setdefault(place, []).append(Field(_named(name), start, width))
    return {place: _gapless(fields) for place, fields in found.items()}


def _named(name: str) -> str:
    return name.partition(",")[0].lower().replace(" ", "_").replace("-", "_")


def _gapless(fields: list[Field]) -> list[Field]:
    """In wire order; bits without a name are `reserved`."""
    result: list[Field] = []
    end = 0
    for field in sorted(fields, key=lambda field: field.start):
        assert field.start >= end, f"{field} overlaps its predecessor, which ends at bit {end}"
        if field.start > end:
            result.append(Field("reserved", end, field.start - end))
        result.append(field)
        end = field.start + field.width
    return result


def extension_codes(text: str | None = None) -> dict[int, str]:
    """The meaning of each assigned extension."""
    return {int(code): meaning for code, meaning, *_ in cells("Extensions", text) if code.isdigit()}
