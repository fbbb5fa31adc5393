"""What the page of a lab asks, and what it is told."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from finsy import P4Client
from finsy.proto import U128, p4r

from controller.client import Session, Target
from controller.defaults import DEFAULT_TIMEOUT_S
from controller.install import read_switch_ports
from controller.record import file_recorder
from p4cc.control.line import ELECTION_ID, SwitchLine
from p4cc.errors import UserError
from p4cc.live.asked import list_of
from p4cc.live.looks import Looks
from p4cc.live.pace import ENDED, RUNNING
from p4cc.live.table_desk import TableDesk

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence
    from pathlib import Path

    from controller import SwitchPlan
    from controller.install import PortState
    from controller.pipeline import Pipeline
    from p4cc.live.lab_looks import LabLooker
    from p4cc.live.network import DrawnNetwork
    from p4cc.live.record import Recorder
    from p4cc.planning.network import NetworkPlan
    from p4cc.scenario.expand import Case


class LabLine(SwitchLine):
    """A connection beside that of the lab's controller, for one switch; made by `beside_controller`.

    P4Runtime knows the primary by the election id of a request: with the id of the lab's controller a write is taken
    as long as that controller is primary, and refused when it is not. Nobody takes its place.
    """

    async def read(self, entities: Sequence[p4r.Entity]) -> list[p4r.Entity]:
        """All that the switch holds of what these describe; raises P4ClientError, UserError for no answer in time."""
        async with self._bounded():
            return await super().read(entities)

    async def write(self, updates: Sequence[p4r.Update]) -> None:
        """Writes these updates; raises P4ClientError, UserError for no answer in time."""
        async with self._bounded():
            await super().write(updates)

    async def read_ports(self) -> list[PortState]:
        """Thresholds and level counters, none of a program that has none; raises SwitchError."""
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
    """Opens a connection and closes it at the end; what it writes goes to a file too."""
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
    """What the page says of a lab beside its network."""

    label: str
    stop_ns: int | None
    """When the flows end at the latest; None where there are none."""


class LabDesk(TableDesk):
    """Answers the page (`p4cc.live.server.Watched`)."""

    def __init__(
        self,
        shown: ShownLab,
        planned: tuple[Case, NetworkPlan, Mapping[str, Pipeline]],
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
        self._said: dict[str, Any] = {}
        self.looks = Looks(shape, {})

    def connected_beside(self, lines: Mapping[str, LabLine]) -> None:
        """As `connected`."""
        self._lab_lines = list(lines.values())
        self.connected(lines)

    def end(self) -> None:
        """The lab is taken down."""
        self._state = ENDED

    def say(self) -> dict[str, Any]:
        """The next message."""
        self._said = self.looks.message({"state": self._state, "why": None, "speed": 1.0})
        return self._said

    def latest(self) -> dict[str, Any]:
        """The newest message with the whole history."""
        return self.looks.with_history(self._said or self.say())

    async def network(self) -> dict[str, Any]:
        """Nodes, links and ports with their thresholds, and what can be done; raises UserError."""
        return {
            **await super().network(),
            "case": self._shown.label,
            "kind": "lab",
            "stop_ns": self._shown.stop_ns,
            "can": {"pause": False, "step": False, "speed": False, "finish": False, "jump": [],
                    "change": True, "trace": False},
        }  # fmt: skip

    async def get(self, what: str, name: str, query: Mapping[str, str]) -> dict[str, Any]:
        """An answer; raises UserError, KeyError for what nobody knows."""
        if what == "flows":
            return {"flows": [], "total": 0}
        return await super().get(what, name, query)

    async def post(self, what: str, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Does what is asked; raises UserError, KeyError for what nobody does."""
        match what:
            case "watch":
                return self.looks.watch(list_of(asked, "ports"), list_of(asked, "flows"))
            case "control":
                raise UserError("a lab runs in real time", place="control", remedy="p4cc run --live leads the time")
            case "trace":
                remedy = "start the lab with --trace and see the logs of its switches, or use p4cc run --live"
                raise UserError("packets of a lab are not followed here", place="trace", remedy=remedy)
            case _:
                return await super().post(what, asked)

    async def read_levels(self) -> None:
        """Has the marks counted up to now; raises UserError, ControllerError."""
        self._looker.marked(await self._read_ports())

    async def _read_ports(self) -> Sequence[PortState]:
        found = await asyncio.gather(*(line.read_ports() for line in self._lab_lines))
        return [state for states in found for state in states]

    async def _write(self, row: dict[str, Any]) -> int:
        """Writes at once."""
        async with self._writing:
            return await self._written(row, self._looker.now_ns())
