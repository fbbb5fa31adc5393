"""Numbers in texts for people: the digits that count, never as a power of ten."""

from __future__ import annotations

from decimal import Decimal


def digits(value: float, count: int = 3) -> str:
    """A number with so many digits that count: `100`, not `1e+02`."""
    text = f"{Decimal(f'{value:.{count - 1}e}'):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(part: float, whole: float, count: int = 2) -> str:
    """A part of a whole in per cent; only all of it is 100 %."""
    text = digits(100 * part / whole, count)
    return "over 99 %" if text == "100" and part < whole else f"{text} %"
