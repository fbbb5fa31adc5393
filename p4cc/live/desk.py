"""What the page of a run in virtual time asks, and what it is told."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from controller.install import read_ports
from p4cc.errors import UserError
from p4cc.live.asked import list_of, text_of
from p4cc.live.looks import FlowName, Looks
from p4cc.live.pace import JUMPS
from p4cc.live.table_desk import TableDesk
from p4cc.running.in_process import server_at
from p4cc.running.result_writer import arrow_table
from p4cc.running.trace_text import step_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from controller.install import PortState
    from controller.pipeline import Pipeline
    from p4cc import _engine
    from p4cc.live.moving import Mover
    from p4cc.live.network import DrawnNetwork
    from p4cc.live.record import Recorder
    from p4cc.planning.network import NetworkPlan
    from p4cc.scenario.expand import Case

MAX_TRACED = 16
"""Packets that one request follows."""
MAX_LISTED = 200
"""Flows in one answer."""


class Desk(TableDesk):
    """Answers the page (`p4cc.live.server.Watched`)."""

    def __init__(
        self,
        network: _engine.Network,
        planned: tuple[Case, NetworkPlan, Mapping[str, Pipeline]],
        shape: DrawnNetwork,
        mover: Mover,
        recorder: Recorder,
    ) -> None:
        super().__init__(planned, shape, recorder)
        self._network = network
        self._mover = mover
        self.is_finished = False
        """Whether the page asked for the rest at full speed."""
        self.looks = Looks(shape, {one["flow_id"]: _named(one) for one in self._flow_rows()})
        self._said: dict[str, Any] = {}

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
        return {
            **await super().network(),
            "case": self._mover.label,
            "kind": "virtual",
            "can": {"pause": True, "step": True, "speed": True, "finish": True, "jump": list(JUMPS),
                    "change": True, "trace": True},
        }  # fmt: skip

    async def get(self, what: str, name: str, query: Mapping[str, str]) -> dict[str, Any]:
        """An answer; raises UserError, KeyError for what nobody knows."""
        return self._flows(query) if what == "flows" else await super().get(what, name, query)

    async def post(self, what: str, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Does what is asked; raises UserError, KeyError for what nobody does."""
        match what:
            case "watch":
                return self.looks.watch(list_of(asked, "ports"), list_of(asked, "flows"))
            case "control":
                return self._control(asked)
            case "trace":
                return await self._trace(asked)
            case _:
                return await super().post(what, asked)

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

    async def _read_ports(self) -> Sequence[PortState]:
        address = next(iter(self._lines.values())).address
        return await read_ports(server_at(address), self._pipelines, self._plan.switches)

    async def _write(self, row: dict[str, Any]) -> int:
        """Writes at the next whole nanosecond."""

        async def do(_until_ps: int, _to_message: bool) -> int:
            return await self._written(row, self._network.now_ns)

        return await self._mover.ask(do, at_next_ns=True)

    def _flow_rows(self) -> Sequence[dict[str, Any]]:
        return arrow_table(self._network.flow_result().table("flows")).to_pylist()

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

    async def _trace(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        view, packets = await self._view(text_of(asked, "switch")), asked.get("packets", 3)
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


def _named(row: Mapping[str, Any]) -> FlowName:
    return FlowName(row["flow_id"], row["src"], row["dst"], row["class"] or None, row["size_bytes"])


def _state(row: Mapping[str, Any], now_ns: int) -> str:
    if row["finish_ns"] is not None:
        return "complete"
    return "waiting" if row["start_ns"] is None or row["start_ns"] > now_ns else "active"
