"""Roles: a primary for each, and writes that stay within them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from finsy import GRPCStatusCode as Code
from finsy.p4client import P4Client, P4ClientError
from finsy.proto import U128, p4r, stratum

from tests.p4runtime.session import Program, Set, primary

ELECTION = 10


class Member:
    """A controller with a role."""

    def __init__(self, client: P4Client, role: str) -> None:
        self.client = client
        self.role = role

    async def arbitrate(self, config: stratum.P4RoleConfig | None, election: int = ELECTION) -> p4r.Role:
        """Asks for the role; returns it as the server has it."""
        role = p4r.Role(name=self.role)
        if config is not None:
            role.config.Pack(config)
        update = p4r.MasterArbitrationUpdate(device_id=1, election_id=U128.encode(election), role=role)
        await self.client.send(p4r.StreamMessageRequest(arbitration=update))
        answer = (await self.client.receive()).arbitration
        assert answer.status.code == Code.OK
        return answer.role

    async def insert(self, *entities: p4r.Entity) -> None:
        updates = [p4r.Update(type=p4r.Update.INSERT, entity=entity) for entity in entities]
        election = U128.encode(ELECTION)
        await self.client.request(p4r.WriteRequest(device_id=1, election_id=election, role=self.role, updates=updates))

    async def read(self, entity: p4r.Entity) -> list[p4r.Entity]:
        found: list[p4r.Entity] = []
        request = p4r.ReadRequest(device_id=1, role=self.role, entities=[entity])
        async for response in self.client.request_iter(request):
            found.extend(response.entities)
        return found


@asynccontextmanager
async def member(address: str, role: str) -> AsyncGenerator[Member]:
    async with P4Client(address) as client:
        yield Member(client, role)


async def test_a_role_writes_and_sees_its_own(address: str, program: Program) -> None:
    exact = program.exact(b"\x01", b"\x01", program.action("forward", b"\x01"))
    routing = stratum.P4RoleConfig(exclusive_p4_ids=[program.tables["routes"], program.profile])
    filtering = stratum.P4RoleConfig(exclusive_p4_ids=[program.tables["exact_match"]])
    async with primary(address, program), member(address, "routing") as first, member(address, "filter") as second:
        assert (await first.arbitrate(routing)).name == "routing"
        given = await second.arbitrate(filtering)
        unpacked = stratum.P4RoleConfig()
        assert given.config.Unpack(unpacked)
        assert unpacked == filtering
        await first.insert(program.member(1, b"\x01"))
        await second.insert(exact)
        with pytest.raises(P4ClientError) as refused:
            await first.insert(exact)
        assert refused.value.details[0].canonical_code == Code.PERMISSION_DENIED
        everything = p4r.Entity(table_entry=p4r.TableEntry())
        assert await first.read(everything) == []
        assert await second.read(everything) == [exact]
        push = Set(
            device_id=1,
            role="routing",
            election_id=U128.encode(ELECTION),
            action=Set.VERIFY_AND_COMMIT,
            config=program.config(),
        )
        with pytest.raises(P4ClientError) as refused:
            await first.client.request(push)
        assert refused.value.code == Code.PERMISSION_DENIED


async def test_ids_are_exclusive_and_roles_must_be_known(address: str, program: Program) -> None:
    routes = stratum.P4RoleConfig(exclusive_p4_ids=[program.tables["routes"]])
    async with primary(address, program), member(address, "first") as first, member(address, "second") as second:
        await first.arbitrate(routes)
        with pytest.raises(P4ClientError) as refused:
            await second.insert(program.member(1, b"\x01"))
        assert refused.value.code == Code.NOT_FOUND
        with pytest.raises(P4ClientError) as refused:
            await second.arbitrate(routes)
        assert refused.value.code == Code.INVALID_ARGUMENT


async def test_each_role_has_a_primary_of_its_own(address: str, program: Program) -> None:
    async with primary(address, program) as default, member(address, "other") as other:
        await other.arbitrate(None, election=3)
        with pytest.raises(P4ClientError) as refused:
            await other.insert(program.member(1, b"\x01"))
        assert refused.value.code == Code.PERMISSION_DENIED, "the election id is 3, not 10"
        await default.insert(program.member(1, b"\x01"))


@pytest.mark.parametrize("atomicity", [p4r.WriteRequest.ROLLBACK_ON_ERROR, p4r.WriteRequest.DATAPLANE_ATOMIC])
async def test_a_batch_that_fails_leaves_nothing(
    address: str, program: Program, atomicity: p4r.WriteRequest.Atomicity.ValueType
) -> None:
    entry = program.exact(b"\x01", b"\x01", program.action("forward", b"\x01"))
    async with primary(address, program) as controller:
        request = p4r.WriteRequest(
            device_id=1,
            election_id=U128.encode(controller.election),
            atomicity=atomicity,
            updates=[p4r.Update(type=p4r.Update.INSERT, entity=entity) for entity in (entry, entry)],
        )
        with pytest.raises(P4ClientError) as refused:
            await controller.client.request(request)
        codes = [refused.value.details[place].canonical_code for place in (0, 1)]
        assert codes == [Code.ABORTED, Code.ALREADY_EXISTS]
        table = p4r.Entity(table_entry=p4r.TableEntry(table_id=program.tables["exact_match"]))
        assert await controller.read(table) == []
        del request.updates[1]
        await controller.client.request(request)
        assert await controller.read(table) == [entry]
