"""What the page of a watched run asks, and what it is told."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from controller import ControllerError, program
from controller.install import read_ports
from controller.runtime import find_named, to_entities
from p4cc.control.changes import write_entry
from p4cc.errors import UserError
from p4cc.live.looks import FlowName, Looks
from p4cc.live.network import thresholds_of
from p4cc.live.pace import JUMPS
from p4cc.live.switches import SwitchView
from p4cc.planning.entries import entry_of
from p4cc.planning.names import Names
from p4cc.running.in_process import server_at
from p4cc.running.result_writer import engine_table
from p4cc.running.trace_text import step_text
from p4cc.scenario.changes import TimedRow
from topos import plan_addresses
from topos.loaders.runtime import Runtime

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from finsy.proto import p4r

    from controller.pipeline import Pipeline
    from p4cc import _engine
    from p4cc.control.line import SwitchLine
    from p4cc.live.moving import Mover
    from p4cc.live.network import DrawnNetwork
    from p4cc.live.record import Recorder
    from p4cc.planning.network import NetworkPlan
    from p4cc.scenario.expand import Case

MAX_TRACED = 16
"""Packets that one request follows."""
MAX_LISTED = 200
"""Flows in one answer."""
_PLACE = "live page"


class Desk:
    """Answers the page (`p4cc.live.server.Watched`)."""

    def __init__(
        self,
        network: _engine.Network,
        planned: tuple[Case, NetworkPlan, Mapping[str, Pipeline]],
        shape: DrawnNetwork,
        mover: Mover,
        recorder: Recorder,
    ) -> None:
        self._network = network
        self._case, self._plan, self._pipelines = planned
        self._shape = shape
        self._mover = mover
        self._recorder = recorder
        self._lines: Mapping[str, SwitchLine] = {}
        self._views: dict[str, SwitchView] = {}
        self._has_lines = asyncio.Event()
        self.is_finished = False
        """Whether the page asked for the rest at full speed."""
        self.looks = Looks(shape, {one["flow_id"]: _named(one) for one in self._flow_rows()})
        self._said: dict[str, Any] = {}

    def connected(self, lines: Mapping[str, SwitchLine]) -> None:
        """Has the connections to all switches from here on."""
        self._lines = lines
        self._views = {name: SwitchView(line, self._case.source_of(name).program) for name, line in lines.items()}
        self._has_lines.set()

    def say(self) -> dict[str, Any]:
        """The next message."""
        self._said = self.looks.message(self._mover.pace.told())
        return self._said

    def latest(self) -> dict[str, Any]:
        """The newest message with the whole history."""
        # Time may have begun to pass since.
        return self.looks.with_history({**(self._said or self.say()), **self._mover.pace.told()})

    async def network(self) -> dict[str, Any]:
        """Nodes, links and ports with their thresholds, and what can be done; raises UserError."""
        scenario = self._case.scenario
        return {
            "title": scenario.title or scenario.name,
            "case": self._mover.label,
            "kind": "virtual",
            "stop_ns": scenario.stop_ns,
            **self._shape.plain(await self._thresholds()),
            "can": {"pause": True, "step": True, "speed": True, "finish": True, "jump": list(JUMPS),
                    "change": True, "trace": True},
            "scenario_file": str(self._recorder.file),
        }  # fmt: skip

    async def get(self, what: str, name: str, query: Mapping[str, str]) -> dict[str, Any]:
        """An answer; raises UserError, KeyError for what nobody knows."""
        match what:
            case "flows":
                return self._flows(query)
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
            case "watch":
                return self.looks.watch(_list(asked, "ports"), _list(asked, "flows"))
            case "control":
                return self._control(asked)
            case "trace":
                return await self._trace(asked)
            case "change":
                view = await self._view(_text(asked, "switch"))
                row = view.changed_row(_text(asked, "entry"), _text(asked, "action"), _mapping(asked, "params"))
                return await self._change(row)
            case "thresholds":
                return await self._change(await self._threshold_row(asked))
            case _:
                raise KeyError(what)

    def _control(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        pace = self._mover.pace
        if asked.get("do") != "finish":
            pace.ask(asked, self._network.now_ps)
            return {"state": pace.state}
        self.is_finished = True
        if not pace.is_over:
            pace.speed = None
            pace.ask({"do": "run"}, self._network.now_ps)
        return {"state": pace.state}

    async def _thresholds(self) -> list[dict[str, int | None]]:
        await self._has_lines.wait()
        address = next(iter(self._lines.values())).address
        try:
            states = await read_ports(server_at(address), self._pipelines, self._plan.switches)
        except ControllerError as error:
            raise UserError(error.cause, place=error.place, remedy=error.remedy) from error
        return thresholds_of(self._shape, states)

    async def _view(self, name: str) -> SwitchView:
        await self._has_lines.wait()
        view = self._views.get(name)
        if view is None:
            listed = ", ".join(list(self._views)[:10])
            raise UserError(f"there is no switch {name[:60]!r}", place=_PLACE, remedy=f"switches: {listed}")
        return view

    def _flow_rows(self) -> Sequence[dict[str, Any]]:
        return engine_table(self._network.flow_result(), "flows").to_pylist()

    def _flows(self, query: Mapping[str, str]) -> dict[str, Any]:
        sought, now_ns = query.get("search", "").strip().lower(), self._network.now_ns
        limit = query.get("limit", "50")
        most = min(int(limit), MAX_LISTED) if limit.isdecimal() and len(limit) < 6 else 50
        found: list[dict[str, Any]] = []
        for row in self._flow_rows():
            words = f"{row['flow_id']} {row['src']} {row['dst']} {row['class']}".lower()
            if sought in words:
                found.append(row)
        listed = [
            {
                **vars(_named(row)),
                "acked_bytes": row["acked_bytes"],
                "state": _state(row, now_ns),
            }
            for row in found[:most]
        ]
        return {"flows": listed, "total": len(found)}

    def _changes(self) -> dict[str, Any]:
        made = [{"at_ns": row["at_ns"], "switch": row["switch"], "what": _told(row)} for row in self._recorder.rows]
        text = self._recorder.text()
        return {"changes": made, "scenario": text, "file": str(self._recorder.file) if text is not None else None}

    async def _trace(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        view, packets = await self._view(_text(asked, "switch")), asked.get("packets", 3)
        if isinstance(packets, bool) or not isinstance(packets, int) or not 1 <= packets <= MAX_TRACED:
            raise UserError(f"{packets!r} packets", place="trace", remedy=f"give 1 to {MAX_TRACED}")
        lines = await self._mover.follow(view.line.plan.device_id, packets)
        found: dict[int, dict[str, Any]] = {}
        for step in map(json.loads, lines):
            packet = found.setdefault(
                step["packet"], {"number": step["packet"], "time_ns": step["time_ns"], "steps": [], "at": None}
            )
            if step["time_ns"] != packet["at"]:
                packet["at"] = step["time_ns"]
                packet["steps"].append({"text": f"at {step['time_ns']:,} ns", "is_heading": True})
            packet["steps"].append({"text": step_text(step), "is_heading": False})
        plain = [{key: value for key, value in one.items() if key != "at"} for one in found.values()]
        why = None if len(plain) >= packets else "no more packets were through, or the controller was due first"
        return {"packets": plain, "why": why}

    async def _threshold_row(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """A row of `changes`, without its time, for K and K_dc of a port; raises UserError."""
        name, number = _text(asked, "switch"), asked.get("port")
        plan = (await self._view(name)).line.plan
        ports = {(one.switch, one.port): place for place, one in enumerate(self._shape.ports)}
        place = ports.get((name, number)) if isinstance(number, int) else None
        if place is None or not plan.marks:
            cause = f"{name} has no port {number!r} with thresholds"
            raise UserError(cause, place="thresholds", remedy="choose a port that is shown, of a switch that marks")
        now = (await self._thresholds())[place]
        k, k_dc = (asked.get(key) if asked.get(key) is not None else now[key] for key in ("k_pkts", "k_dc_pkts"))
        if k is None or k_dc is None:
            raise UserError("the port has no thresholds yet", place="thresholds", remedy="give both K and K_dc")
        schema = self._pipelines[name].schema
        table = find_named(plan.name_of(program.THRESHOLDS), schema.tables, "table", "thresholds")
        (key,) = table.match_fields
        return {
            "switch": name,
            "table": table.name,
            "match": {key.name: number},
            "action": plan.name_of(program.SET_THRESHOLDS),
            "params": {"k": k, "k_dc": k_dc},
        }

    async def _change(self, row: dict[str, Any]) -> dict[str, Any]:
        """Writes an entry at the next whole nanosecond, and writes it down; raises UserError."""
        self._entity(row, 0)

        async def do(_until_ps: int, _to_message: bool) -> int:
            at_ns = self._network.now_ns
            await write_entry(self._lines[row["switch"]], self._entity(row, at_ns), _PLACE)
            self._recorder.add({"at_ns": at_ns, **row})
            return at_ns

        at_ns = await self._mover.ask(do, at_next_ns=True)
        return {"at_ns": at_ns, "written": _told(row)}

    def _entity(self, row: dict[str, Any], at_ns: int) -> p4r.Entity:
        """The message of a row, made as a scenario's is; raises UserError."""
        try:
            timed = TimedRow.model_validate({**row, "at_ns": at_ns})
            names = Names(self._plan.topology, plan_addresses(self._plan.topology), row["switch"])
            entry = entry_of(timed, names, _PLACE)
            (entity,) = to_entities(Runtime(entries=(entry,)), self._pipelines[row["switch"]].schema)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(step) for step in first["loc"])
            raise UserError(first["msg"], place=f"{_PLACE}: {where}", remedy="correct the value") from error
        except ControllerError as error:
            raise UserError(error.cause, place=error.place, remedy=error.remedy) from error
        return entity


