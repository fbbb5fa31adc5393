"""A controller for tests: finsy's P4Runtime client, spoken to in the protocol's own messages."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
from finsy.p4client import P4Client
from finsy.proto import U128, p4i, p4r

from p4cc import _engine

PROGRAM = Path(__file__).with_name("everything.p4")
Set = p4r.SetForwardingPipelineConfigRequest


def network_json() -> str:
    """Two switches, devices 1 and 2, with a host each."""
    ends = [("h1", "s1", 0), ("h2", "s2", 0)]
    links: list[dict[str, Any]] = [
        {"a": {"node": host}, "b": {"node": switch, "port": port}, "rate_bps": 10**9, "delay_ns": 1000}
        for host, switch, port in ends
    ]
    links.append({"a": {"node": "s1", "port": 1}, "b": {"node": "s2", "port": 1}, "rate_bps": 10**9, "delay_ns": 1000})
    ports = [{"port": port, "queue_capacity_pkts": 10} for port in (0, 1)]
    return json.dumps(
        {
            "switches": [
                {"name": f"s{device}", "device_id": device, "ports": ports, "cpu_port": 510} for device in (1, 2)
            ],
            "hosts": [
                {"name": f"h{host}", "mac": f"02:00:00:00:01:0{host}", "ipv4": f"10.0.0.{host}"} for host in (1, 2)
            ],
            "links": links,
            "algorithms": {"plain": {}},
            "flows": [],
            "stop_ns": 1_000_000,
            "limits": {"max_events": 1000},
        }
    )


class Program:
    """A compiled program: what is pushed, and ids by alias."""

    def __init__(self, path: Path = PROGRAM) -> None:
        program = _engine.compile_p4(str(path))
        assert program.ok, program.rendered
        self.p4info = p4i.P4Info.FromString(program.p4info_bytes())
        self.device_config = program.device_config()
        info = self.p4info
        self.tables = {one.preamble.alias: one.preamble.id for one in info.tables}
        self.actions = {one.preamble.alias: one.preamble.id for one in info.actions}
        self.profile = info.action_profiles[0].preamble.id
        self.counter = next(iter(info.counters)).preamble.id if info.counters else 0
        self.register = next(iter(info.registers)).preamble.id if info.registers else 0

    def config(self, cookie: int = 7) -> p4r.ForwardingPipelineConfig:
        """What SetForwardingPipelineConfig takes."""
        return p4r.ForwardingPipelineConfig(
            p4info=self.p4info,
            p4_device_config=self.device_config,
            cookie=p4r.ForwardingPipelineConfig.Cookie(cookie=cookie),
        )

    def action(self, name: str, *values: bytes) -> p4r.TableAction:
        """A direct action with its arguments in order."""
        params = [p4r.Action.Param(param_id=number, value=value) for number, value in enumerate(values, start=1)]
        return p4r.TableAction(action=p4r.Action(action_id=self.actions[name], params=params))

    def exact(self, address: bytes, kind: bytes, action: p4r.TableAction | None = None) -> p4r.Entity:
        """An entry of `exact_match`."""
        match = [
            p4r.FieldMatch(field_id=1, exact=p4r.FieldMatch.Exact(value=address)),
            p4r.FieldMatch(field_id=2, exact=p4r.FieldMatch.Exact(value=kind)),
        ]
        entry = p4r.TableEntry(table_id=self.tables["exact_match"], match=match, action=action)
        return p4r.Entity(table_entry=entry)

    def route(self, address: bytes, length: int, action: p4r.TableAction) -> p4r.Entity:
        """An entry of `routes`."""
        match = [p4r.FieldMatch(field_id=1, lpm=p4r.FieldMatch.LPM(value=address, prefix_len=length))]
        return p4r.Entity(table_entry=p4r.TableEntry(table_id=self.tables["routes"], match=match, action=action))

    def member(self, number: int, port: bytes) -> p4r.Entity:
        """A member of the selector that forwards."""
        action = self.action("forward", port).action
        member = p4r.ActionProfileMember(action_profile_id=self.profile, member_id=number, action=action)
        return p4r.Entity(action_profile_member=member)

    def group(self, number: int, *members: int) -> p4r.Entity:
        """A group of the selector, equal weights."""
        of = [p4r.ActionProfileGroup.Member(member_id=member, weight=1) for member in members]
        group = p4r.ActionProfileGroup(action_profile_id=self.profile, group_id=number, members=of)
        return p4r.Entity(action_profile_group=group)


class Controller:
    """A client of one device."""

    def __init__(self, client: P4Client, device: int, election: int) -> None:
        self.client = client
        self.device = device
        self.election = election

    async def arbitrate(self, election: int | None = None) -> int:
        """Asks to be primary; returns the status code of the answer."""
        self.election = self.election if election is None else election
        update = p4r.MasterArbitrationUpdate(device_id=self.device, election_id=U128.encode(self.election))
        await self.client.send(p4r.StreamMessageRequest(arbitration=update))
        return await self.told()

    async def told(self) -> int:
        """The status code of the next arbitration message."""
        return (await self.client.receive()).arbitration.status.code

    async def set(self, action: Set.Action.ValueType, config: p4r.ForwardingPipelineConfig | None = None) -> None:
        """SetForwardingPipelineConfig."""
        election = U128.encode(self.election)
        await self.client.request(Set(device_id=self.device, election_id=election, action=action, config=config))

    async def write(self, kind: p4r.Update.Type.ValueType, *entities: p4r.Entity) -> None:
        """One batch of updates of one kind."""
        updates = [p4r.Update(type=kind, entity=entity) for entity in entities]
        election = U128.encode(self.election)
        await self.client.request(p4r.WriteRequest(device_id=self.device, election_id=election, updates=updates))

    async def insert(self, *entities: p4r.Entity) -> None:
        """Inserts."""
        await self.write(p4r.Update.INSERT, *entities)

    async def modify(self, *entities: p4r.Entity) -> None:
        """Modifies."""
        await self.write(p4r.Update.MODIFY, *entities)

    async def delete(self, *entities: p4r.Entity) -> None:
        """Deletes."""
        await self.write(p4r.Update.DELETE, *entities)

    async def read(self, *entities: p4r.Entity) -> list[p4r.Entity]:
        """Reads."""
        found: list[p4r.Entity] = []
        async for response in self.client.request_iter(p4r.ReadRequest(device_id=self.device, entities=entities)):
            found.extend(response.entities)
        return found


@asynccontextmanager
async def connected(address: str, device: int = 1, election: int = 10) -> AsyncGenerator[Controller]:
    """A controller that has not arbitrated yet."""
    async with P4Client(address) as client:
        yield Controller(client, device, election)


@asynccontextmanager
async def primary(address: str, program: Program | None = None, device: int = 1) -> AsyncGenerator[Controller]:
    """A primary controller, the program loaded."""
    async with connected(address, device) as controller:
        assert await controller.arbitrate() == grpc.StatusCode.OK.value[0]
        if program is not None:
            await controller.set(Set.VERIFY_AND_COMMIT, program.config())
        yield controller
