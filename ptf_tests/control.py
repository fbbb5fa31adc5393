"""A P4Runtime client for tests: finsy behind calls that wait.

PTF's tests are synchronous; the event loop runs on a thread of its own, which also keeps what the switch sends by
itself (packet-ins, digests) until a test asks for it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Protocol, TypeVar

from finsy import P4Client, P4PacketIn, P4PacketOut, P4Schema
from finsy.proto import U128, p4r

T = TypeVar("T")

TIMEOUT_S = 20.0
CLOSE_TIMEOUT_S = 2.0
ELECTION_ID = 1


class Writable(Protocol):
    """An entity of finsy's, marked by its operation."""

    def encode_update(self, schema: P4Schema) -> p4r.Update:
        """Its message."""
        ...


class Readable(Protocol):
    """An entity of finsy's."""

    def encode(self, schema: P4Schema) -> p4r.Entity:
        """Its message."""
        ...


class ControlPlane:
    """One session with the switch, primary, with one program pushed anew so that no state of another test is left."""

    def __init__(self, address: str, device_id: int, p4info: Path, config: Path) -> None:
        self.device_id = device_id
        self.schema = P4Schema(p4info, config)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._client = P4Client(address, wait_for_ready=True)
        try:
            self._wait(self._start())
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the session and its thread."""
        try:
            self._wait(self._stop())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(TIMEOUT_S)
            self._loop.close()

    def write(self, *updates: Writable) -> None:
        """Write finsy entities marked `+` (insert), `~` (modify) or `-` (delete); raises P4ClientError."""
        request = p4r.WriteRequest(device_id=self.device_id, election_id=U128.encode(ELECTION_ID))
        request.updates.extend(update.encode_update(self.schema) for update in updates)
        self._wait(self._client.request(request))

    def read(self, *entities: Readable) -> list[p4r.Entity]:
        """The messages of what the switch holds of these finsy entities."""
        request = p4r.ReadRequest(device_id=self.device_id)
        request.entities.extend(entity.encode(self.schema) for entity in entities)
        return self._wait(self._read(request))

    def counter_packets(self, name: str, index: int) -> int:
        """Packets in one cell of an indirect counter."""
        counter = self.schema.counters[name].id
        entry = p4r.CounterEntry(counter_id=counter, index=p4r.Index(index=index))
        request = p4r.ReadRequest(device_id=self.device_id, entities=[p4r.Entity(counter_entry=entry)])
        (answer,) = self._wait(self._read(request))
        return answer.counter_entry.data.packet_count

    def packet_out(self, payload: bytes, **metadata: int) -> None:
        """Send a packet through the switch, with the fields of the program's packet-out header."""
        self._wait(self._client.send(P4PacketOut(payload, **metadata).encode_update(self.schema)))

    def packet_in(self, timeout_s: float = 2.0) -> P4PacketIn:
        """The next packet that the switch sends up; raises TimeoutError."""
        return self._wait(asyncio.wait_for(self._packets.get(), timeout_s))

    def no_packet_in(self, timeout_s: float = 0.3) -> bool:
        """Whether nothing comes up for a while."""
        try:
            self.packet_in(timeout_s)
        except TimeoutError:
            return True
        return False

    def _wait(self, work: Coroutine[object, object, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(TIMEOUT_S)

    async def _start(self) -> None:
        self._packets: asyncio.Queue[P4PacketIn] = asyncio.Queue()
        await self._client.open()
        bid = p4r.MasterArbitrationUpdate(device_id=self.device_id, election_id=U128.encode(ELECTION_ID))
        # A session of the test before may be listed for a moment yet.
        for _ in range(50):
            await self._client.send(p4r.StreamMessageRequest(arbitration=bid))
            answer = await self._client.receive()
            if answer.arbitration.status.code == 0:
                break
            await asyncio.sleep(0.05)
        request = p4r.SetForwardingPipelineConfigRequest(
            device_id=self.device_id,
            election_id=U128.encode(ELECTION_ID),
            action=p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT,
            config=self.schema.get_pipeline_config(),
        )
        await self._client.request(request)
        self._listener = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        while True:
            message = await self._client.receive()
            if message.WhichOneof("update") == "packet":
                self._packets.put_nowait(P4PacketIn.decode(message, self.schema))

    async def _stop(self) -> None:
        listener = getattr(self, "_listener", None)
        if listener is not None:
            listener.cancel()
            await asyncio.wait([listener])
        await self._client.close()
        # What gRPC still has to finish on this loop.
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        if rest:
            await asyncio.wait(rest, timeout=CLOSE_TIMEOUT_S)

    async def _read(self, request: p4r.ReadRequest) -> list[p4r.Entity]:
        result: list[p4r.Entity] = []
        async for answer in self._client.request_iter(request):
            result.extend(answer.entities)
        return result
