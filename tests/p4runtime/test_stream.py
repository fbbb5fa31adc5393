"""What goes over a StreamChannel beside arbitration: packets, digests, idle notifications, errors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from finsy import GRPCStatusCode as Code
from finsy.p4client import P4ClientError
from finsy.proto import p4r

from p4cc import _engine
from tests.p4runtime.session import Controller, Program, network_json, primary

STEP_NS = 10_000
ADDRESS = b"\x0a\x00\x00\x01"


@dataclass
class Lab:
    """Two switches joined by their ports 1, and a primary for each."""

    network: _engine.Network
    program: Program
    first: Controller
    second: Controller

    async def expect(
        self, controller: Controller, wanted: Callable[[p4r.StreamMessageResponse], bool]
    ) -> p4r.StreamMessageResponse:
        """Lets virtual time pass until a message comes; packet-outs are applied when the server gets to them."""
        receive = asyncio.ensure_future(controller.client.receive())
        for _ in range(90):
            self.network.run_until(self.network.now_ns + STEP_NS)
            await asyncio.wait({receive}, timeout=0.1)
            if receive.done():
                message = receive.result()
                if wanted(message):
                    return message
                receive = asyncio.ensure_future(controller.client.receive())
        raise AssertionError("no such message came")

    async def send(self, payload: bytes, *metadata: tuple[int, bytes]) -> None:
        """A packet-out of the first switch."""
        of = [p4r.PacketMetadata(metadata_id=number, value=value) for number, value in metadata]
        await self.first.client.send(p4r.StreamMessageRequest(packet=p4r.PacketOut(payload=payload, metadata=of)))

    def host(self, timeout_ns: int = 0) -> p4r.Entity:
        """The entry of `hosts` for the address of the packets."""
        match = [p4r.FieldMatch(field_id=1, exact=p4r.FieldMatch.Exact(value=ADDRESS))]
        return p4r.Entity(
            table_entry=p4r.TableEntry(
                table_id=self.program.tables["hosts"],
                match=match,
                action=self.program.action("known"),
                idle_timeout_ns=timeout_ns,
            )
        )


@asynccontextmanager
async def lab() -> AsyncGenerator[Lab]:
    network = _engine.Network(network_json())
    program = Program(Path(__file__).with_name("controller.p4"))
    address = network.serve()
    async with primary(address, program) as first, primary(address, program, device=2) as second:
        yield Lab(network, program, first, second)
    network.stop_server()


async def test_a_packet_out_comes_in_at_the_next_switch() -> None:
    async with lab() as it:
        await it.send(b"\x07" + ADDRESS + b"rest", (1, b"\x01"), (2, b"\x00"))
        message = await it.expect(it.second, lambda message: message.HasField("packet"))
        assert message.packet.payload == b"\x07" + ADDRESS + b"rest"
        assert [(one.metadata_id, one.value) for one in message.packet.metadata] == [(1, b"\x01"), (2, b"\x00")]


@pytest.mark.parametrize(
    ("metadata", "code", "words"),
    [
        ([(2, b"\x00")], Code.INVALID_ARGUMENT, "egress_port"),
        ([(1, b"\x04\x00"), (2, b"\x00")], Code.OUT_OF_RANGE, "has 9"),
        ([(1, b"\x01"), (2, b"\x00"), (9, b"\x00")], Code.INVALID_ARGUMENT, "lacks"),
    ],
)
async def test_a_bad_packet_out_is_reported(metadata: list[tuple[int, bytes]], code: int, words: str) -> None:
    async with lab() as it:
        await it.send(b"\x07" + ADDRESS, *metadata)
        error = (await it.expect(it.first, lambda message: message.HasField("error"))).error
        assert error.canonical_code == code
        assert words in error.message
        assert error.packet_out.packet_out.payload == b"\x07" + ADDRESS


async def test_digests_come_when_asked_for_and_again_after_an_acknowledgement() -> None:
    async with lab() as it:
        digest = it.program.p4info.digests[0].preamble.id
        config = p4r.DigestEntry.Config(ack_timeout_ns=10**9, max_list_size=4)
        await it.second.insert(p4r.Entity(digest_entry=p4r.DigestEntry(digest_id=digest, config=config)))
        packet = (b"\x07" + ADDRESS, (1, b"\x01"), (2, b"\x00"))
        await it.send(*packet)
        first = (await it.expect(it.second, lambda message: message.HasField("digest"))).digest
        assert first.digest_id == digest
        assert [member.bitstring for member in first.data[0].struct.members] == [ADDRESS, b"\x01"]
        # The same again is not sent before it was acknowledged.
        await it.send(*packet)
        again = await it.expect(it.second, lambda message: message.HasField("packet") or message.HasField("digest"))
        assert again.HasField("packet")
        ack = p4r.DigestListAck(digest_id=digest, list_id=first.list_id)
        await it.second.client.send(p4r.StreamMessageRequest(digest_ack=ack))
        await asyncio.sleep(0.2)
        await it.send(*packet)
        second = (await it.expect(it.second, lambda message: message.HasField("digest"))).digest
        assert second.list_id > first.list_id


async def test_an_entry_that_nobody_hits_is_reported_again_and_again() -> None:
    async with lab() as it:
        await it.first.insert(it.host(timeout_ns=100_000))
        since = p4r.Entity(table_entry=p4r.TableEntry(table_id=it.program.tables["hosts"]))
        since.table_entry.time_since_last_hit.SetInParent()
        for _ in range(2):
            idle = (
                await it.expect(it.first, lambda message: message.HasField("idle_timeout_notification"))
            ).idle_timeout_notification
            assert [entry.match[0].exact.value for entry in idle.table_entry] == [ADDRESS]
            assert idle.table_entry[0].idle_timeout_ns == 100_000
        assert it.network.now_ns == 200_000
        entry = (await it.first.read(since))[0].table_entry
        assert entry.time_since_last_hit.elapsed_ns == 200_000
        default = p4r.Entity(table_entry=p4r.TableEntry(table_id=it.program.tables["hosts"], is_default_action=True))
        default.table_entry.idle_timeout_ns = 1
        with pytest.raises(P4ClientError) as refused:
            await it.first.modify(default)
        assert refused.value.details[0].canonical_code == Code.INVALID_ARGUMENT


async def test_a_direct_meter_counts_by_colour() -> None:
    async with lab() as it:
        entity = it.host()
        entity.table_entry.meter_config.CopyFrom(p4r.MeterConfig(cir=1, cburst=1, pir=1, pburst=1))
        await it.second.insert(entity)
        for _ in range(2):
            await it.send(b"\x07" + ADDRESS, (1, b"\x01"), (2, b"\x00"))
            await it.expect(it.second, lambda message: message.HasField("packet"))
        asked = it.host()
        asked.table_entry.ClearField("action")
        asked.table_entry.meter_counter_data.SetInParent()
        counts = (await it.second.read(asked))[0].table_entry.meter_counter_data
        assert (counts.green.packet_count, counts.yellow.packet_count, counts.red.packet_count) == (1, 0, 1)
        assert counts.green.byte_count == 5
        reset = p4r.DirectMeterEntry(table_entry=asked.table_entry)
        reset.counter_data.green.packet_count = 1
        with pytest.raises(P4ClientError) as refused:
            await it.second.modify(p4r.Entity(direct_meter_entry=reset))
        assert refused.value.details[0].canonical_code == Code.INVALID_ARGUMENT
        reset.counter_data.green.packet_count = 0
        await it.second.modify(p4r.Entity(direct_meter_entry=reset))
        counts = (await it.second.read(asked))[0].table_entry.meter_counter_data
        assert counts.green.packet_count == 0


def one_shot(program: Program, *actions: tuple[bytes, int], length: int = 8) -> p4r.Entity:
    """A route whose next hops belong to it alone."""
    members = [
        p4r.ActionProfileAction(action=program.action("forward", port).action, weight=weight)
        for port, weight in actions
    ]
    of = p4r.ActionProfileActionSet(action_profile_actions=members)
    return program.route(b"\x0a\x00\x00\x00", length, p4r.TableAction(action_profile_action_set=of))


async def test_one_shot_sets_route_and_come_back_as_given() -> None:
    async with lab() as it:
        entity = one_shot(it.program, (b"\x01", 2), (b"\x01", 1))
        await it.second.insert(entity)
        routes = p4r.Entity(table_entry=p4r.TableEntry(table_id=it.program.tables["routes"]))
        assert await it.second.read(routes) == [entity]
        assert await it.second.read(p4r.Entity(action_profile_member=p4r.ActionProfileMember())) == []
        # It goes back where it came from, and is let in there.
        await it.send(b"\x07" + ADDRESS, (1, b"\x01"), (2, b"\x00"))
        message = await it.expect(it.first, lambda message: message.HasField("packet"))
        assert message.packet.payload == b"\x07" + ADDRESS
        for bad, code in (
            (it.program.member(1, b"\x01"), Code.INVALID_ARGUMENT),
            (one_shot(it.program, (b"\x01", 0), length=16), Code.INVALID_ARGUMENT),
            (one_shot(it.program, (b"\x01", 15), length=16), Code.RESOURCE_EXHAUSTED),
        ):
            with pytest.raises(P4ClientError) as refused:
                await it.second.insert(bad)
            assert refused.value.details[0].canonical_code == code, refused.value.details[0].message
        await it.second.modify(one_shot(it.program, (b"\x02", 16)))
        await it.second.delete(entity)
        await it.second.insert(it.program.member(1, b"\x01"))
        with pytest.raises(P4ClientError) as refused:
            await it.second.insert(entity)
        assert refused.value.details[0].canonical_code == Code.INVALID_ARGUMENT
