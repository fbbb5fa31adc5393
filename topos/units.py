"""Parses values with units: `25G`, `8us`, `1.5MB`, `150pkt`, `30%`; the results are plain numbers.

The unit that a field is kept in ends its name (`rate_bps`, `delay_ns`, `buffer.bytes`, `k_pkts`): a time given for a
rate is an error. Plain numbers stay as they are.
"""

from __future__ import annotations

import re
from fractions import Fraction

_DECIMAL = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY = {"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40}
_RATES = {
    f"{prefix}{unit}": factor
    for prefix, factor in _DECIMAL.items()
    for unit in ("bps", "bit/s", "b/s", "")
    if prefix or unit
}
_TIMES = {"ns": 1, "us": 10**3, "\u00b5s": 10**3, "\u03bcs": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9}
_SIZES = {f"{prefix}B": factor for prefix, factor in {**_DECIMAL, **_BINARY}.items()}
_PACKETS = {"pkt": 1, "pkts": 1, "packets": 1}

_KINDS = {
    "bps": ("a rate", _RATES, "25G or 25Gbps"),
    "ns": ("a time", _TIMES, "8us or 1.5ms"),
    "bytes": ("a size", _SIZES, "1500B, 1.5MB or 64KiB"),
    "pkts": ("a number of packets", _PACKETS, "150pkt"),
}
"""By the end of a field's name: what it holds, its units, an example."""

_MEGABITS = "mbps"
_TEXTS = ("title", "name", "source", "label", "class", "file", "note", "said", "cause")
"""Fields of free text, where `30%` is a word."""
_VALUE = re.compile(r"\s*([+-]?(?:\d[\d_]*)(?:\.\d+)?(?:[eE]([+-]?\d+))?)\s*([A-Za-z\u00b5\u03bc/]+|%)\s*")
MAX_DIGITS = 40
MAX_EXPONENT = 30
"""Of a value, up and down: nothing that a field holds is farther from 1."""
_SHOWN = {
    "bps": ((10**12, "Tbit/s"), (10**9, "Gbit/s"), (10**6, "Mbit/s"), (10**3, "kbit/s"), (1, "bit/s")),
    "ns": ((10**9, "s"), (10**6, "ms"), (10**3, "us"), (1, "ns")),
    "bytes": ((10**9, "GB"), (10**6, "MB"), (10**3, "kB"), (1, "B")),
    "pkts": ((1, "packets"),),
}


class UnitError(ValueError):
    """A value in a unit that its field does not have; the text says what the field holds."""


def parse(field: str, text: str) -> int | float | None:
    """The number that `text` is for a field of this name; None if it has no unit. Raises UnitError for a wrong one."""
    match = _VALUE.fullmatch(text)
    if match is None or len(text) > MAX_DIGITS:
        return None
    if abs(int(match[2] or 0)) > MAX_EXPONENT:
        raise UnitError(f"{text.strip()!r} is out of range for {field}")
    value, unit = Fraction(match[1].replace("_", "")), match[3]
    ending = _ending(field)
    if unit == "%":
        return None if ending in _TEXTS else _number(value / 100)
    if ending == _MEGABITS and unit in _RATES:
        return _number(value * _RATES[unit] / 10**6)
    if ending not in _KINDS:
        return None
    what, units, example = _KINDS[ending]
    if unit not in units:
        other = next((kind for kind, known, _ in _KINDS.values() if unit in known), None)
        message = f"{text.strip()!r} is {other}" if other else f"{unit!r} is not a unit"
        raise UnitError(f"{message}; {field} expects {what}, such as {example}")
    return _number(value * units[unit])


def held(field: str) -> tuple[str, str] | None:
    """What a field of this name holds, and examples of it with a unit; None where it has no unit."""
    result = _KINDS.get(_ending(field))
    return None if result is None else (result[0], result[2])


def shown(field: str, value: float) -> str:
    """A value of a field as people say it: `10 Gbit/s`, `8 us`; the number itself where the field has no unit."""
    units = _SHOWN.get(_ending(field), ())
    for factor, unit in units:
        if abs(value) >= factor:
            return f"{value / factor:.10g} {unit}"
    return f"{value:g} {units[-1][1]}" if units else f"{value:g}"


def _ending(field: str) -> str:
    return re.split(r"[_.]", field)[-1]


def _number(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)
