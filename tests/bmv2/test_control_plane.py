"""P4Runtime where BMv2 does otherwise: p4cc's side of docs/reference/differences-from-bmv2.md."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import AsyncExitStack

import grpc
import pytest
from finsy import P4ClientError
from finsy.proto import p4r

from tests.p4runtime.session import PROGRAM, Controller, Program, connected, primary
from tests.switchd.soak import started

Code = grpc.StatusCode
CONTROLLERS = 64


@pytest.fixture(scope="module")
def loaded() -> Generator[str]:
    """The address of a switch that was started with a program."""
    with started(program=PROGRAM) as (address, _):
        yield address


async def refusal(controller: Controller, *entities: p4r.Entity) -> Code:
    """The code with which a read is refused."""
    with pytest.raises(P4ClientError) as refused:
        await controller.read(*entities)
    return Code[refused.value.code.name]


async def test_a_program_of_the_command_line_is_read_and_written_at_once(loaded: str) -> None:
    program = Program()
    entry = program.exact(b"\1", b"\1", program.action("forward", b"\1"))
    async with primary(loaded) as controller:
        await controller.insert(entry)
        assert entry in await controller.read(p4r.Entity(table_entry=p4r.TableEntry()))
        request = p4r.GetForwardingPipelineConfigRequest(device_id=1)
        config = (await controller.client.request(request)).config
        assert (config.p4info, config.p4_device_config) == (program.p4info, program.device_config)


async def test_without_a_program_reads_are_refused() -> None:
    with started() as (address, _):
        async with primary(address) as controller:
            assert await refusal(controller, p4r.Entity(table_entry=p4r.TableEntry())) == Code.FAILED_PRECONDITION


async def test_an_unknown_device_is_not_found(loaded: str) -> None:
    async with connected(loaded, device=77) as controller:
        assert await refusal(controller, p4r.Entity(table_entry=p4r.TableEntry())) == Code.NOT_FOUND


async def test_a_backups_packet_out_is_answered(loaded: str) -> None:
    async with primary(loaded), connected(loaded, election=3) as backup:
        assert await backup.arbitrate() == Code.ALREADY_EXISTS.value[0]
        await backup.client.send(p4r.StreamMessageRequest(packet=p4r.PacketOut(payload=b"\0" * 20)))
        answer = await backup.client.receive()
        assert answer.error.canonical_code == Code.PERMISSION_DENIED.value[0]


async def test_a_clone_session_has_a_class_and_a_length(loaded: str) -> None:
    session = p4r.CloneSessionEntry(
        session_id=5,
        replicas=[p4r.Replica(port=b"\1", instance=1)],
        class_of_service=3,
        packet_length_bytes=64,
    )
    entity = p4r.Entity(packet_replication_engine_entry=p4r.PacketReplicationEngineEntry(clone_session_entry=session))
    async with primary(loaded) as controller:
        await controller.insert(entity)
        assert await controller.read(entity) == [entity]
        await controller.delete(entity)


async def test_a_device_has_sixty_four_controllers(loaded: str) -> None:
    async with AsyncExitStack() as stack:
        # Each asks with a higher id than the one before, so that it becomes primary.
        for election in range(100, 100 + CONTROLLERS):
            controller = await stack.enter_async_context(connected(loaded, election=election))
            assert await controller.arbitrate() == Code.OK.value[0]
        one_more = await stack.enter_async_context(connected(loaded, election=100 + CONTROLLERS))
        with pytest.raises(P4ClientError) as refused:
            await one_more.arbitrate()
        assert Code[refused.value.code.name] == Code.RESOURCE_EXHAUSTED
