"""BF Runtime of a running `p4cc-switch`: a plain gRPC client reads the tables and fills one."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

import grpc
import pytest

from tests.switchd.bfrt_client import Client
from tests.switchd.namespaces import PATIENCE_S, ROOT, Switch, listening, switch_program, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROGRAM = ROOT / "engine/bfrt/tests/grpc/program.p4"
KEY = {"hdr.eth.dst": bytes(range(6))}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    log = tmp_path / "switch"
    packets = f"ipc://{tmp_path}/packets.ipc"
    command = [switch_program(), "--packet-in", packets, "--log-file", str(log), "-L", "info"]
    command += ["--bfrt-addr", "127.0.0.1:0", str(PROGRAM), "--", "--grpc-server-addr", "127.0.0.1:0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    switch = Switch(process, "", log.with_suffix(".txt"))
    try:
        address = wait_for(lambda: listening(switch, "BF Runtime server listening on "), "BF Runtime")
        with Client(address, "program") as client:
            yield client
    finally:
        process.terminate()
        assert process.wait(PATIENCE_S) == 0


def test_a_client_reads_the_tables_and_adds_an_entry(client: Client) -> None:
    assert "$PORT" in client.chip
    forward = client.tables["pipe.I.forward"]
    assert [field["name"] for field in forward["key"]] == ["hdr.eth.dst"]
    client.write("INSERT", forward, KEY, "send", {"port": b"\x00\x05"})
    (entry,) = client.entries(forward)
    assert entry.key.fields[0].exact.value == KEY["hdr.eth.dst"]
    assert entry.data.fields[0].stream == b"\x00\x05"
    client.write("DELETE", forward, KEY, "", {})
    assert list(client.entries(forward)) == []


def test_what_fails_is_told_for_each_update(client: Client) -> None:
    forward = client.tables["pipe.I.forward"]
    with pytest.raises(grpc.RpcError) as caught:
        client.write("DELETE", forward, KEY, "", {})
    error: Any = caught.value
    assert error.code() == grpc.StatusCode.UNKNOWN
    details = next(value for name, value in error.trailing_metadata() or () if name == "grpc-status-details-bin")
    (one,) = client.of["Status"].FromString(details).details
    assert one.type_url == "type.googleapis.com/bfrt_proto.Error"
    told = client.of["Error"].FromString(one.value)
    assert told.canonical_code == grpc.StatusCode.NOT_FOUND.value[0]
    assert "I.forward" in told.message
