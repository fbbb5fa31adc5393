"""Talks BF Runtime to one switch: subscription, program, read, write, counters. The only I/O of this package.

Every call is bounded by the session's timeout and ends in a value or one SwitchError. Reads need no subscription: they
name the program themselves. Who writes is subscribed and bound to the program, which has one client at a time.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass

import grpc
import grpc.aio

from controller.bfrt import codec, wire
from controller.bfrt import schema as names
from controller.bfrt.program import Program, program_in
from controller.bfrt.refusals import MAX_CAUSE, REMEDIES, code_name, refusal
from controller.bfrt.rows import to_update as to_row_update
from controller.client import Target
from controller.defaults import DEFAULT_BFRT_CLIENT_ID, DEFAULT_TIMEOUT_S
from controller.entities import Entity, Scope, Update
from controller.errors import PlanError, SwitchError
from controller.plan import SwitchPlan
from controller.reconcile import MAX_BATCH
from controller.written import WrittenEntry

MAX_MESSAGE_BYTES = 256 << 20
"""Of an answer: a table is read whole, in one."""
MAX_ROWS = 1_000_000
"""Of one read."""
MAX_DETAILS_BYTES = 4 << 20
"""Of a refusal, which has an error for each update of a batch; gRPC's default is 16 KiB."""

# How long an id is asked for while the switch still lists a session that has ended.
ATTEMPTS = 20
PAUSE_S = 0.05


