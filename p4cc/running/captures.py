"""Captures of runs as files: `pcap/CASE-seed-N/NODE-PORT.pcapng`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from p4cc.planning.hosts import some

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from p4cc import _engine
    from p4cc.running.cached_run import SeedRun

FOLDER = "pcap"
FILES = f"{FOLDER}/*/*.pcapng"
_MAX_NAME = 100
"""Number of characters of a case's name in its folder's name."""


class CaptureWriter:
    """Writes the captures of runs, each to a separate folder."""

    def __init__(self, folder: Path) -> None:
        """`folder` is the results folder."""
        self._folder = folder / FOLDER
        self._names: dict[str, str] = {}

    def add(self, label: str, seed: int, captures: Mapping[str, bytes]) -> None:
        """Writes the captures of a run of the case with this label, if any."""
        if not captures:
            return
        place = self._folder / f"{self._name(label)}-seed-{seed}"
        place.mkdir(parents=True, exist_ok=True)
        for name, data in captures.items():
            (place / f"{name}.pcapng").write_bytes(data)

    def _name(self, label: str) -> str:
        """A folder name for a label; different labels get different names."""
        if label not in self._names:
            plain = re.sub(r"[^A-Za-z0-9._=+,-]+", "_", label)[:_MAX_NAME]
            number = sum(name.partition("~")[0] == plain for name in self._names.values())
            self._names[label] = f"{plain}~{number + 1}" if number else plain
        return self._names[label]


def engine_captures(result: _engine.RunResult) -> dict[str, bytes]:
    """Files of a run by name: node, then port (0 for a host), so that names are unique."""
    return {f"{node}-{port}": data for node, port, data in result.captures()}


def limit_warning(label: str, max_bytes: int, run: SeedRun) -> Iterator[str]:
    """The warning about a run whose captures ended before it did."""
    table: Mapping[str, list[object]] = run.tables["captures"].to_pydict()
    rows = zip(*(table[name] for name in ("node", "port", "captured_pkts", "left_out_pkts")), strict=True)
    ended = [f"{node}:{port} ({left:,} after {kept:,})" for node, port, kept, left in rows if left]
    if ended:
        yield (
            f"case {label} seed {run.seed}: {len(ended)} captures ended at record.pcap_max_bytes "
            f"({max_bytes / 1e6:g} MB) and left out packets: {some(ended)}; raise it, or lower record.pcap_snap_bytes"
        )
