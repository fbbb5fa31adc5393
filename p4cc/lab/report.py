"""The report of a lab, also written as `lab.json` into its folder.

The file is written when the lab is up and again when it ends, so that the folder of a killed lab says what it was. No
other file of a lab contains times of day.
"""

from __future__ import annotations

import json
import platform
import sys
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

from p4cc.errors import UserError
from p4cc.running.provenance import this_p4cc
from p4cc.running.result_folder import digest

if TYPE_CHECKING:
    from controller.install import PortState
    from p4cc.json_data import JsonValue
    from p4cc.lab.agent_run import AgentRun
    from p4cc.lab.control_result import ControlResult
    from p4cc.lab.plan import LabRequest
    from p4cc.lab.shell import CommandReport
    from p4cc.lab.switches import Launch, ProgramSource

FILE = "lab.json"
FORMAT = "p4cc lab 1"


class ProgramReport(TypedDict):
    """The program of a switch, and the file of the lab's folder that was pushed."""

    file: str
    sha256: str
    pushed: str
    pushed_sha256: str


class SwitchReport(TypedDict):
    """A switch of a lab; the two last fields are known once p4cc's controller has installed it."""

    switch: str
    program: ProgramReport | None
    """None: the user's controller pushes one."""
    address: str
    thrift_port: int | None
    device_id: int
    log: str
    pipeline_pushed: NotRequired[JsonValue]
    updates_written: NotRequired[JsonValue]


class FaultReport(TypedDict):
    """A fault of the scenario as it was made."""

    at_ns: int
    late_ns: int
    what: str


@dataclass
class LabReport:
    """The report of a lab."""

    switches: list[SwitchReport] = field(default_factory=list["SwitchReport"])
    commands: list[CommandReport] = field(default_factory=list["CommandReport"])
    warnings: list[str] = field(default_factory=list[str])
    failed: list[str] = field(default_factory=list[str])
    faults: list[FaultReport] = field(default_factory=list["FaultReport"])
    restarts: list[str] = field(default_factory=list[str])
    agents: AgentRun | None = None
    control: ControlResult | None = None
    """The report of the user's controller."""
    ports: list[PortState] = field(default_factory=list["PortState"])
    """Every port after the flows."""
    connections: list[dict[str, Any]] = field(default_factory=list["dict[str, Any]"])
    """Of commands over p4cc's senders in the kernel: what each end counted."""
    up_s: float = 0.0
    """From the first interface to the last table entry."""

    def to_plain(self) -> dict[str, object]:
        """For JSON."""
        plain = {name: value for name, value in vars(self).items() if name not in ("agents", "control")}
        plain["ports"] = [asdict(port) for port in self.ports]
        if self.agents is not None:
            plain |= {"summary": self.agents.summary, "flows": self.agents.flows.to_dicts()}
            tables = self.agents.tables
            plain |= {name: tables[name].to_dicts() for name in ("packets_sent", "hosts") if name in tables}
        if self.control is not None:
            plain["control"] = {**self.control.summary, "rows": self.control.rows.to_dicts()}
        return {**plain, "ok": self.ok}

    @property
    def ok(self) -> bool:
        """Whether everything went well."""
        return not self.failed and all(command["status"] == 0 for command in self.commands)


def switch_report(launch: Launch, source: ProgramSource | None, config: str | None) -> SwitchReport:
    """A switch that has just answered."""
    folder = launch.logs.parent
    program = None
    if source is not None and config is not None:
        program = ProgramReport(
            file=str(source.source),
            sha256=digest(source.source),
            pushed=str(Path(config).relative_to(folder)),
            pushed_sha256=digest(Path(config)),
        )
    return SwitchReport(
        switch=launch.switch.name,
        program=program,
        address=launch.address,
        thrift_port=launch.switch.thrift_port,
        device_id=launch.switch.device_id,
        log=str(log_of(launch).relative_to(folder)),
    )


def log_of(launch: Launch) -> Path:
    """The log of a switch's program."""
    return launch.logs / f"{launch.switch.name}.log"


class Notes:
    """Keeps `lab.json` of one lab."""

    def __init__(self, folder: Path, request: LabRequest, report: LabReport) -> None:
        self._file = folder / FILE
        self._request = request
        self._report = report
        self._started = datetime.now(UTC)

    def write(self, ended: str | None) -> None:
        """Writes the report so far; `ended` says how the lab ended, None that it is up. Raises UserError."""
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
