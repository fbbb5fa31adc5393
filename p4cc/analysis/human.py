"""Numbers for people: suitable units, and significant digits.

A metric's name has its unit at the end or before a percentile (`finish_ns`, `rtt_ns_p99`).
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from p4cc.json_data import JsonValue

WIDE = 140
"""Line width without a terminal."""

_SCALES: dict[str, tuple[tuple[float, str], ...]] = {
    "ns": ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")),
    "bps": ((1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s"), (1.0, "b/s")),
    "bytes": ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")),
}
"""Units by suffix of a metric's name, the largest first."""
_ENDING = re.compile(r"_(ns|bps|bytes)(?:_|$)")


def scale(metric: str, largest: float) -> tuple[float, str]:
    """The divisor and unit for a metric whose largest number is `largest`."""
    ending = _ENDING.search(metric)
    if ending is None:
        return 1.0, "pkts" if re.search(r"_pkts(?:_|$)", metric) else ""
    scales = _SCALES[ending.group(1)]
    return next(((factor, unit) for factor, unit in scales if largest >= factor), scales[-1])


def heading(metric: str, unit: str) -> str:
    """A metric's name with its unit."""
    if not unit:
        return metric
    return f"{re.sub(r'_(ns|bps|bytes|pkts)(?=_|$)', '', metric)} {unit}"


def number(value: float) -> str:
    """Four significant digits, or all digits of a whole number."""
    if value.is_integer() and abs(value) < 1e15:
        return f"{value:.0f}"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:#.4g}".rstrip(".")


def swept(name: str, value: JsonValue) -> str:
    """A swept value in words: with its field's unit, and by fields if it is a mapping.

    20000000 of `exp_mean_ns` is `20 ms`; a mapping is passed as its JSON text in the results.
    """
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.startswith("{") else value
        except ValueError:
            return value
    if isinstance(value, dict):
        return ", ".join(_field(key, one) for key, one in value.items())
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    factor, unit = scale(name, abs(value)) if _ENDING.search(name) else (1.0, "")
    return f"{value / factor:.10g} {unit}".rstrip()


def _field(name: str, value: JsonValue) -> str:
    words = re.sub(r"_(ns|bps|bytes|pkts)$", "", name).replace("_", " ")
    inner = swept(name, value)
    return f"{words} ({inner})" if isinstance(value, dict) else f"{words} {inner}"
