"""A controller's run in virtual time: the network pauses while handlers run."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from controller.client import Session, Target
from controller.defaults import DEFAULT_TIMEOUT_S
from controller.install import install_switch
from p4cc.control.line import ELECTION_ID, connect
from p4cc.control.run import Controlled, Job, run_controlled
from p4cc.control.world import Message

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from controller.pipeline import Pipeline
    from p4cc import _engine
    from p4cc.control.line import SwitchLine
    from p4cc.planning.network import NetworkPlan

_LAST_PS = (1 << 63) - 1


@dataclass(frozen=True)
class Virtual:
    """A network with a server, and a function that advances it."""

    network: _engine.Network
    address: str
    advance: Callable[[int, bool], Awaitable[None]]
    """Runs the network to a time in picoseconds, optionally to the first message."""


async def run_virtual(
    job: Job,
    of: Virtual,
    plan: NetworkPlan,
    pipelines: Mapping[str, Pipeline],
    connected: Callable[[Mapping[str, SwitchLine]], None] = lambda _: None,
) -> Controlled:
    """Connects to every switch and runs to the end; `connected` receives the connections first.

    Raises the errors of `run_controlled`.
    """
    async with AsyncExitStack() as stack:
        lines = {
            one.switch: await stack.enter_async_context(connect(of.address, one, pipelines[one.switch]))
            for one in plan.switches
        }
        connected(lines)
        return await run_controlled(job, _VirtualWorld(of, lines), lines)


@dataclass
class _VirtualWorld:
    """The network as the world of a run."""

    of: Virtual
    lines: Mapping[str, SwitchLine]
    by_device: dict[int, SwitchLine] = field(init=False)
    hears: bool = False

    def __post_init__(self) -> None:
        self.by_device = {line.plan.device_id: line for line in self.lines.values()}

    @property
    def seed(self) -> int:
        """Seed of the network."""
        return self.of.network.seed

    @property
    def now_ps(self) -> int:
        """Current virtual time."""
        return self.of.network.now_ps

    @property
    def has_ended(self) -> bool:
        """Whether all flows are complete, or the scenario's end is reached."""
        return self.of.network.has_ended

    async def run_to(self, at_ps: int | None, *, hears: bool) -> None:
        """Advances the network."""
        self.hears = hears
        due = [one for one in (at_ps, self.of.network.next_due_ps if hears else None) if one is not None]
        await self.of.advance(min(due, default=_LAST_PS), hears)

    async def news(self) -> list[Message]:
        """The switches' messages of this instant, in order; none if nobody listens."""
        found: list[Message] = []
        if not self.hears:
            return found
        for device_id, count in self.of.network.deliver_messages():
            line = self.by_device[device_id]
            found += [Message(line.plan.switch, message) for message in await line.receive(count)]
        return found

    async def install(self, switch: str) -> bool:
        """p4cc's controller installs a switch immediately; raises SwitchError."""
        line = self.lines[switch]
        session = Session(Target(line.address, line.plan.device_id, switch), line.client, DEFAULT_TIMEOUT_S)
        await session.become_primary(ELECTION_ID)
        await install_switch(session, line.pipeline, line.plan)
        return True
