"""Who may write: arbitration as the P4Runtime specification rules it."""

from __future__ import annotations

import pytest
from finsy import GRPCStatusCode as Code
from finsy.p4client import P4ClientError
from finsy.proto import p4r

from tests.p4runtime.session import Program, Set, connected, primary


async def test_two_controllers_compete_for_one_device(address: str, program: Program) -> None:
    entry = program.exact(b"\x01", b"\x01", program.action("forward", b"\x01"))
    async with primary(address, program) as first, connected(address, election=5) as second:
        assert await second.arbitrate() == Code.ALREADY_EXISTS
        with pytest.raises(P4ClientError) as refused:
            await second.insert(entry)
        assert refused.value.code == Code.PERMISSION_DENIED
        assert await second.arbitrate(11) == Code.OK
        assert await first.told() == Code.ALREADY_EXISTS
        with pytest.raises(P4ClientError) as refused:
            await first.insert(entry)
        assert refused.value.code == Code.PERMISSION_DENIED
        await second.insert(entry)


async def test_a_backup_takes_over_when_the_primary_closes(address: str, program: Program) -> None:
    entry = program.exact(b"\x01", b"\x01", program.action("forward", b"\x01"))
    async with connected(address, election=5) as backup:
        async with primary(address, program) as first:
            assert await backup.arbitrate() == Code.ALREADY_EXISTS
            await first.insert(entry)
        assert await backup.told() == Code.NOT_FOUND
        assert await backup.arbitrate(10) == Code.OK
        assert len(await backup.read(p4r.Entity(table_entry=p4r.TableEntry()))) == 1 + 2, "the state stays"
        await backup.delete(entry)


async def test_an_election_id_is_used_once(address: str) -> None:
    async with primary(address), connected(address) as second:
        with pytest.raises(P4ClientError) as refused:
            await second.arbitrate()
        assert refused.value.code == Code.INVALID_ARGUMENT


async def test_devices_are_apart(address: str, program: Program) -> None:
    async with primary(address, program), primary(address, program, device=2) as other:
        await other.insert(program.exact(b"\x01", b"\x01", program.action("forward", b"\x01")))
    async with connected(address, device=3) as nobody:
        with pytest.raises(P4ClientError) as refused:
            await nobody.arbitrate()
        assert refused.value.code == Code.NOT_FOUND


async def test_nobody_writes_without_a_stream(address: str, program: Program) -> None:
    async with connected(address) as controller:
        with pytest.raises(P4ClientError) as refused:
            await controller.set(Set.VERIFY_AND_COMMIT, program.config())
        assert refused.value.code == Code.PERMISSION_DENIED