def _named(row: Mapping[str, Any]) -> FlowName:
    return FlowName(row["flow_id"], row["src"], row["dst"], row["class"] or None, row["size_bytes"])


def _state(row: Mapping[str, Any], now_ns: int) -> str:
    if row["finish_ns"] is not None:
        return "complete"
    return "waiting" if row["start_ns"] is None or row["start_ns"] > now_ns else "active"


def _told(row: Mapping[str, Any]) -> str:
    """A change in one line."""
    of = "default action" if row.get("default") else ", ".join(f"{key}={value}" for key, value in row["match"].items())
    params = ", ".join(f"{name}={value}" for name, value in row["params"].items())
    return f"{row['table']}[{of}]: {row['action']}({params})"


def _text(asked: Mapping[str, Any], key: str) -> str:
    value = asked.get(key)
    if not isinstance(value, str) or not 0 < len(value) <= 256:
        raise UserError(f"{key} is no name", place=_PLACE, remedy=f"give {key} as text")
    return value


def _list(asked: Mapping[str, Any], key: str) -> Sequence[Any]:
    value = asked.get(key, [])
    if not isinstance(value, list):
        raise UserError(f"{key} is no list", place=_PLACE, remedy="give numbers")
    return value  # pyright: ignore[reportUnknownVariableType]


def _mapping(asked: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = asked.get(key, {})
    if not isinstance(value, dict):
        raise UserError(f"{key} is no object", place=_PLACE, remedy="give values by name")
    return value  # pyright: ignore[reportUnknownVariableType]