class Session:
    """An open channel to one switch; made by a `Line`."""

    target: Target
    timeout_s: float

    def __init__(self, target: Target, service: wire.Service, timeout_s: float) -> None:
        self.target = target
        self.timeout_s = timeout_s
        self._service = service
        self._client_id = DEFAULT_BFRT_CLIENT_ID
        self._stream: wire.Message = None
        self._bound: str | None = None

    async def become_primary(self, bid: int = DEFAULT_BFRT_CLIENT_ID) -> None:
        """Subscribe under this client id; raises SwitchError if another client has it."""
        for attempt in range(ATTEMPTS):
            if attempt:
                await asyncio.sleep(PAUSE_S)
            try:
                await self._subscribe(bid)
            except SwitchError as error:
                self._stream.cancel()
                self._stream = None
                # A session of ours that just ended may hold the id for a moment yet.
                taken = error.code in ("INVALID_ARGUMENT", "ALREADY_EXISTS")
                if taken and attempt + 1 < ATTEMPTS:
                    continue
                remedy = "stop the other client, or use another client id" if taken else error.remedy
                raise SwitchError(error.place, error.cause, remedy, error.code) from None
            self._client_id = bid
            return

    async def _subscribe(self, client_id: int) -> None:
        request = wire.StreamRequest(client_id=client_id)
        request.subscribe.device_id = self.target.device_id
        place = f"{self.target}: subscription as client {client_id}"
        self._stream = stream = self._service.stream()
        status: wire.Message = None
        async with self._bounded(place):
            await stream.write(request)
            async for answer in stream:
                if answer.WhichOneof("update") == "subscribe":
                    status = answer.subscribe.status
                    break
        if status is None:
            raise SwitchError(place, "the switch ended the stream", "check the log of the switch", "UNAVAILABLE")
        if status.code:
            code = code_name(status.code)
            raise SwitchError(place, f"{code}: {status.message[:MAX_CAUSE]}", "check the log of the switch", code)

    async def ensure_pipeline(self, program: Program, *, is_new: bool = False) -> bool:
        """Bind to the program; False, as it is never loaded from here. Raises SwitchError if it does not run."""
        del is_new
        place = f"{self.target}: bind to {program.p4_name}"
        if self._stream is None:
            raise SwitchError(place, "this session is not subscribed", "subscribe before binding")
        await self._compare(program)
        request = wire.SetConfigRequest(device_id=self.target.device_id, client_id=self._client_id)
        request.action = wire.SetConfigRequest.BIND
        request.config.add(p4_name=program.p4_name)
        for attempt in range(ATTEMPTS):
            try:
                async with self._bounded(place):
                    await self._service.set_config(request, timeout=self.timeout_s)
            except SwitchError as error:
                if error.code != "ALREADY_EXISTS":
                    raise
                if attempt + 1 == ATTEMPTS:
                    remedy = "stop the other controller: a program accepts only one client"
                    raise SwitchError(place, error.cause, remedy, error.code) from None
                await asyncio.sleep(PAUSE_S)
            else:
                break
        self._bound = program.p4_name
        return False

    async def has_pipeline(self, program: Program) -> bool:
        """Whether the switch runs this very program."""
        try:
            await self._compare(program)
        except SwitchError as error:
            if error.code in ("NOT_FOUND", "FAILED_PRECONDITION"):
                return False
            raise
        return True

    async def _compare(self, program: Program) -> None:
        found = await self.program(program.p4_name)
        if found.digest != program.digest:
            cause = f"program {program.p4_name} has different tables on this switch"
            remedy = "run one version of the program on all switches"
            raise SwitchError(f"{self.target}: program", cause, remedy, "FAILED_PRECONDITION")

    async def program(self, p4_name: str | None = None) -> Program:
        """The program of this name that the switch runs, or its only one; raises SwitchError."""
        request = wire.GetConfigRequest(device_id=self.target.device_id, client_id=self._client_id)
        place = f"{self.target}: program"
        async with self._bounded(place):
            answer = await self._service.get_config(request, timeout=self.timeout_s)
        if p4_name is None and len(answer.config) == 1:
            p4_name = answer.config[0].p4_name
        return program_in(answer, p4_name or "", place)

    async def read(self, scope: Scope, program: Program) -> tuple[Entity, ...]:
        """Everything that the switch holds of this scope."""
        request = codec.read_request(scope, program.schema)
        rows = await self._read(f"{self.target}: read", request, program)
        try:
            return tuple(codec.from_rows(rows, scope, program.schema))
        except PlanError as error:
            raise SwitchError(f"{self.target}: {error.place}", error.cause, error.remedy) from None

    def _check_bound(self, program: Program) -> None:
        if self._bound != program.p4_name:
            cause = f"this session is not bound to {program.p4_name}"
            raise SwitchError(f"{self.target}: write", cause, "bind to the program first")

    async def write(self, batches: Sequence[Sequence[Update]], program: Program) -> int:
        """Write the batches in order; the number of updates. Raises SwitchError that names the first refused."""
        self._check_bound(program)
        place = f"{self.target}: write"
        for batch in batches:
            request = self._request(wire.WriteRequest, program)
            request.updates.extend(codec.to_update(update, program.schema) for update in batch)
            async with self._bounded(place, batch):
                await self._service.write(request, timeout=self.timeout_s)
        return sum(len(batch) for batch in batches)

    async def write_rows(self, rows: Sequence[WrittenEntry], program: Program) -> int:
        """Set these rows, whether they are there or not, in their order; raises SwitchError that names the refused."""
        self._check_bound(program)
        for row in rows:
            request = self._request(wire.WriteRequest, program)
            request.updates.append(to_row_update(row, program))
            async with self._bounded(f"{self.target}: {row.place}"):
                await self._service.write(request, timeout=self.timeout_s)
        return len(rows)

    async def read_counter(self, name: str, cells: Iterable[int], program: Program) -> dict[int, int]:
        """Packets counted in these cells of an indirect counter, of all pipes together, as the hardware has them."""
        table = program.schema.find(name, "counter")
        found = await self._cells(name, names.COUNTER_INDEX, cells, program)
        packets = table.data_field(names.COUNTER_PACKETS).name
        return {cell: sum(values.get(packets, ())) for cell, values in found.items()}

    async def read_register(self, name: str, cells: Iterable[int], program: Program) -> dict[int, int]:
        """Values of these cells of a register of bit strings; raises SwitchError for one that pipes differ in."""
        values: dict[int, int] = {}
        for cell, fields in (await self._cells(name, names.REGISTER_INDEX, cells, program)).items():
            result = {value for of_field in fields.values() for value in of_field}
            if len(fields) != 1 or len(result) != 1:
                cause = f"cell {cell} has different values {sorted(result)[:8]} in different pipes or register halves"
                raise SwitchError(f"{self.target}: read of {name}", cause, "read it pipe by pipe with your own client")
            values[cell] = result.pop()
        return values

    async def _cells(
        self, name: str, index: str, cells: Iterable[int], program: Program
    ) -> dict[int, dict[str, list[int]]]:
        """Fields of cells of an array, each with its values."""
        table = program.schema.find(name)
        request = wire.ReadRequest()
        for cell in cells:
            row = request.entities.add().table_entry
            row.CopyFrom(codec.index_row(table, index, cell))
            row.table_flags.from_hw = True
        result: dict[int, dict[str, list[int]]] = {}
        place = f"{self.target}: read of {name}"
        try:
            for row in await self._read(place, request, program):
                fields = result.setdefault(codec.key_value(row, table, index), {})
                for field, value in codec.data_fields(row, table):
                    fields.setdefault(field.name, []).append(int.from_bytes(value.stream, "big"))
        except PlanError as error:
            raise SwitchError(f"{place}: {error.place}", error.cause, error.remedy) from None
        return result

    async def _read(self, place: str, request: wire.Message, program: Program) -> list[wire.Message]:
        """All rows of the answers, in as many requests as the limit requires."""
        result: list[wire.Message] = []
        wanted = list(request.entities)
        for start in range(0, len(wanted), MAX_BATCH):
            part = self._request(wire.ReadRequest, program)
            part.entities.extend(wanted[start : start + MAX_BATCH])
            async with self._bounded(place):
                async for answer in self._service.read(part, timeout=self.timeout_s):
                    result.extend(one.table_entry for one in answer.entities if one.HasField("table_entry"))
                    if len(result) > MAX_ROWS:
                        raise SwitchError(place, f"sends more than {MAX_ROWS} rows", "check the log of the switch")
        return result

    def _request(self, kind: wire.Message, program: Program) -> wire.Message:
        request = wire.on_all_pipes(kind(client_id=self._client_id), self.target.device_id)
        if self._bound != program.p4_name:
            request.p4_name = program.p4_name
        return request

    async def close(self) -> None:
        """End the subscription; the switch then gives id and program free."""
        stream, self._stream, self._bound = self._stream, None, None
        if stream is None:
            return
        with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError, TimeoutError):
            async with asyncio.timeout(min(1.0, self.timeout_s)):
                await stream.done_writing()
                async for _ in stream:
                    pass
        stream.cancel()

    @asynccontextmanager
    async def _bounded(self, place: str, batch: Sequence[Update] = ()) -> AsyncGenerator[None]:
        """Bound a call by the timeout and turn whatever goes wrong in it into one SwitchError."""
        try:
            async with asyncio.timeout(self.timeout_s):
                yield
        except grpc.aio.AioRpcError as error:
            raise refusal(place, error, batch) from None
        except asyncio.InvalidStateError as error:
            # gRPC's own complaint: the stream ended before it took the request.
            raise SwitchError(place, f"the stream has ended: {error}", "check the log of the switch") from None
        except TimeoutError:
            code = "DEADLINE_EXCEEDED"
            raise SwitchError(place, f"no answer within {self.timeout_s:g} s", REMEDIES[code], code) from None


