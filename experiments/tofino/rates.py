"""The arithmetic of RCP and D3 for switches that only measure and stamp (p4src/tna/rcp.p4, p4src/tna/d3.p4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import finsy as fy

import p4cc
from controller.d3 import D3Port, d3_port
from controller.rcp import RcpPort, rcp_port
from controller.units import CELL_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable

MODULUS = 1 << 32
"""Of the sums that switches keep."""

DEMAND_SHIFT = 10
"""Desires are summed in units of 2^10 kbit/s."""


@dataclass
class RcpState:
    """A port's rate, and what was read of it last."""

    port: RcpPort
    rate_kbps: int
    sent_bytes: int = 0
    depth: int = 0


@dataclass
class D3State:
    """What was read of a port last."""

    port: D3Port
    demand: int = 0
    requests: int = 0


@dataclass
class Ports:
    """The ports of one switch, by number."""

    rcp: dict[int, RcpState] = field(default_factory=dict[int, RcpState])
    d3: dict[int, D3State] = field(default_factory=dict[int, D3State])


class Rates(p4cc.Controller):
    """Reads each port's sums once an interval, makes the step of RCP or D3, and writes what has changed.

    Switches with other programs are left alone.
    """

    def __init__(self, rtt_ns: int, interval_ns: int | None = None) -> None:
        self.rtt_ns = rtt_ns
        self.interval_ns = interval_ns or rtt_ns
        self.ports: dict[str, Ports] = {}
        self.before_ns = 0
        self.rounds = 0

    async def start(self) -> None:
        """Plans each port as p4cc did for its first entry, and asks to be called every interval."""
        for name, switch in self.switches.items():
            found = self.ports[name] = Ports()
            for port in self.topology.ports[name]:
                link = self.topology.links[port.link_index]
                if switch.p4info.tables.get("egress.rcp.stamped") is not None:
                    plan = rcp_port(
                        rate_bps=link.rate_bps,
                        interval_ns=self.interval_ns,
                        rtt_ns=self.rtt_ns,
                        depth_bytes=CELL_BYTES,
                        framing_bytes=link.framing_bytes,
                    )
                    found.rcp[port.number] = RcpState(plan, plan.initial_kbps)
                if switch.p4info.tables.get("egress.allocator.stamped") is not None:
                    grants = d3_port(capacity_bps=link.rate_bps, rtt_ns=self.rtt_ns)
                    found.d3[port.number] = D3State(grants)
        if any(one.rcp or one.d3 for one in self.ports.values()):
            self.every(self.interval_ns, self.step)

    async def step(self) -> None:
        """One interval has gone by."""
        self.rounds = (self.rounds + 1) % MODULUS
        elapsed_ns, self.before_ns = self.now_ns - self.before_ns, self.now_ns
        for name, switch in self.switches.items():
            ports = self.ports[name]
            if ports.rcp:
                await self.step_rcp(switch, ports.rcp, elapsed_ns)
            if ports.d3:
                await self.step_d3(switch, ports.d3)

    async def step_rcp(self, switch: fy.Switch, ports: dict[int, RcpState], elapsed_ns: int) -> None:
        """Each port's rate by its load and its queue."""
        sent = await cells(switch, "sent_bytes", ports)
        depths = await cells(switch, "last_depths", ports)
        changed: list[fy.P4TableEntry] = []
        for number, at in ports.items():
            went = (sent[number] - at.sent_bytes) % MODULUS
            rate_kbps = at.port.next_rate_kbps(at.rate_kbps, elapsed_ns, went, at.depth, depths[number])
            at.sent_bytes, at.depth = sent[number], depths[number]
            if rate_kbps != at.rate_kbps:
                at.rate_kbps = rate_kbps
                changed.append(entry(number, "set_rate", fair=rate_kbps, framing=at.port.framing_bytes))
        if changed:
            await switch.modify(changed)

    async def step_d3(self, switch: fy.Switch, ports: dict[int, D3State]) -> None:
        """Each port's bound and fair share by what its flows desired, each of which asked once in the interval.

        The new number begins a round.
        """
        demand = await cells(switch, "demand", ports)
        requests = await cells(switch, "requests", ports)
        changed: list[fy.P4TableEntry] = []
        for number, at in ports.items():
            desired_kbps = ((demand[number] - at.demand) % MODULUS) << DEMAND_SHIFT
            flows = (requests[number] - at.requests) % MODULUS
            at.demand, at.requests = demand[number], requests[number]
            most, fair = shares(at.port, desired_kbps, flows)
            rate_kbps = at.port.capacity_kbps
            changed.append(entry(number, "set_share", rate=rate_kbps, most=most, fair=fair, number=self.rounds))
        await switch.modify(changed)


def shares(port: D3Port, desired_kbps: int, flows: int) -> tuple[int, int]:
    """Bound of a desire and fair share: what is left is shared; where desires exceed the capacity, they are bounded."""
    if flows == 0:
        return port.capacity_kbps, port.base_kbps
    if desired_kbps > port.capacity_kbps:
        return max(port.capacity_kbps // flows, port.base_kbps), 0
    return port.capacity_kbps, max((port.capacity_kbps - desired_kbps) // flows, port.base_kbps)


async def cells(switch: fy.Switch, name: str, numbers: Iterable[int]) -> dict[int, int]:
    """Cells of a register by port."""
    entries = [fy.P4RegisterEntry(name, index=number) for number in numbers]
    found: dict[int, int] = {}
    async for cell in switch.read(entries):
        if isinstance(cell.data, int) and cell.index is not None:
            found[cell.index] = cell.data
    return found


def entry(port: int, action: str, **args: int) -> fy.P4TableEntry:
    """The entry of a port in the table of what is stamped."""
    return fy.P4TableEntry("stamped", match=fy.P4TableMatch(egress_port=port), action=fy.P4TableAction(action, **args))
