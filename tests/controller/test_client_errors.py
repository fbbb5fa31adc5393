"""The client where no P4Runtime server answers: nothing listens, something listens and stays silent, or babbles."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from controller import EcnSettings, Profile, SwitchError
from controller.client import Session, Target, connect
from controller.entities import ActionCall, Entry, EntryKey, Exact, Update, UpdateKind
from controller.install import Server, install_network
from controller.pipeline import load_pipeline
from tests.controller import own_program as program
from tests.controller.planned import planned
from topos import generate

GOLDEN = Path(__file__).resolve().parents[2] / "p4src" / "golden" / "ecn_dual.p4info.txtpb"
PIPELINE = load_pipeline(GOLDEN.read_text(encoding="utf-8"), b"program")
CALLS: dict[str, Callable[[Session], Awaitable[object]]] = {
    "arbitration": lambda session: session.become_primary(),
    "pipeline query": lambda session: session.has_pipeline(PIPELINE),
    "read": lambda session: session.read(program.SCOPE, PIPELINE),
    "read of egress.ecn.level_packets": lambda session: session.read_counter(program.LEVEL_PACKETS, [4], PIPELINE),
}


@asynccontextmanager
async def listener(answer: bytes | None) -> AsyncGenerator[str]:
    """A TCP server that sends `answer` and closes, or with None says nothing and keeps the connection open."""
    done = asyncio.Event()

    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if answer is None:
            await done.wait()
        else:
            writer.write(answer)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        done.set()
        server.close()
        await server.wait_closed()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


async def failure(address: str, what: str) -> SwitchError:
    async with connect(Target(address, 3, "s3"), timeout_s=0.3) as session:
        with pytest.raises(SwitchError) as caught:
            await CALLS[what](session)
    assert str(caught.value).startswith(f"switch s3 (device 3 at {address}): {what}: ")
    return caught.value


@pytest.mark.parametrize("what", CALLS)
async def test_nothing_listens(what: str) -> None:
    error = await failure(f"127.0.0.1:{free_port()}", what)
    assert error.code == "UNAVAILABLE"
    assert error.remedy == "start the switch, or correct its address"


@pytest.mark.parametrize("what", CALLS)
async def test_a_silent_server_runs_into_the_timeout(what: str) -> None:
    async with listener(None) as address:
        error = await failure(address, what)
    assert error.code == "DEADLINE_EXCEEDED"
    assert "no answer within 0.3 s" in error.cause


@pytest.mark.parametrize("what", CALLS)
async def test_a_server_of_another_protocol_is_an_error(what: str) -> None:
    async with listener(b"HTTP/1.1 400 Bad Request\r\n\r\n") as address:
        error = await failure(address, what)
    assert error.code in ("UNAVAILABLE", "DEADLINE_EXCEEDED")


async def test_a_write_needs_mastership_first() -> None:
    entry = Entry(EntryKey(program.THRESHOLDS, (Exact("egress_port", 1),)), ActionCall(program.SET_THRESHOLDS))
    async with connect(Target("127.0.0.1:1", 1, "s1")) as session:
        with pytest.raises(SwitchError, match="this session is not primary"):
            await session.write([[Update(UpdateKind.INSERT, entry)]], PIPELINE)


async def test_an_installation_names_the_first_switch_that_fails() -> None:
    plans = planned(generate("dumbbell", {"pairs": 1}), EcnSettings(Profile.GST, {}))
    with pytest.raises(SwitchError, match=r"switch s1 \(device 1 at .*\): arbitration: UNAVAILABLE"):
        await install_network(Server(f"127.0.0.1:{free_port()}"), PIPELINE, plans)