class Line:
    """A channel to a server, which sessions share; made by `line_to`."""

    def __init__(self, service: wire.Service) -> None:
        self._service = service

    @asynccontextmanager
    async def session(self, target: Target, timeout_s: float = DEFAULT_TIMEOUT_S) -> AsyncGenerator[Session]:
        """A session with a switch of the server's, closed at the end."""
        session = Session(target, self._service, timeout_s)
        try:
            yield session
        finally:
            await session.close()


@asynccontextmanager
async def line_to(address: str) -> AsyncGenerator[Line]:
    """Open a channel, which connects at the first call."""
    options = [
        ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
        ("grpc.max_metadata_size", MAX_DETAILS_BYTES),
        ("grpc.absolute_max_metadata_size", MAX_DETAILS_BYTES),
        ("grpc.enable_retries", 0),
    ]
    async with grpc.aio.insecure_channel(address, options=options) as channel:
        yield Line(wire.Service(channel))


@dataclass(frozen=True)
class BfrtServer:
    """A switch with BF Runtime and its address: each has a separate server, with one device."""

    address: str
    bid: int = DEFAULT_BFRT_CLIENT_ID
    """The client id that an installation subscribes with."""
    timeout_s: float = DEFAULT_TIMEOUT_S
    device_id: int = 0

    @property
    def at_once(self) -> int:
        """One: sessions of a server have separate client ids."""
        return 1

    def target(self, plan: SwitchPlan) -> Target:
        """The switch of a plan at this server."""
        return Target(self.address, self.device_id, plan.switch)

    def line(self) -> AbstractAsyncContextManager[Line]:
        """A channel to it."""
        return line_to(self.address)


async def running_program(server: BfrtServer, p4_name: str, switch: str) -> Program:
    """The program of this name that runs at a server; raises SwitchError, or PlanError for a bf-rt.json in disorder."""
    target = Target(server.address, server.device_id, switch)
    async with server.line() as line, line.session(target, server.timeout_s) as session:
        return await session.program(p4_name)
