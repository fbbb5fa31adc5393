"""Answers the page of a lab."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from finsy import P4Client
from finsy.proto import U128, p4r

from controller.client import Session, Target
from controller.defaults import DEFAULT_TIMEOUT_S
from controller.install import read_switch_ports
from controller.record import file_recorder
from p4cc.control.line import ELECTION_ID, SwitchLine
from p4cc.errors import UserError
from p4cc.live.lab_looks import FOLLOW_S
from p4cc.live.looks import Looks
from p4cc.live.messages import Abilities, LookMessage, RunHead, Status
from p4cc.live.pace import ENDED, RUNNING
from p4cc.live.packets import packet_traces
from p4cc.live.requests import TraceRequest, WatchRequest, parse
from p4cc.live.table_desk import TableDesk

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence
    from pathlib import Path

    from controller import SwitchPlan
    from controller.install import PortState
    from controller.pipeline import Pipeline
    from p4cc.json_data import JsonObject
    from p4cc.live.lab_looks import LabLooker
    from p4cc.live.messages import ChangeRow
    from p4cc.live.network import DrawnNetwork
    from p4cc.live.record import Recorder
    from p4cc.running.planned_case import PlannedCase


class LabLine(SwitchLine):
    """A connection to one switch in addition to that of the lab's controller; made by `beside_controller`.

    P4Runtime identifies the primary by the election id of a request: with the id of the lab's controller, a write is
    accepted while that controller is primary and refused otherwise. Nobody takes its place.
    """

    async def read(self, entities: Sequence[p4r.Entity]) -> list[p4r.Entity]:
        """Every entity that these describe; raises P4ClientError, UserError when the switch does not answer in time."""
        async with self._bounded():
            return await super().read(entities)

    async def write(self, updates: Sequence[p4r.Update]) -> None:
        """Writes these updates; raises P4ClientError, UserError when the switch does not answer in time."""
        async with self._bounded():
            await super().write(updates)

    async def read_ports(self) -> list[PortState]:
        """Thresholds and level counters, empty for a program that has none; raises SwitchError."""
        if not self.plan.marks:
            return []
        target = Target(self.address, self.plan.device_id, self.plan.switch)
        return await read_switch_ports(Session(target, self.client, DEFAULT_TIMEOUT_S), self.pipeline, self.plan)

    @asynccontextmanager
    async def _bounded(self) -> AsyncGenerator[None]:
        try:
            async with asyncio.timeout(DEFAULT_TIMEOUT_S):
                yield
        except TimeoutError:
            cause = f"no answer within {DEFAULT_TIMEOUT_S:g} s"
            raise UserError(cause, place=f"switch {self.plan.switch}", remedy="see the log of the switch") from None


@asynccontextmanager
async def beside_controller(
    address: str, plan: SwitchPlan, pipeline: Pipeline, requests: Path
) -> AsyncGenerator[LabLine]:
    """Opens a connection and closes it at the end; its write requests are also written to a file."""
    record = file_recorder(requests, plan.switch)

    def complete(message: object) -> None:
        if isinstance(message, p4r.WriteRequest):
            message.election_id.CopyFrom(U128.encode(ELECTION_ID))
            record(message)

    client = P4Client(address, wait_for_ready=False)
    await client.open(complete_request=complete)
    try:
        yield LabLine(plan, pipeline, address, client)
    finally:
        await client.close()


@dataclass(frozen=True)
class ShownLab:
    """How a lab is labelled on the page."""

    label: str
    stop_ns: int | None
    """When the flows end at the latest; None without flows."""


class LabDesk(TableDesk):
    """Answers the page (`p4cc.live.server.Backend`)."""

    def __init__(
        self,
        shown: ShownLab,
        planned: PlannedCase,
        shape: DrawnNetwork,
        looker: LabLooker,
        recorder: Recorder,
    ) -> None:
        super().__init__(planned, shape, recorder)
        self._shown = shown
        self._looker = looker
        self._lab_lines: Sequence[LabLine] = ()
        self._writing = asyncio.Lock()
        self._state = RUNNING
        self._message: LookMessage | None = None
        self.looks = Looks(shape, {})

    def connected_beside(self, lines: Mapping[str, LabLine]) -> None:
        """Takes the open connections to all switches."""
        self._lab_lines = list(lines.values())
        self.connected(lines)

    def end(self) -> None:
        """Marks the lab as over."""
        self._state = ENDED

    def next_message(self) -> LookMessage:
        """Changes since the last message."""
        self._message = self.looks.message(Status(state=self._state, why=None, speed=1.0))
        return self._message

    def latest(self) -> LookMessage:
        """The newest message with the whole history."""
        return self.looks.with_history(self._message or self.next_message())

    def _head(self) -> RunHead:
        can = Abilities(pause=False, step=False, speed=False, finish=False, jump=[], change=True, trace=True)
        return RunHead(case=self._shown.label, kind="lab", stop_ns=self._shown.stop_ns, can=can)

    async def get(self, what: str, name: str, query: Mapping[str, str]) -> Mapping[str, object]:
        """An answer; raises UserError, KeyError for an unknown question."""
        if what == "flows":
            return {"flows": [], "total": 0}
        return await super().get(what, name, query)

    async def post(self, what: str, body: JsonObject) -> Mapping[str, object]:
        """Obeys a request; raises UserError, KeyError for an unknown one."""
        match what:
            case "watch":
                return self.looks.watch(parse(WatchRequest, body))
            case "control":
                raise UserError("a lab runs in real time", place="control", remedy="use p4cc run --live")
            case "trace":
                return await self._trace(parse(TraceRequest, body))
            case _:
                return await super().post(what, body)

    async def _trace(self, request: TraceRequest) -> Mapping[str, object]:
        view = await self._view(request.switch)
        steps = await self._looker.follow(request.switch, request.packets)
        packets = packet_traces(steps, view.line.pipeline)
        why = None if len(packets) >= request.packets else f"no more packets came within {FOLLOW_S:g} s"
        return {"packets": packets, "why": why}

    async def read_levels(self) -> None:
        """Updates the counts of marks; raises UserError, ControllerError."""
        self._looker.add_levels(await self._read_ports())

    async def _read_ports(self) -> Sequence[PortState]:
        by_switch = await asyncio.gather(*(line.read_ports() for line in self._lab_lines))
        return [state for states in by_switch for state in states]

    async def _write(self, row: ChangeRow) -> int:
        """Writes at once."""
        async with self._writing:
            return await self._write_and_record(row, self._looker.now_ns())
