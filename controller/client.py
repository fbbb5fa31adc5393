"""Talks P4Runtime to one switch: arbitration, pipeline, read, write, counters. The only I/O of the controller.

Every call is bounded by the session's timeout and ends in a value or one SwitchError. Nothing is decided here:
`plan` says what should be, `reconcile` what to write, `codec` how it looks on the wire.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from finsy import GRPCStatusCode, P4Client, P4ClientError
from finsy.grpcutil import GRPC_EOF
from finsy.proto import U128, p4d, p4r, p4r_grpc
from grpc.aio import AioRpcError

from controller import codec
from controller.defaults import DEFAULT_ELECTION_ID, DEFAULT_TIMEOUT_S
from controller.entities import Entity, Scope, Update
from controller.errors import PlanError, SwitchError
from controller.pipeline import Pipeline
from controller.reconcile import MAX_BATCH
from controller.record import Recorder

# Entities in one read, so that no answer outgrows a message.
MAX_READ_ENTITIES = 1000

# How long a bid is repeated while the switch still lists a session that has ended.
ELECTION_ATTEMPTS = 20
ELECTION_PAUSE_S = 0.05

# How long the end of a cancelled stream is waited for.
END_OF_STREAM_S = 1.0

_REMEDIES: Mapping[GRPCStatusCode, str] = {
    GRPCStatusCode.UNAVAILABLE: "start the switch, or correct its address",
    GRPCStatusCode.DEADLINE_EXCEEDED: "check that the switch is still running, or increase the timeout",
    GRPCStatusCode.NOT_FOUND: "check the device id that the switch was started with, and that the entity exists",
    GRPCStatusCode.PERMISSION_DENIED: "another controller is primary; use a higher election id",
    GRPCStatusCode.FAILED_PRECONDITION: "push a pipeline first",
    GRPCStatusCode.RESOURCE_EXHAUSTED: "increase the size in the P4 program, or write less",
    GRPCStatusCode.ALREADY_EXISTS: "another controller wrote at the same time; install again",
    GRPCStatusCode.INVALID_ARGUMENT: "check that the controller and the P4 program match",
    GRPCStatusCode.UNIMPLEMENTED: "the switch does not support this feature",
}


@dataclass(frozen=True)
class Target:
    """A switch to talk to: gRPC address (`host:port`), device id, and the name used in messages."""

    address: str
    device_id: int
    name: str

    def __str__(self) -> str:
        return f"switch {self.name} (device {self.device_id} at {self.address})"


class Session:
    """An open channel to one switch; made by `connect`."""

    target: Target
    timeout_s: float
    _client: P4Client
    _recorder: Recorder | None
    _election_id: int | None

    def __init__(self, target: Target, client: P4Client, timeout_s: float, recorder: Recorder | None = None) -> None:
        self.target = target
        self.timeout_s = timeout_s
        self._client = client
        self._recorder = recorder
        self._election_id = None

    async def answers(self) -> str:
        """The P4Runtime version that the switch says it speaks; empty for one that knows the call not."""
        try:
            async with self._bounded("capabilities"):
                answer = await self._client.request(p4r.CapabilitiesRequest())
        except SwitchError as error:
            if error.code == GRPCStatusCode.UNIMPLEMENTED.name:
                return ""
            raise
        return str(answer.p4runtime_api_version)

    async def become_primary(self, election_id: int = DEFAULT_ELECTION_ID) -> None:
        """Win the arbitration with this id; raises SwitchError if another controller has a higher or the same one."""
        for attempt in range(ELECTION_ATTEMPTS):
            if attempt:
                await asyncio.sleep(ELECTION_PAUSE_S)
            try:
                answer = await self._arbitrate(election_id)
            except SwitchError as error:
                # P4Runtime 5.3: the id is in use. A session of ours
                # that just ended may hold it for a moment yet.
                if error.code != GRPCStatusCode.INVALID_ARGUMENT.name:
                    raise
                if attempt + 1 == ELECTION_ATTEMPTS:
                    raise SwitchError(error.place, error.cause, "give another --election-id", error.code) from None
            else:
                self._check_primary(answer, election_id)
                self._election_id = election_id
                return

    async def _arbitrate(self, election_id: int) -> p4r.MasterArbitrationUpdate:
        """Send one bid and wait for the answer; other messages before it are skipped."""
        bid = p4r.MasterArbitrationUpdate(device_id=self.target.device_id, election_id=U128.encode(election_id))
        request = p4r.StreamMessageRequest(arbitration=bid)
        async with self._bounded("arbitration"):
            if self._recorder is not None:
                self._recorder(request)
            await self._client.send(request)
            while True:
                answer = await self._client.receive()
                if answer.WhichOneof("update") == "arbitration":
                    return answer.arbitration

    def _check_primary(self, answer: p4r.MasterArbitrationUpdate, election_id: int) -> None:
        """Raise SwitchError unless the answer makes us primary (P4Runtime 5.3)."""
        code = GRPCStatusCode(answer.status.code)
        if code is GRPCStatusCode.OK:
            return
        highest = U128.decode(answer.election_id)
        if code is GRPCStatusCode.NOT_FOUND:
            cause = f"no client is primary, but election id {highest} has been used before and ours is {election_id}"
            remedy = f"use an election id of at least {highest}"
        else:
            cause = f"another controller is primary with election id {highest}; ours is {election_id}"
            remedy = f"stop that controller, or use an election id above {highest}"
        raise SwitchError(f"{self.target}: arbitration", cause, remedy, code.name)

    async def ensure_pipeline(self, pipeline: Pipeline, *, is_new: bool = False) -> bool:
        """Push the pipeline unless the switch runs it already; True if it was pushed (all its state is then new).

        A switch that `is_new` runs none yet, and is not asked.
        """
        if not is_new and await self.has_pipeline(pipeline):
            return False
        request = p4r.SetForwardingPipelineConfigRequest(
            device_id=self.target.device_id,
            election_id=self._primary_id("pipeline push"),
            action=p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT,
            config=pipeline.config,
        )
        async with self._bounded("pipeline push"):
            await self._client.request(request)
        return True

    async def has_pipeline(self, pipeline: Pipeline) -> bool:
        """Whether the switch runs this very pipeline."""
        request = p4r.GetForwardingPipelineConfigRequest(
            device_id=self.target.device_id,
            response_type=p4r.GetForwardingPipelineConfigRequest.P4INFO_AND_COOKIE,
        )
        try:
            async with self._bounded("pipeline query"):
                answer = await self._client.request(request)
        except SwitchError as error:
            # P4Runtime 10.5: the answer of a switch without a pipeline.
            if error.code == GRPCStatusCode.FAILED_PRECONDITION.name:
                return False
            raise
        return pipeline.is_loaded(answer.config)

    async def read(self, scope: Scope, pipeline: Pipeline) -> tuple[Entity, ...]:
        """Everything that the switch holds of this scope."""
        request = codec.read_request(scope, pipeline.schema, self.target.device_id)
        messages = await self._read("read", request)
        try:
            return tuple(pipeline.translation.from_entities(messages))
        except PlanError as error:
            raise SwitchError(f"{self.target}: {error.place}", error.cause, error.remedy) from None

    async def write(self, batches: Sequence[Sequence[Update]], pipeline: Pipeline) -> int:
        """Write the batches in order; the number of updates. Raises SwitchError that names the first refused."""
        election_id = self._primary_id("write")
        for batch in batches:
            request = p4r.WriteRequest(device_id=self.target.device_id, election_id=election_id)
            request.updates.extend(pipeline.translation.to_update(update) for update in batch)
            async with self._bounded("write", batch):
                await self._client.request(request)
        return sum(len(batch) for batch in batches)

    async def read_messages(self, entities: Iterable[p4r.Entity]) -> list[p4r.Entity]:
        """All entities that these describe, as the switch sends them."""
        request = p4r.ReadRequest(device_id=self.target.device_id)
        request.entities.extend(entities)
        return await self._read("read", request)

    async def read_entities(self, wanted: Iterable[p4r.Entity], pipeline: Pipeline) -> list[Entity]:
        """The same as values, with constant entries and defaults; raises SwitchError, PlanError."""
        return [codec.from_entity(message, pipeline.schema) for message in await self.read_messages(wanted)]

    async def write_messages(self, updates: Sequence[p4r.Update], place: str = "write") -> None:
        """Write these updates in batches."""
        election_id = self._primary_id(place)
        for start in range(0, len(updates), MAX_BATCH):
            request = p4r.WriteRequest(device_id=self.target.device_id, election_id=election_id)
            request.updates.extend(updates[start : start + MAX_BATCH])
            async with self._bounded(place):
                await self._client.request(request)

    async def watch(self) -> AsyncGenerator[p4r.StreamMessageResponse]:
        """Messages of the stream, until it ends with SwitchError."""
        place = f"{self.target}: stream"
        while True:
            try:
                yield await self._client.receive()
            except P4ClientError as error:
                raise refusal(place, error) from None
            except (RuntimeError, AssertionError) as error:
                raise SwitchError(
                    place, f"the stream has ended: {error}", "check that the switch is still running"
                ) from None

    async def read_counter(self, name: str, cells: Iterable[int], pipeline: Pipeline) -> dict[int, int]:
        """Packets counted in these cells of an indirect counter."""
        request = pipeline.translation.counter_request(name, tuple(cells), self.target.device_id)
        messages = await self._read(f"read of {name}", request)
        entries = (message.counter_entry for message in messages)
        return {int(entry.index.index): int(entry.data.packet_count) for entry in entries}

    async def read_register(self, name: str, cells: Iterable[int], pipeline: Pipeline) -> dict[int, int]:
        """Values of these cells of a register of bit strings."""
        request = codec.register_request(name, cells, pipeline.schema, self.target.device_id)
        messages = await self._read(f"read of {name}", request)
        entries = (message.register_entry for message in messages)
        return {int(entry.index.index): self._bit_string(name, entry.data) for entry in entries}

    def _bit_string(self, name: str, data: p4d.P4Data) -> int:
        """The value of a bit string; raises SwitchError for any other kind of data."""
        kind = data.WhichOneof("data")
        if kind != "bitstring":
            place = f"{self.target}: read of {name}"
            raise SwitchError(place, f"contains {kind}, not a bit string", "read registers of type bit<W>")
        return int.from_bytes(data.bitstring, "big")

    async def _read(self, what: str, request: p4r.ReadRequest) -> list[p4r.Entity]:
        """All entities of the answers, in as many requests as the limit requires."""
        result: list[p4r.Entity] = []
        for part in _parts(request):
            async with self._bounded(what):
                async for answer in self._client.request_iter(part):
                    result.extend(answer.entities)
        return result

    def _primary_id(self, what: str) -> p4r.Uint128:
        """The election id won; raises SwitchError before `become_primary`."""
        if self._election_id is None:
            raise SwitchError(f"{self.target}: {what}", "this session is not primary", "become primary before writing")
        return U128.encode(self._election_id)

    @asynccontextmanager
    async def _bounded(self, what: str, batch: Sequence[Update] = ()) -> AsyncGenerator[None]:
        """Bound a call by the timeout and turn whatever goes wrong in it into one SwitchError."""
        place = f"{self.target}: {what}"
        try:
            async with asyncio.timeout(self.timeout_s):
                yield
        except P4ClientError as error:
            raise refusal(place, error, batch) from None
        except TimeoutError:
            code = GRPCStatusCode.DEADLINE_EXCEEDED
            raise SwitchError(place, f"no answer within {self.timeout_s:g} s", _REMEDIES[code], code.name) from None
        except (RuntimeError, ValueError, AssertionError) as error:
            # finsy's own complaints: the stream ended, or an error detail is not of P4Runtime's kind.
            raise SwitchError(place, f"unexpected answer: {error}", "check the log of the switch") from None


def _parts(request: p4r.ReadRequest) -> Iterator[p4r.ReadRequest]:
    """The request in parts of as many entities as one may have; none if it asks for nothing."""
    wanted = list(request.entities)
    if 0 < len(wanted) <= MAX_READ_ENTITIES:
        yield request
        return
    for start in range(0, len(wanted), MAX_READ_ENTITIES):
        part = p4r.ReadRequest(device_id=request.device_id)
        part.entities.extend(wanted[start : start + MAX_READ_ENTITIES])
        yield part


class _Client(P4Client):
    """A client that ends its stream and waits for the switch to end it too.

    A call that is only cancelled is still known to gRPC when the event loop closes, and gRPC then complains on the
    error output of a pending task or a closed loop.
    """

    def __init__(self, address: str) -> None:
        super().__init__(address, wait_for_ready=False)

    async def close(self) -> None:
        """Ends the stream and closes the channel."""
        await self._end_stream()
        await super().close()

    async def _end_stream(self) -> None:
        """Half-closes the stream and discards messages until its end; cancels it where none comes."""
        stream, self._stream = self._stream, None
        if stream is None:
            return
        try:
            async with asyncio.timeout(END_OF_STREAM_S):
                await stream.done_writing()
                while await stream.read() is not GRPC_EOF:
                    pass
                await stream.code()
        except (AioRpcError, TimeoutError, asyncio.InvalidStateError):
            stream.cancel()
        # The task that reports the status ends one turn later.
        await asyncio.sleep(0)


class _Sharing(_Client):
    """A client with the channel of another one but a separate stream, as each switch needs one."""

    def __init__(self, address: str, line: P4Client) -> None:
        super().__init__(address)
        if line.channel is None:
            raise ValueError("the client that owns the shared channel is closed")
        self._channel = line.channel
        self._stub = p4r_grpc.P4RuntimeStub(line.channel)

    async def close(self) -> None:
        """Ends the stream; the channel is its owner's."""
        await self._end_stream()
        self._channel = self._stub = None


