"""Reads and changes switches for the page of any kind of run, over P4Runtime."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from pydantic import ValidationError

from controller import ControllerError
from controller.ecn import THRESHOLDS
from controller.resolve import resolve_entry
from p4cc.control.changes import write_entry
from p4cc.errors import UserError
from p4cc.live.messages import ChangeRow, NetworkMessage, TimedChange
from p4cc.live.network import thresholds_of
from p4cc.live.requests import PLACE, ChangeRequest, ThresholdRequest, invalid, parse
from p4cc.live.switches import SwitchView
from p4cc.planning.entries import entry_of
from p4cc.planning.names import Names
from p4cc.scenario.changes import TimedRow
from topos import plan_addresses

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from controller.entities import Entry
    from controller.install import PortState
    from p4cc.control.line import SwitchLine
    from p4cc.json_data import JsonObject
    from p4cc.live.messages import RunHead, Thresholds
    from p4cc.live.network import DrawnNetwork
    from p4cc.live.record import Recorder
    from p4cc.running.planned_case import PlannedCase


class TableDesk(ABC):
    """Answers the page about switches; each kind of run adds the rest (`p4cc.live.server.Backend`)."""

    def __init__(self, planned: PlannedCase, shape: DrawnNetwork, recorder: Recorder) -> None:
        self._planned = planned
        self._shape = shape
        self._recorder = recorder
        self._lines: Mapping[str, SwitchLine] = {}
        self._views: dict[str, SwitchView] = {}
        self._has_lines = asyncio.Event()

    def connected(self, lines: Mapping[str, SwitchLine]) -> None:
        """Takes the open connections to all switches."""
        self._lines = lines
        case = self._planned.case
        self._views = {name: SwitchView(line, case.source_of(name).program) for name, line in lines.items()}
        self._has_lines.set()

    @abstractmethod
    async def _read_ports(self) -> Sequence[PortState]:
        """The present state of every port; raises UserError, ControllerError."""

    @abstractmethod
    async def _write(self, row: ChangeRow) -> int:
        """Calls `_write_and_record` as soon as it may, and returns the instant; raises UserError."""

    @abstractmethod
    def _head(self) -> RunHead:
        """The page's data besides the network."""

    async def network(self) -> NetworkMessage:
        """Nodes, links and ports with their thresholds, and what the page can do; raises UserError."""
        scenario = self._planned.case.scenario
        return NetworkMessage(
            **self._head(),
            **self._shape.view(await self._thresholds()),
            title=scenario.title or scenario.name,
            scenario_file=str(self._recorder.file),
        )

    async def get(self, what: str, name: str, query: Mapping[str, str]) -> Mapping[str, object]:
        """An answer; raises UserError, KeyError for an unknown question."""
        del query
        match what:
            case "ports":
                return {"ports": await self._thresholds()}
            case "switch":
                return await (await self._view(name)).contents()
            case "changes":
                return self._changes()
            case _:
                raise KeyError(what)

    async def post(self, what: str, body: JsonObject) -> Mapping[str, object]:
        """Obeys a request; raises UserError, KeyError for an unknown one."""
        match what:
            case "change":
                request = parse(ChangeRequest, body)
                return await self._change((await self._view(request.switch)).change_row(request))
            case "thresholds":
                return await self._change(await self._threshold_row(parse(ThresholdRequest, body)))
            case _:
                raise KeyError(what)

    async def _thresholds(self) -> list[Thresholds]:
        await self._has_lines.wait()
        try:
            states = await self._read_ports()
        except ControllerError as error:
            raise UserError(error.cause, place=error.place, remedy=error.remedy) from error
        return thresholds_of(self._shape, states)

    async def _view(self, name: str) -> SwitchView:
        await self._has_lines.wait()
        view = self._views.get(name)
        if view is None:
            listed = ", ".join(list(self._views)[:10])
            raise UserError(f"there is no switch {name[:60]!r}", place=PLACE, remedy=f"switches: {listed}")
        return view

    def _changes(self) -> Mapping[str, object]:
        rows = [{"at_ns": row["at_ns"], "switch": row["switch"], "what": _text(row)} for row in self._recorder.rows]
        text = self._recorder.text()
        return {"changes": rows, "scenario": text, "file": str(self._recorder.file) if text is not None else None}

    async def _threshold_row(self, request: ThresholdRequest) -> ChangeRow:
        """The row for K and K_dc of a port; raises UserError."""
        name, number = request.switch, request.port
        plan = (await self._view(name)).line.plan
        ports = {(port.switch, port.port): place for place, port in enumerate(self._shape.ports)}
        place = ports.get((name, number))
        if place is None or not plan.marks:
            cause = f"{name} has no port {number} with thresholds"
            raise UserError(cause, place="thresholds", remedy="choose a port that is shown, of a switch that marks")
        now = (await self._thresholds())[place]
        k = now["k_pkts"] if request.k_pkts is None else request.k_pkts
        k_dc = now["k_dc_pkts"] if request.k_dc_pkts is None else request.k_dc_pkts
        if k is None or k_dc is None:
            raise UserError("the port has no thresholds yet", place="thresholds", remedy="give both K and K_dc")
        table = plan.roles.table(THRESHOLDS)
        action, units = table.actions["set_thresholds"], plan.cells.get(number, 1)
        return {
            "switch": name,
            "table": table.name,
            "match": {table.keys["egress_port"].name: number},
            "action": action.name,
            "params": {action.params["k"].name: k * units, action.params["k_dc"].name: k_dc * units},
        }

    async def _change(self, row: ChangeRow) -> Mapping[str, object]:
        """Writes an entry; raises UserError."""
        self._entry(row, 0)
        at_ns = await self._write(row)
        return {"at_ns": at_ns, "written": _text(row)}

    async def _write_and_record(self, row: ChangeRow, at_ns: int) -> int:
        """Writes an entry now, and a row with this instant into the new scenario; raises UserError."""
        await write_entry(self._lines[row["switch"]], self._entry(row, at_ns), PLACE)
        self._recorder.add(TimedChange(at_ns=at_ns, **row))
        return at_ns

    def _entry(self, row: ChangeRow, at_ns: int) -> Entry:
        """The entry of a row, resolved as in a scenario; raises UserError."""
        topology = self._planned.plan.topology
        try:
            timed = TimedRow.model_validate({**row, "at_ns": at_ns})
            names = Names(topology, plan_addresses(topology), row["switch"])
            return resolve_entry(entry_of(timed, names, PLACE), self._planned.pipelines[row["switch"]].schema)
        except ValidationError as error:
            raise invalid(error, "correct the value") from error
        except ControllerError as error:
            raise UserError(error.cause, place=error.place, remedy=error.remedy) from error


def _text(row: ChangeRow) -> str:
    """A change in one line."""
    match = ", ".join(f"{key}={value}" for key, value in row.get("match", {}).items())
    of = "default action" if row.get("default") else match
    params = ", ".join(f"{name}={value}" for name, value in row["params"].items())
    return f"{row['table']}[{of}]: {row['action']}({params})"
