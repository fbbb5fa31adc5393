"""What pages of every kind of run ask of switches: what they hold, and changes of it, over P4Runtime."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from controller import ControllerError
from controller.ecn import THRESHOLDS
from controller.resolve import resolve_entry
from p4cc.control.changes import write_entry
from p4cc.errors import UserError
from p4cc.live.asked import PLACE, mapping_of, number_of, text_of
from p4cc.live.network import thresholds_of
from p4cc.live.switches import SwitchView
from p4cc.planning.entries import entry_of
from p4cc.planning.names import Names
from p4cc.scenario.changes import TimedRow
from topos import plan_addresses

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from controller.entities import Entry
    from controller.install import PortState
    from controller.pipeline import Pipeline
    from p4cc.control.line import SwitchLine
    from p4cc.live.network import DrawnNetwork
    from p4cc.live.record import Recorder
    from p4cc.planning.network import NetworkPlan
    from p4cc.scenario.expand import Case


class TableDesk(ABC):
    """Answers the page as far as switches go; a kind of run adds the rest (`p4cc.live.server.Watched`)."""

    def __init__(
        self, planned: tuple[Case, NetworkPlan, Mapping[str, Pipeline]], shape: DrawnNetwork, recorder: Recorder
    ) -> None:
        self._case, self._plan, self._pipelines = planned
        self._shape = shape
        self._recorder = recorder
        self._lines: Mapping[str, SwitchLine] = {}
        self._views: dict[str, SwitchView] = {}
        self._has_lines = asyncio.Event()

    def connected(self, lines: Mapping[str, SwitchLine]) -> None:
        """Has the connections to all switches from here on."""
        self._lines = lines
        self._views = {name: SwitchView(line, self._case.source_of(name).program) for name, line in lines.items()}
        self._has_lines.set()

    @abstractmethod
    async def _read_ports(self) -> Sequence[PortState]:
        """Every port as its switch has it now; raises UserError, ControllerError."""

    @abstractmethod
    async def _write(self, row: dict[str, Any]) -> int:
        """Writes a row of `changes` (`_written`) when that may be; the instant. Raises UserError."""

    async def network(self) -> dict[str, Any]:
        """Nodes, links and ports with their thresholds, and what can be done; raises UserError."""
        scenario = self._case.scenario
        return {
            "title": scenario.title or scenario.name,
            "stop_ns": scenario.stop_ns,
            **self._shape.plain(await self._thresholds()),
            "scenario_file": str(self._recorder.file),
        }

    async def get(self, what: str, name: str, query: Mapping[str, str]) -> dict[str, Any]:
        """An answer; raises UserError, KeyError for what nobody knows."""
        del query
        match what:
            case "ports":
                return {"ports": await self._thresholds()}
            case "switch":
                return await (await self._view(name)).plain()
            case "changes":
                return self._changes()
            case _:
                raise KeyError(what)

    async def post(self, what: str, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Does what is asked; raises UserError, KeyError for what nobody does."""
        match what:
            case "change":
                view = await self._view(text_of(asked, "switch"))
                row = view.changed_row(text_of(asked, "entry"), text_of(asked, "action"), mapping_of(asked, "params"))
                return await self._change(row)
            case "thresholds":
                return await self._change(await self._threshold_row(asked))
            case _:
                raise KeyError(what)

    async def _thresholds(self) -> list[dict[str, int | None]]:
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

    def _changes(self) -> dict[str, Any]:
        made = [{"at_ns": row["at_ns"], "switch": row["switch"], "what": _told(row)} for row in self._recorder.rows]
        text = self._recorder.text()
        return {"changes": made, "scenario": text, "file": str(self._recorder.file) if text is not None else None}

    async def _threshold_row(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """A row of `changes`, without its time, for K and K_dc of a port; raises UserError."""
        name, number = text_of(asked, "switch"), number_of(asked, "port")
        plan = (await self._view(name)).line.plan
        ports = {(one.switch, one.port): place for place, one in enumerate(self._shape.ports)}
        place = None if number is None else ports.get((name, number))
        if number is None or place is None or not plan.marks:
            cause = f"{name} has no port {number!r} with thresholds"
            raise UserError(cause, place="thresholds", remedy="choose a port that is shown, of a switch that marks")
        now = (await self._thresholds())[place]
        given = {key: number_of(asked, key) for key in ("k_pkts", "k_dc_pkts")}
        k, k_dc = (now[key] if value is None else value for key, value in given.items())
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

    async def _change(self, row: dict[str, Any]) -> dict[str, Any]:
        """Writes an entry; raises UserError."""
        self._entry(row, 0)
        at_ns = await self._write(row)
        return {"at_ns": at_ns, "written": _told(row)}

    async def _written(self, row: dict[str, Any], at_ns: int) -> int:
        """Writes a row of `changes` now, and writes it down with this instant; raises UserError."""
        await write_entry(self._lines[row["switch"]], self._entry(row, at_ns), PLACE)
        self._recorder.add({"at_ns": at_ns, **row})
        return at_ns

    def _entry(self, row: dict[str, Any], at_ns: int) -> Entry:
        """The entry of a row, made as a scenario's is; raises UserError."""
        try:
            timed = TimedRow.model_validate({**row, "at_ns": at_ns})
            names = Names(self._plan.topology, plan_addresses(self._plan.topology), row["switch"])
            return resolve_entry(entry_of(timed, names, PLACE), self._pipelines[row["switch"]].schema)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(step) for step in first["loc"])
            raise UserError(first["msg"], place=f"{PLACE}: {where}", remedy="correct the value") from error
        except ControllerError as error:
            raise UserError(error.cause, place=error.place, remedy=error.remedy) from error


def _told(row: Mapping[str, Any]) -> str:
    """A change in one line."""
    of = "default action" if row.get("default") else ", ".join(f"{key}={value}" for key, value in row["match"].items())
    params = ", ".join(f"{name}={value}" for name, value in row["params"].items())
    return f"{row['table']}[{of}]: {row['action']}({params})"
