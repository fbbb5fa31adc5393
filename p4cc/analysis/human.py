"""Numbers for people: the unit that suits a metric's size, and the digits that count.

The unit that a metric is kept in ends its name, or stands before a percentile (`finish_ns`, `rtt_ns_p99`).
"""

from __future__ import annotations

import json
import re
from typing import Any, cast

WIDE = 140
"""Characters of a line where there is no terminal."""

_SCALES: dict[str, tuple[tuple[float, str], ...]] = {
    "ns": ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")),
    "bps": ((1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s"), (1.0, "b/s")),
    "bytes": ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")),
}
"""Units by the ending of a metric's name, the largest first."""
_ENDING = re.compile(r"_(ns|bps|bytes)(?:_|$)")


def scale(metric: str, largest: float) -> tuple[float, str]:
    """What a metric's numbers are divided by, and their unit then, where the largest of them is `largest`."""
    ending = _ENDING.search(metric)
    if ending is None:
        return 1.0, "pkts" if re.search(r"_pkts(?:_|$)", metric) else ""
    scales = _SCALES[ending.group(1)]
    return next(((factor, unit) for factor, unit in scales if largest >= factor), scales[-1])


def heading(metric: str, unit: str) -> str:
    """A metric's name with the unit that its numbers are shown in."""
    if not unit:
        return metric
    return f"{re.sub(r'_(ns|bps|bytes|pkts)(?=_|$)', '', metric)} {unit}"


def number(value: float) -> str:
    """Four digits that count, all of a whole number."""
    if value.is_integer() and abs(value) < 1e15:
        return f"{value:.0f}"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:#.4g}".rstrip(".")


def swept(name: str, value: Any) -> str:
    """A swept value in words: in the unit that its field's name ends with, and by its fields where it is a mapping.

    20000000 of `exp_mean_ns` is `20 ms`; a mapping is the text in JSON that results keep of it.
    """
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.startswith("{") else value
        except ValueError:
            return value
    if isinstance(value, dict):
        return ", ".join(_field(key, one) for key, one in cast("dict[str, Any]", value).items())
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    factor, unit = scale(name, abs(value)) if _ENDING.search(name) else (1.0, "")
    return f"{value / factor:.10g} {unit}".rstrip()


def _field(name: str, value: Any) -> str:
    said = re.sub(r"_(ns|bps|bytes|pkts)$", "", name).replace("_", " ")
    inner = swept(name, value)
    return f"{said} ({inner})" if isinstance(value, dict) else f"{said} {inner}"
