"""Numbers in texts for people: the digits that count, never as a power of ten."""

from __future__ import annotations

from decimal import Decimal


def digits(value: float, count: int = 3) -> str:
    """A number with so many digits that count, and all before the point: `100` and `12346`, not `1e+02`."""
    if abs(value) >= 10**count:
        return f"{value:.0f}"
    text = f"{Decimal(f'{value:.{count - 1}e}'):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def counted(number: int, what: str) -> str:
    """A count with its noun: `1 switch`, `2 switches`."""
    return f"{number:,} {what}" + ("" if number == 1 else "es" if what.endswith(("ch", "s", "x")) else "s")


def percent(part: float, whole: float, count: int = 2) -> str:
    """A part of a whole in per cent; only all of it is 100 %."""
    text = digits(100 * part / whole, count)
    return "over 99 %" if text == "100" and part < whole else f"{text} %"
