"""Answers the page of a run in virtual time."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from controller.install import read_ports
from p4cc.live.looks import FlowName, Looks
from p4cc.live.messages import Abilities, LookMessage, RunHead
from p4cc.live.packets import packet_traces
from p4cc.live.requests import CONTROL, JumpTarget, PaceRequest, TraceRequest, WatchRequest, parse
from p4cc.live.table_desk import TableDesk
from p4cc.running.in_process import server_at
from p4cc.running.result_writer import arrow_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from controller.install import PortState
    from p4cc import _engine
    from p4cc.json_data import JsonObject
    from p4cc.live.messages import ChangeRow
    from p4cc.live.mover import Mover
    from p4cc.live.network import DrawnNetwork
    from p4cc.live.record import Recorder
    from p4cc.running.planned_case import PlannedCase

MAX_LISTED = 200
"""Flows in one answer."""


@dataclass(frozen=True)
class FlowState:
    """A flow at an instant."""

    name: FlowName
    start_ns: int | None
    finish_ns: int | None
    acked_bytes: int

    def matches(self, text: str) -> bool:
        """Whether a search finds it."""
        name = self.name
        return text in f"{name.flow_id} {name.src} {name.dst} {name.label or ''}".lower()

    def listed(self, now_ns: int) -> dict[str, int | str | None]:
        """As the page lists it."""
        state = "waiting" if self.start_ns is None or self.start_ns > now_ns else "active"
        if self.finish_ns is not None:
            state = "complete"
        return {**vars(self.name), "acked_bytes": self.acked_bytes, "state": state}


class Desk(TableDesk):
    """Answers the page (`p4cc.live.server.Backend`)."""

    def __init__(
        self, network: _engine.Network, planned: PlannedCase, shape: DrawnNetwork, mover: Mover, recorder: Recorder
    ) -> None:
        super().__init__(planned, shape, recorder)
        self._network = network
        self._mover = mover
        self.is_finished = False
        """Whether the page asked for the rest at full speed."""
        self.looks = Looks(shape, {flow.name.flow_id: flow.name for flow in self._flow_states()})
        self._message: LookMessage | None = None

    def next_message(self) -> LookMessage:
        """Changes since the last message."""
        self._message = self.looks.message(self._mover.pace.status())
        return self._message

    def latest(self) -> LookMessage:
        """The newest message with the whole history."""
        # Time may have begun to pass since.
        return self.looks.with_history({**(self._message or self.next_message()), **self._mover.pace.status()})

    def _head(self) -> RunHead:
        can = Abilities(
            pause=True, step=True, speed=True, finish=True, jump=get_args(JumpTarget), change=True, trace=True
        )
        return RunHead(case=self._mover.label, kind="virtual", stop_ns=self._planned.case.scenario.stop_ns, can=can)

    async def get(self, what: str, name: str, query: Mapping[str, str]) -> Mapping[str, object]:
        """An answer; raises UserError, KeyError for an unknown question."""
        return self._flows(query) if what == "flows" else await super().get(what, name, query)

    async def post(self, what: str, body: JsonObject) -> Mapping[str, object]:
        """Obeys a request; raises UserError, KeyError for an unknown one."""
        match what:
            case "watch":
                return self.looks.watch(parse(WatchRequest, body))
            case "control":
                return self._control(body)
            case "trace":
                return await self._trace(parse(TraceRequest, body))
            case _:
                return await super().post(what, body)

    def _control(self, body: JsonObject) -> dict[str, str]:
        pace, request = self._mover.pace, parse(CONTROL, body)
        if isinstance(request, PaceRequest) and request.do == "finish":
            self.is_finished = True
            pace.speed = None
            if pace.is_over:
                return {"state": pace.state}
        pace.take(request, self._network.now_ps)
        return {"state": pace.state}

    async def _read_ports(self) -> Sequence[PortState]:
        address = next(iter(self._lines.values())).address
        return await read_ports(server_at(address), self._planned.pipelines, self._planned.plan.switches)

    async def _write(self, row: ChangeRow) -> int:
        """Writes at the next whole nanosecond."""

        async def write(_until_ps: int, _to_message: bool) -> int:
            return await self._write_and_record(row, self._network.now_ns)

        return await self._mover.call(write, at_next_ns=True)

    def _flow_states(self) -> list[FlowState]:
        return [
            FlowState(
                FlowName(row["flow_id"], row["src"], row["dst"], row["class"] or None, row["size_bytes"]),
                row["start_ns"],
                row["finish_ns"],
                row["acked_bytes"],
            )
            for row in arrow_table(self._network.flow_result().table("flows")).to_pylist()
        ]

    def _flows(self, query: Mapping[str, str]) -> Mapping[str, object]:
        text, now_ns = query.get("search", "").strip().lower(), self._network.now_ns
        limit = query.get("limit", "50")
        most = min(int(limit), MAX_LISTED) if limit.isdecimal() and len(limit) < 6 else 50
        flows = [flow for flow in self._flow_states() if flow.matches(text)]
        return {"flows": [flow.listed(now_ns) for flow in flows[:most]], "total": len(flows)}

    async def _trace(self, request: TraceRequest) -> Mapping[str, object]:
        view = await self._view(request.switch)
        lines = await self._mover.follow(view.line.plan.device_id, request.packets)
        packets = packet_traces(map(json.loads, lines), view.line.pipeline)
        why = None if len(packets) >= request.packets else "no more packets came, or the controller was due first"
        return {"packets": packets, "why": why}
