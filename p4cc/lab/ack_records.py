"""Records of each ACK at p4cc's senders in the kernel, as rows of a lab's windows (`p4cc-hosts watch`)."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from p4cc.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_PATIENCE_S = 30.0
_COLUMNS = (
    *("cwnd_segments", "ssthresh_segments", "alpha", "delta", "srtt_ns", "flight_segments", "acked_bytes"),
    *("k_marks", "kdc_marks", "phase"),
)


@dataclass(frozen=True)
class AckRecords:
    """Rows of windows by flow or connection, and how many records the kernel had no room for."""

    rows: Sequence[dict[str, Any]]
    lost: int

    @property
    def flows(self) -> set[int]:
        """Flows with records."""
        return {row["flow"] for row in self.rows}


class Watch:
    """A process that writes what watched senders record."""

    def __init__(self, program: Sequence[str], file: Path, place: str) -> None:
        """Returns once records count; raises UserError."""
        self._file = file
        words = [*program, "watch", "--output", str(file)]
        self._process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, start_new_session=True)
        said = self._process.stderr.readline() if self._process.stderr is not None else ""
        if said.strip() != "p4cc-hosts: watching":
            self.end()
            raise UserError(said.strip() or "p4cc-hosts watch ended", place=place, remedy="see p4cc-hosts status")

    def end(self) -> int:
        """Writes what is left; the number of lost records."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            _, said = self._process.communicate(timeout=_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
            return 0
        # `p4cc-hosts: 5 records, 0 lost`
        words = said.split()
        return int(words[3]) if len(words) == 5 and words[3].isdigit() else 0

    def read(self, flows: Mapping[tuple[str, str], int] | None, start_ns: int) -> AckRecords:
        """Ends the process and reads its records of flows, by the ends of their connections, or of all connections.

        `start_ns` is the monotonic clock's at time 0.
        """
        lost = self.end()
        rows: list[dict[str, Any]] = []
        with contextlib.suppress(OSError), self._file.open(encoding="utf-8") as lines:
            for line in lines:
                record = json.loads(line)
                values = {name: record[name] for name in _COLUMNS}
                ends = (record["local"], record["remote"])
                time_ns = max(0, record["time_ns"] - start_ns)
                if flows is None:
                    rows.append({"time_ns": time_ns, "local": ends[0], "remote": ends[1], **values})
                elif ends in flows:
                    rows.append({"time_ns": time_ns, "flow": flows[ends], **values})
        return AckRecords(rows, lost)
