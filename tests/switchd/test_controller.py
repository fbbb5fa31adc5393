"""A controller of a switch in real time: packet-outs, packet-ins, digests and their timeouts, idle entries."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from finsy.proto import p4r

from tests.p4runtime.session import Controller, Program, primary
from tests.switchd.namespaces import PATIENCE_S, ROOT, Host, both_ways, lab, run

PROGRAM = ROOT / "tests/p4runtime/controller.p4"
#: Kind and address, where Ethernet has its first address; padded to a frame.
ADDRESS = b"\x0a\x00\x00\x01"
FRAME = b"\x07" + ADDRESS + bytes(range(55))

LISTEN = """
import socket
listener = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
listener.bind(("eth0", 0))
listener.settimeout({patience})
print("ready", flush=True)
while (frame := listener.recv(2000))[:1] != b"\\x07":
    pass
print(frame.hex(), flush=True)
"""

SEND = """
import socket
sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
sender.bind(("eth0", 0))
for frame in "{frames}".split():
    sender.send(bytes.fromhex(frame))
"""


@dataclass
class Controlled:
    """Two hosts around a switch, and its primary controller."""

    hosts: list[Host]
    program: Program
    controller: Controller

    def send(self, host: int, *addresses: bytes) -> None:
        """Frames from a host that the program does not know."""
        frames = " ".join((b"\x07" + address + FRAME[5:]).hex() for address in addresses)
        run(*self.hosts[host].command("python3", "-c", SEND.replace("{frames}", frames)))

    async def expect(self, wanted: Callable[[p4r.StreamMessageResponse], bool]) -> p4r.StreamMessageResponse:
        """The next message of a kind."""
        async with asyncio.timeout(PATIENCE_S):
            while not wanted(message := await self.controller.client.receive()):
                pass
        return message


@asynccontextmanager
async def controlled(folder: Path) -> AsyncGenerator[Controlled]:
    with lab(folder) as it:
        switch = it.switch("--no-p4", "--device-id", "1", target=("--cpu-port", "510"))
        program = Program(PROGRAM)
        async with primary(switch.address, program) as controller:
            yield Controlled(it.hosts, program, controller)


@both_ways
async def test_a_packet_out_leaves_on_its_port_and_an_unknown_packet_comes_in(tmp_path: Path) -> None:
    async with controlled(tmp_path) as it:
        listener = it.hosts[0].python(LISTEN.replace("{patience}", str(PATIENCE_S)))
        try:
            assert listener.stdout is not None
            assert listener.stdout.readline() == "ready\n"
            out = p4r.PacketOut(payload=FRAME)
            out.metadata.add(metadata_id=1, value=b"\1")
            out.metadata.add(metadata_id=2, value=b"\0")
            await it.controller.client.send(p4r.StreamMessageRequest(packet=out))
            assert await asyncio.to_thread(listener.stdout.readline) == FRAME.hex() + "\n"
        finally:
            listener.kill()
            listener.wait()
        it.send(1, ADDRESS)
        packet = (await it.expect(lambda message: message.HasField("packet"))).packet
        assert packet.payload == FRAME
        assert packet.metadata[0].value == b"\2"


async def test_digests_wait_until_a_list_is_full_or_their_time_is_over(tmp_path: Path) -> None:
    async with controlled(tmp_path) as it:
        digest_id = it.program.p4info.digests[0].preamble.id
        config = p4r.DigestEntry.Config(max_timeout_ns=1_500_000_000, max_list_size=2)
        await it.controller.insert(p4r.Entity(digest_entry=p4r.DigestEntry(digest_id=digest_id, config=config)))
        it.send(0, ADDRESS, b"\x0a\x00\x00\x02")
        full = (await it.expect(lambda message: message.HasField("digest"))).digest
        assert [one.struct.members[0].bitstring[-1] for one in full.data] == [1, 2]
        it.send(0, b"\x0a\x00\x00\x03")
        start = time.monotonic()
        single = (await it.expect(lambda message: message.HasField("digest"))).digest
        assert [one.struct.members[0].bitstring[-1] for one in single.data] == [3]
        # It came in a little before the clock here was read.
        assert time.monotonic() - start > 1


async def test_an_entry_that_nobody_hits_is_reported_in_time(tmp_path: Path) -> None:
    async with controlled(tmp_path) as it:
        match = [p4r.FieldMatch(field_id=1, exact=p4r.FieldMatch.Exact(value=ADDRESS))]
        entry = p4r.TableEntry(table_id=it.program.tables["hosts"], match=match, idle_timeout_ns=300_000_000)
        entry.action.CopyFrom(it.program.action("known"))
        start = time.monotonic()
        await it.controller.insert(p4r.Entity(table_entry=entry))
        message = await it.expect(lambda message: message.HasField("idle_timeout_notification"))
        assert message.idle_timeout_notification.table_entry[0].match[0].exact.value == ADDRESS
        assert time.monotonic() - start >= 0.29