class Line:
    """A channel to a server of many switches, which sessions share; made by `line_to`."""

    def __init__(self, address: str, client: P4Client) -> None:
        self._address = address
        self._client = client

    @asynccontextmanager
    async def session(self, target: Target, timeout_s: float = DEFAULT_TIMEOUT_S) -> AsyncGenerator[Session]:
        """A session with a switch of the server's, closed at the end."""
        client = _Sharing(self._address, self._client)
        try:
            yield Session(target, client, timeout_s)
        finally:
            await client.close()


@asynccontextmanager
async def line_to(address: str) -> AsyncGenerator[Line]:
    """Opens a channel for successive sessions: opening one for each would cost as much as its requests."""
    client = _Client(address)
    await client.open()
    try:
        yield Line(address, client)
    finally:
        await client.close()


@asynccontextmanager
async def connect(
    target: Target, timeout_s: float = DEFAULT_TIMEOUT_S, recorder: Recorder | None = None
) -> AsyncGenerator[Session]:
    """Open a session with a switch and close it at the end; the channel itself connects at the first call.

    Every request goes through `recorder` before it is sent.
    """
    client = _Client(target.address)
    await client.open(complete_request=recorder)
    try:
        yield Session(target, client, timeout_s, recorder)
    finally:
        await client.close()


def refusal(place: str, error: P4ClientError, batch: Sequence[Update] = ()) -> SwitchError:
    """One message for a refused call; for a write, of the first update refused, with the number of the others."""
    code, cause = error.code, error.message
    refused = sorted(error.details)
    if refused:
        first = error.details[refused[0]]
        code, cause = first.canonical_code, first.message
        if refused[0] < len(batch):
            place = f"{place}: {batch[refused[0]]}"
        if len(refused) > 1:
            cause = f"{cause}; {len(refused) - 1} more updates were refused"
    remedy = _REMEDIES.get(code, "check the log of the switch")
    return SwitchError(place, f"{code.name}: {cause or 'no message'}", remedy, code.name)
