"""Runs that are served: controllers of other programs over P4Runtime, time by pace and by epochs, and Ctrl-C."""

from __future__ import annotations

import asyncio
import hashlib
import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from finsy import P4Client
from finsy.proto import U128, p4r
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration

from tests.p4cc.scenarios import scenario, write

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

PATIENCE_S = 60
INTERRUPTED = 130


@contextmanager
def served(folder: Path, *words: str, **changes: Any) -> Generator[tuple[subprocess.Popen[str], str]]:
    """A served run in a folder, and its address; it is ended at the end."""
    write(folder, scenario(**changes))
    start = [sys.executable, "-m", "p4cc.cli", "run", "scenario.yaml", "--out", "out", "--force", "--serve", "0"]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([*start, *words], cwd=folder, **pipes) as process:
        try:
            assert process.stderr is not None
            said = process.stderr.readline()
            found = re.match(r"P4Runtime at (\S+): s1 is device 1$", said)
            assert found, said
            yield process, found[1]
        finally:
            process.kill()


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    """The exit code, and what stands on standard error."""
    _, said = process.communicate(timeout=PATIENCE_S)
    return process.returncode, said


async def primary(client: P4Client) -> None:
    """Asks to be primary of device 1."""
    bid = p4r.MasterArbitrationUpdate(device_id=1, election_id=U128.encode(7))
    await client.send(p4r.StreamMessageRequest(arbitration=bid))
    assert (await client.receive()).arbitration.status.code == 0


async def epoch(client: P4Client, span_ns: int) -> int:
    """Lets time go on by an epoch; the virtual time reached."""
    other = AnyMessage()
    span = Duration()
    span.FromNanoseconds(span_ns)
    other.Pack(span)
    await client.send(p4r.StreamMessageRequest(other=other))
    answer = await client.receive()
    reached = Duration()
    assert answer.other.Unpack(reached), answer
    return reached.ToNanoseconds()


async def lead(address: str, span_ns: int, stop_ns: int) -> list[int]:
    """Leads a run to its end, by epochs; the times that were told."""
    client = P4Client(address)
    await client.open()
    try:
        await primary(client)
        told: list[int] = []
        while not told or told[-1] < stop_ns:
            told.append(await epoch(client, span_ns))
        return told
    finally:
        await client.close()


def test_a_controller_leads_a_run_by_epochs(tmp_path: Path) -> None:
    found: set[str] = set()
    (tmp_path / "mine.py").write_text("import p4cc\n\nclass Mine(p4cc.Controller):\n    pass\n")
    switch = {**scenario()["switch"], "controller": "mine.py:Mine"}
    changes: dict[str, Any] = {"traffic": {"kind": "bulk"}, "stop_ns": 2_000_000, "switch": switch}
    for _ in range(2):
        with served(tmp_path, "--speed", "epochs", **changes) as (process, address):
            told = asyncio.run(lead(address, 300_000, 2_000_000))
            assert told == [300_000, 600_000, 900_000, 1_200_000, 1_500_000, 1_800_000, 2_000_000]
            code, said = ended(process)
        assert code == 0, said
        assert "the run has ended, at 2 ms" in said
        assert "note: mine.py:Mine does not run: controllers at the port take its place" in said
        tables = sorted((tmp_path / "out").glob("*.parquet"))
        found.add(hashlib.sha256(b"".join(table.read_bytes() for table in tables)).hexdigest())
    assert len(found) == 1


@pytest.mark.parametrize("speed", ["max", "10", "0.01"])
def test_time_begins_with_a_controller_and_goes_on_by_itself(tmp_path: Path, speed: str) -> None:
    async def watch(address: str) -> None:
        client = P4Client(address)
        await client.open()
        await primary(client)
        await asyncio.sleep(0.1)
        await client.close()

    with served(tmp_path, "--speed", speed, traffic={"kind": "bulk"}, stop_ns=5_000_000) as (process, address):
        asyncio.run(watch(address))
        code, said = ended(process)
    assert code == 0, said
    assert "the run has ended, at 5 ms" in said
    assert list((tmp_path / "out").glob("*.parquet"))


@pytest.mark.parametrize("speed", ["epochs", "0.001"])
def test_ctrl_c_leaves_nothing(tmp_path: Path, speed: str) -> None:
    async def wait(process: subprocess.Popen[str], address: str) -> None:
        client = P4Client(address)
        await client.open()
        await primary(client)
        process.send_signal(signal.SIGINT)
        await asyncio.to_thread(process.wait, PATIENCE_S)
        await client.close()

    with served(tmp_path, "--speed", speed, traffic={"kind": "bulk"}) as (process, address):
        asyncio.run(wait(process, address))
        code, said = ended(process)
    assert code == INTERRUPTED
    assert "no results were written" in said
    assert "Traceback" not in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scenario.yaml"]
    host, _, port = address.rpartition(":")
    with pytest.raises(ConnectionRefusedError), socket.create_connection((host, int(port)), timeout=1):
        pass
