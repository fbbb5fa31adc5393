"""Records of each ACK at p4cc's senders in the kernel, as rows of a lab's windows (`p4cc-hosts watch`)."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from p4cc.errors import UserError
from p4cc.lab.processes import how_ended

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_PATIENCE_S = 30.0
_LOST = re.compile(r" records, (\d+) lost$", re.MULTILINE)
_COLUMNS = (
    *("cwnd_segments", "ssthresh_segments", "alpha", "delta", "srtt_ns", "flight_segments", "acked_bytes"),
    *("k_marks", "kdc_marks", "phase"),
)


@dataclass(frozen=True)
class AckRecords:
    """Rows of windows by flow or connection, and remarks on records that are missing."""

    rows: Sequence[dict[str, Any]]
    remarks: tuple[str, ...] = ()

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
        self.process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, start_new_session=True)
        said = self.process.stderr.readline() if self.process.stderr is not None else ""
        if said.strip() != "p4cc-hosts: watching":
            self.end()
            raise UserError(said.strip() or "p4cc-hosts watch ended", place=place, remedy="see p4cc-hosts status")

    def end(self) -> tuple[str, ...]:
        """Writes what is left; remarks on records that are missing."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            _, said = self.process.communicate(timeout=_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            return (f"records of ACKs may be missing: p4cc-hosts watch did not end in {_PATIENCE_S:g} s",)
        if self.process.returncode != 0:
            how = how_ended(self.process.returncode)
            words = f": {' '.join(said.split())}" if said.strip() else ""
            return (f"records of ACKs may be missing: p4cc-hosts watch {how}{words}",)
        # `p4cc-hosts: 5 records, 0 lost`
        found = _LOST.search(said)
        return (f"{found[1]} records of ACKs are lost",) if found is not None and int(found[1]) else ()

    def read(self, flows: Mapping[tuple[str, str], int] | None, start_ns: int) -> AckRecords:
        """Ends the process and reads its records of flows, by the ends of their connections, or of all connections.

        `start_ns` is the monotonic clock's at time 0.
        """
        remarks = self.end()
        rows: list[dict[str, Any]] = []
        with contextlib.suppress(OSError), self._file.open(encoding="utf-8") as lines:
            for line in lines:
                if not line.endswith("\n"):
                    # A killed process or a full disk cut the last one.
                    break
                record = json.loads(line)
                values = {name: record[name] for name in _COLUMNS}
                ends = (record["local"], record["remote"])
                time_ns = max(0, record["time_ns"] - start_ns)
                if flows is None:
                    rows.append({"time_ns": time_ns, "local": ends[0], "remote": ends[1], **values})
                elif ends in flows:
                    rows.append({"time_ns": time_ns, "flow": flows[ends], **values})
        return AckRecords(rows, remarks)
