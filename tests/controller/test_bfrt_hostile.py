"""The client of BF Runtime where the server says what no server should: each time one message, in bounded time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import grpc
import grpc.aio
import pytest
from finsy.proto import rpc_status

from controller.bfrt import client, codec, wire
from controller.bfrt.client import BfrtServer, running_program
from controller.bfrt.program import Program
from controller.client import Target
from controller.entities import ActionCall, Entry, EntryKey, Exact, Scope, Update, UpdateKind
from controller.errors import ControllerError, SwitchError
from p4cc.planning.programs import compile_program
from tests.switchd.namespaces import ROOT

TABLE = "egress.ecn.thresholds"
SCOPE = Scope((TABLE,), ())
ENTRY = Entry(
    EntryKey(TABLE, (Exact("egress_port", 3),)), ActionCall("egress.ecn.set_thresholds", (("k", 1), ("k_dc", 2)))
)


@pytest.fixture(scope="module")
def program() -> Program:
    return Program("ecn_dual", compile_program(ROOT / "p4src/tna/ecn_dual.p4").bfrt_text().encode())


class Liar:
    """Answers of a server; each test puts its own in place of one that is as it should be."""

    def __init__(self, program: Program) -> None:
        self.config = wire.GetConfigResponse()
        self.config.config.add(p4_name=program.p4_name, bfruntime_info=program.text)
        self.subscription = wire.StreamResponse()
        self.subscription.subscribe.status.code = 0
        self.ends_at_once = False
        self.rows: Callable[[], AsyncIterator[Any]] = self.nothing
        self.write_status: rpc_status.Status | None = None

    async def nothing(self) -> AsyncIterator[Any]:
        for _ in ():
            yield _

    async def get_config(self, _: bytes, __: Any) -> Any:
        return self.config.SerializeToString()

    async def set_config(self, _: bytes, __: Any) -> bytes:
        return b""

    async def stream(self, requests: AsyncIterator[bytes], _: Any) -> AsyncIterator[bytes]:
        async for _ in requests:
            if self.ends_at_once:
                return
            yield self.subscription.SerializeToString()

    async def read(self, _: bytes, __: Any) -> AsyncIterator[bytes]:
        async for answer in self.rows():
            yield answer.SerializeToString()

    async def write(self, _: bytes, context: Any) -> bytes:
        if self.write_status is not None:
            details = (("grpc-status-details-bin", self.write_status.SerializeToString()),)
            context.set_trailing_metadata(details)
            await context.abort(grpc.StatusCode.UNKNOWN, "see the details", details)
        return b""

    @asynccontextmanager
    async def served(self) -> AsyncGenerator[BfrtServer]:
        server = grpc.aio.server()
        calls: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
            "GetForwardingPipelineConfig": grpc.unary_unary_rpc_method_handler(self.get_config),
            "SetForwardingPipelineConfig": grpc.unary_unary_rpc_method_handler(self.set_config),
            "StreamChannel": grpc.stream_stream_rpc_method_handler(self.stream),
            "Read": grpc.unary_stream_rpc_method_handler(self.read),
            "Write": grpc.unary_unary_rpc_method_handler(self.write),
        }
        made: Any = grpc.method_handlers_generic_handler("bfrt_proto.BfRuntime", calls)
        server.add_generic_rpc_handlers((made,))
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        try:
            yield BfrtServer(f"127.0.0.1:{port}", timeout_s=2.0)
        finally:
            await server.stop(None)


@asynccontextmanager
async def session(liar: Liar) -> AsyncGenerator[client.Session]:
    async with (
        liar.served() as server,
        server.line() as line,
        line.session(Target(server.address, 0, "s1"), server.timeout_s) as made,
    ):
        yield made


async def refused(liar: Liar, call: Callable[[client.Session], Any]) -> ControllerError:
    async with session(liar) as made:
        with pytest.raises(ControllerError) as caught:
            await call(made)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 3_000
    return caught.value


def answer(*rows: Any) -> Any:
    response = wire.ReadResponse()
    for row in rows:
        response.entities.add().table_entry.CopyFrom(row)
    return response


async def test_rows_of_tables_that_nobody_asked_for(program: Program) -> None:
    liar = Liar(program)

    async def rows() -> AsyncIterator[Any]:
        yield answer(wire.TableEntry(table_id=9))

    liar.rows = rows
    error = await refused(liar, lambda made: made.read(SCOPE, program))
    assert "answers for table id 0x9, which was not requested" in str(error)


async def test_rows_without_end(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    liar = Liar(program)
    monkeypatch.setattr(client, "MAX_ROWS", 1_000)

    async def rows() -> AsyncIterator[Any]:
        while True:
            yield answer(*[codec.to_entry(ENTRY, program.schema)] * 100)

    liar.rows = rows
    error = await refused(liar, lambda made: made.read(SCOPE, program))
    assert "sends more than 1000 rows" in str(error)


async def test_rows_that_do_not_come(program: Program) -> None:
    liar = Liar(program)

    async def rows() -> AsyncIterator[Any]:
        yield answer()
        await asyncio.sleep(60)

    liar.rows = rows
    error = await refused(liar, lambda made: made.read(SCOPE, program))
    assert isinstance(error, SwitchError)
    assert error.code == "DEADLINE_EXCEEDED"


@pytest.mark.parametrize("text", [b"{", b"[]", b'{"tables": 3}', b"\xff"])
async def test_a_schema_that_is_none(program: Program, text: bytes) -> None:
    liar = Liar(program)
    liar.config.config[0].bfruntime_info = text
    async with liar.served() as server:
        found = await running_program(server, "ecn_dual", "s1")
        with pytest.raises(ControllerError, match=r"bf-rt\.json of the switch"):
            _ = found.roles


async def test_a_schema_without_end(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "MAX_MESSAGE_BYTES", 1 << 20)
    liar = Liar(program)
    liar.config.config[0].bfruntime_info = bytes(3 << 20)
    async with liar.served() as server:
        with pytest.raises(SwitchError, match="RESOURCE_EXHAUSTED"):
            await running_program(server, "ecn_dual", "s1")


async def test_a_stream_that_ends_at_once(program: Program) -> None:
    liar = Liar(program)
    liar.ends_at_once = True
    error = await refused(liar, lambda made: made.become_primary())
    assert "subscription as client 100: the switch ended the stream" in str(error)


async def test_a_subscription_that_is_refused(program: Program) -> None:
    liar = Liar(program)
    liar.subscription.subscribe.status.code = 8
    liar.subscription.subscribe.status.message = "no room" * 1_000
    error = await refused(liar, lambda made: made.become_primary())
    assert ": RESOURCE_EXHAUSTED: no room" in str(error)


@pytest.mark.parametrize(
    ("details", "cause"),
    [
        ([], "UNKNOWN: see the details"),
        ([b"\xff"], "UNKNOWN: see the details"),
        ([wire.Error(canonical_code=999, message="x" * 9_000).SerializeToString()], "UNKNOWN: xxx"),
        ([wire.Error(canonical_code=0).SerializeToString()], "UNKNOWN: see the details"),
        ([b"", b"", wire.Error(canonical_code=5, message="gone").SerializeToString()], "NOT_FOUND: gone"),
    ],
)
async def test_details_of_a_refusal_that_say_nothing(program: Program, details: list[bytes], cause: str) -> None:
    liar = Liar(program)
    liar.write_status = rpc_status.Status(code=2)
    for raw in details:
        liar.write_status.details.add(type_url="type.googleapis.com/bfrt_proto.Error", value=raw)

    async def write(made: client.Session) -> None:
        await made.become_primary()
        await made.ensure_pipeline(program)
        await made.write([[Update(UpdateKind.INSERT, ENTRY)]], program)

    assert f": {cause}" in str(await refused(liar, write))
