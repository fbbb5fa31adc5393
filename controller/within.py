"""Talks P4Runtime to switches of this process: `client` without gRPC.

The requests, their order and their checks are those of `client`, and the service that answers is the one that gRPC
reaches. A call ends before anything else happens, so no timeout bounds it; other tasks and Ctrl-C have their turn
before each call.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from finsy import P4Client, P4ClientError
from finsy.proto import p4r
from google.protobuf.message import Message
from grpc import StatusCode
from grpc.aio import AioRpcError, Metadata

from controller.client import MAX_READ_ENTITIES, Session, Target
from controller.entities import Entity, Scope, Update
from controller.errors import PlanError, SwitchError
from controller.pipeline import Pipeline

_CODES = {code.value[0]: code for code in StatusCode}
_DETAILS = "grpc-status-details-bin"


class Calls(Protocol):
    """The methods of a P4Runtime service, whose messages are bytes."""

    def call(self, method: str, message: bytes, /) -> list[bytes]:
        """The messages of the answer."""
        ...

    def read(self, message: bytes, /) -> list[bytes]:
        """The entities of the answer to a ReadRequest."""
        ...

    def read_packets(self, message: bytes, /) -> list[tuple[int, int]]:
        """Index and packets of the cells of counters in that answer."""
        ...

    def open(self) -> int:
        """The number of a new stream."""
        ...

    def send(self, stream: int, message: bytes, /) -> list[bytes]:
        """The messages that have come on a stream since, with the answers to this one."""
        ...

    def close(self, stream: int, /) -> None:
        """Ends a stream."""
        ...


@dataclass(frozen=True)
class Service:
    """A P4Runtime service within this process; `refusal` is raised with code, message and details of a status."""

    calls: Calls
    refusal: type[Exception]


class _Client(P4Client):
    """A client that calls a service in place of a channel."""

    def __init__(self, address: str, service: Service) -> None:
        super().__init__(address)
        self.service = service
        self._number: int | None = None
        self._received: list[bytes] = []

    async def open(self, **_: object) -> None:
        """Nothing is connected."""

    async def close(self) -> None:
        """Ends the stream."""
        number, self._number = self._number, None
        if number is not None:
            self.service.calls.close(number)

    async def send(self, msg: p4r.StreamMessageRequest) -> None:
        """Sends a message on the stream, the first of which opens it."""
        calls = self.service.calls
        if self._number is None:
            self._number = calls.open()
        try:
            self._received += calls.send(self._number, msg.SerializeToString())
        except self.service.refusal as error:
            await self.close()
            raise self.refused(error, "send") from None

    async def receive(self) -> p4r.StreamMessageResponse:
        """The next message that has come."""
        if not self._received:
            raise RuntimeError("the switch has not answered")
        return p4r.StreamMessageResponse.FromString(self._received.pop(0))

    async def request(self, msg: Any) -> Any:
        """The answer of a method that has one."""
        name = type(msg).__name__
        try:
            (answer,) = self.service.calls.call(name.removesuffix("Request"), msg.SerializeToString())
        except self.service.refusal as error:
            raise self.refused(error, name, msg) from None
        return getattr(p4r, f"{name.removesuffix('Request')}Response").FromString(answer)

    async def request_iter(self, msg: p4r.ReadRequest) -> AsyncIterator[p4r.ReadResponse]:
        """The answers to a read."""
        try:
            answers = self.service.calls.call("Read", msg.SerializeToString())
        except self.service.refusal as error:
            raise self.refused(error, "ReadRequest") from None
        for answer in answers:
            yield p4r.ReadResponse.FromString(answer)

    @staticmethod
    def refused(error: Exception, operation: str, msg: Message | None = None) -> P4ClientError:
        """A status as finsy's error, which gRPC's would become."""
        code, text, details = error.args
        trailing = Metadata((_DETAILS, details)) if details else Metadata()
        return P4ClientError(AioRpcError(_CODES[code], Metadata(), trailing, text), operation, msg=msg)


class LocalSession(Session):
    """A session with a switch of this process, which makes frequent messages as bytes."""

    def __init__(self, target: Target, client: _Client, timeout_s: float) -> None:
        super().__init__(target, client, timeout_s)
        self._local = client
        self._calls = client.service.calls
        self._refusal = client.service.refusal

    @asynccontextmanager
    async def _bounded(self, what: str, batch: Sequence[Update] = ()) -> AsyncGenerator[None]:
        """As `Session._bounded`; calls never yield, so others have their turn first."""
        async with super()._bounded(what, batch):
            await asyncio.sleep(0)
            yield

    async def ensure_pipeline(self, pipeline: Pipeline, *, is_new: bool = False) -> bool:
        """As `Session.ensure_pipeline`."""
        if not is_new and await self.has_pipeline(pipeline):
            return False
        request = pipeline.wire.push(self.target.device_id, self._primary_id("pipeline push"))
        async with self._bounded("pipeline push"):
            self._call("SetForwardingPipelineConfig", request)
        return True

    async def read(self, scope: Scope, pipeline: Pipeline) -> tuple[Entity, ...]:
        """As `Session.read`, in one request: what a connection takes does not bound it."""
        if not scope.tables and not scope.profiles:
            return ()
        request = pipeline.wire.read(self.target.device_id, scope)
        async with self._bounded("read"):
            try:
                messages = self._calls.read(request)
            except self._refusal as error:
                raise self._local.refused(error, "ReadRequest") from None
        try:
            return tuple(pipeline.wire.entities(messages))
        except PlanError as error:
            raise SwitchError(f"{self.target}: {error.place}", error.cause, error.remedy) from None

    async def write(self, batches: Sequence[Sequence[Update]], pipeline: Pipeline) -> int:
        """As `Session.write`."""
        election_id = self._primary_id("write")
        for batch in batches:
            request = pipeline.wire.write(self.target.device_id, election_id, batch)
            async with self._bounded("write", batch):
                self._call("Write", request)
        return sum(len(batch) for batch in batches)

    async def read_counter(self, name: str, cells: Iterable[int], pipeline: Pipeline) -> dict[int, int]:
        """As `Session.read_counter`."""
        wanted = tuple(cells)
        if not 0 < len(wanted) <= MAX_READ_ENTITIES:
            return await super().read_counter(name, wanted, pipeline)
        request = pipeline.wire.counter(self.target.device_id, name, wanted)
        async with self._bounded(f"read of {name}"):
            try:
                return dict(self._calls.read_packets(request))
            except self._refusal as error:
                raise self._local.refused(error, "ReadRequest") from None

    def _call(self, method: str, request: bytes) -> None:
        try:
            self._calls.call(method, request)
        except self._refusal as error:
            raise self._local.refused(error, f"{method}Request") from None


class LocalLine:
    """The way to the switches of one service."""

    def __init__(self, address: str, service: Service) -> None:
        self._address = address
        self._service = service

    @asynccontextmanager
    async def session(self, target: Target, timeout_s: float) -> AsyncGenerator[LocalSession]:
        """A session with a switch, closed at the end."""
        client = _Client(self._address, self._service)
        try:
            yield LocalSession(target, client, timeout_s)
        finally:
            await client.close()


@asynccontextmanager
async def line_within(address: str, service: Service) -> AsyncGenerator[LocalLine]:
    """The way to a service, which `address` names in messages to people."""
    yield LocalLine(address, service)
