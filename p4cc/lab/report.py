"""What a lab did: for the one who started it, and as `lab.json` in its folder.

The file is written when the lab stands and again when it ends, so that the folder of a lab that was killed says what it
was. Times of day stand here only.
"""

from __future__ import annotations

import json
import platform
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from p4cc.errors import UserError
from p4cc.running.provenance import this_p4cc
from p4cc.running.result_folder import digest

if TYPE_CHECKING:
    from p4cc.lab.agent_run import AgentRun
    from p4cc.lab.control_left import ControlLeft
    from p4cc.lab.plan import LabRequest
    from p4cc.lab.switches import Launch, ProgramSource

FILE = "lab.json"
FORMAT = "p4cc lab 1"


@dataclass
class LabReport:
    """What a lab did."""

    switches: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """Each with its program, where it listens, its device id and its log (`switch_entry`)."""
    commands: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """Shell lines with status (None: no end in time), the end of their output, and the log that has all."""
    warnings: list[str] = field(default_factory=list[str])
    failed: list[str] = field(default_factory=list[str])
    faults: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """Of the scenario, as they were made: `at_ns` of the scenario, how late, and what."""
    restarts: list[str] = field(default_factory=list[str])
    agents: AgentRun | None = None
    control: ControlLeft | None = None
    """What a controller of the user's left."""
    ports: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """Thresholds and packets by queue level of every port after the flows, as the switches count them."""
    up_s: float = 0.0
    """From the first interface to the last table entry."""

    def to_plain(self) -> dict[str, Any]:
        """For JSON."""
        plain = {name: value for name, value in vars(self).items() if name not in ("agents", "control")}
        if self.agents is not None:
            plain |= {"summary": self.agents.summary, "flows": self.agents.flows.to_dicts()}
            tables = self.agents.tables
            plain |= {name: tables[name].to_dicts() for name in ("packets_sent", "hosts") if name in tables}
        if self.control is not None:
            plain["control"] = {**self.control.summary, "rows": self.control.rows.to_dicts()}
        return {**plain, "ok": self.ok}

    @property
    def ok(self) -> bool:
        """Whether everything that was asked for went well."""
        return not self.failed and all(command["status"] == 0 for command in self.commands)


def switch_entry(launch: Launch, source: ProgramSource | None, config: str | None) -> dict[str, Any]:
    """A switch as reports have it.

    `program` names the file and its SHA-256, and what was pushed, with the files that it includes, in the lab's folder.
    None: a controller of the user's pushes one.
    """
    folder = launch.logs.parent
    program = None
    if source is not None and config is not None:
        program = {
            "file": str(source.source),
            "sha256": digest(source.source),
            "pushed": str(Path(config).relative_to(folder)),
            "pushed_sha256": digest(Path(config)),
        }
    return {
        "switch": launch.switch.name,
        "program": program,
        "address": launch.address,
        "thrift_port": launch.switch.thrift_port,
        "device_id": launch.switch.device_id,
        "log": str(log_of(launch).relative_to(folder)),
    }


def log_of(launch: Launch) -> Path:
    """Of a switch's program."""
    return launch.logs / f"{launch.switch.name}.log"


class Notes:
    """Keeps `lab.json` of one lab."""

    def __init__(self, folder: Path, request: LabRequest, report: LabReport) -> None:
        self._file = folder / FILE
        self._request = request
        self._report = report
        self._started = datetime.now(UTC)

    def write(self, ended: str | None) -> None:
        """The report so far; `ended` says how the lab did, None that it has not. Raises UserError."""
        lasted = datetime.now(UTC) - self._started
        plain = {
            "format": FORMAT,
            "p4cc": this_p4cc(),
            "command": [Path(sys.argv[0]).name, *sys.argv[1:]],
            "lab": self._request.to_plain(),
            "host": {"name": platform.node(), "system": platform.platform(), "python": platform.python_version()},
            "started": self._started.isoformat(timespec="seconds"),
            "duration_s": round(lasted.total_seconds(), 3),
            "ended": ended,
            **self._report.to_plain(),
        }
        partial = self._file.with_suffix(".json.partial")
        try:
            partial.write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")
            partial.replace(self._file)
        except OSError as error:
            cause = f"cannot be written: {error.strerror or error}"
            raise UserError(cause, place=str(self._file), remedy="free some room, or give another --out") from error
