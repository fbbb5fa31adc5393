"""BMv2's notifications and what controllers that learn from them call: no root, packets come over a socket."""

from __future__ import annotations

import json
import socket
import struct
import subprocess
import time
import zlib
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.switchd.namespaces import PATIENCE_S, ROOT, switch_program, wait_for
from tests.switchd.test_thrift import CONTEXT, connect, data, free_port, no_options
from tests.switchd.thrift_client import BOOL, I16, STRUCT, Client, RefusedError, i32, i64, items, structure, text

EVERYTHING = ROOT / "tests/p4runtime/everything.p4"
FEATURES = ROOT / "tests/lab/p4utils/features.p4"
PAIR, PUBLISH, SUBSCRIBE = 0x10, 0x20, 0x21
PACKET = 3
#: p4c counts learning lists from 1; so do we for a program given as source.
LIST = 1


def receive(stream: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count:
        part = stream.recv(count - len(found))
        assert part, "the switch closed the connection"
        found += part
    return found


def greet(path: Path, own: int, theirs: int) -> socket.socket:
    """A connection of nanomsg's: greetings are exchanged."""
    stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    stream.settimeout(PATIENCE_S)
    stream.connect(str(path))
    stream.sendall(struct.pack(">BBBBHH", 0, *b"SP", 0, own, 0))
    assert receive(stream, 8) == struct.pack(">BBBBHH", 0, *b"SP", 0, theirs, 0)
    return stream


class Lab:
    """A switch, a way to give it packets, and what it publishes."""

    def __init__(self, folder: Path, client: Client) -> None:
        self.client = client
        self.packets = greet(folder / "packets.ipc", PAIR, PAIR)
        self.published = greet(folder / "notifications.ipc", SUBSCRIBE, PUBLISH)

    def send(self, port: int, packet: bytes) -> None:
        message = struct.pack("<iii", PACKET, port, len(packet)) + packet
        self.packets.sendall(b"\x01" + struct.pack(">Q", len(message)) + message)

    def notification(self, within_s: float = PATIENCE_S) -> bytes | None:
        self.published.settimeout(within_s)
        with suppress(TimeoutError):
            (length,) = struct.unpack(">xQ", receive(self.published, 9))
            return receive(self.published, length)
        return None


@contextmanager
def switch(program: Path, folder: Path) -> Generator[Lab]:
    port = free_port()
    sockets = [
        "--packet-in",
        f"ipc://{folder}/packets.ipc",
        "--notifications-addr",
        f"ipc://{folder}/notifications.ipc",
    ]
    command = [switch_program(), str(program), "--device-id", "5", "--thrift-port", str(port), *sockets]
    process = subprocess.Popen([*command, "--", "--grpc-server-addr", "127.0.0.1:0"])
    try:
        with wait_for(lambda: connect(port), "Thrift to answer") as client:
            yield Lab(folder, client)
    finally:
        process.terminate()
        process.wait(PATIENCE_S)
    assert not (folder / "notifications.ipc").exists()


def seen(address: int) -> bytes:
    """A packet that `everything.p4` reports: kind 9 goes nowhere."""
    return struct.pack(">BIHH", 9, address, 7, 7)


def test_digests_are_samples_until_they_are_acknowledged(tmp_path: Path) -> None:
    with switch(EVERYTHING, tmp_path) as lab:
        info = lab.client.call("bm_mgmt_get_info")
        assert info[3] == f"ipc://{tmp_path}/notifications.ipc".encode()
        anything = [
            {1: i32(2), 4: structure({1: text(bytes(4)), 2: text(bytes(4))})},
            {1: i32(4), 6: structure({1: text(bytes(2)), 2: text(b"\xff\xff")})},
            {1: i32(2), 4: structure({1: text(bytes(2)), 2: text(bytes(2))})},
        ]
        table, action = text("ingress.acl"), text("ingress.report")
        lab.client.call("bm_mt_add_entry", CONTEXT, table, items(STRUCT, anything), action, data(), no_options())
        lab.client.call("bm_learning_set_buffer_size", CONTEXT, i32(LIST), i32(2))
        lab.client.call("bm_learning_set_timeout", CONTEXT, i32(LIST), i32(0))
        for address in (0x0A000001, 0x0A000001, 0x0A000002):
            lab.send(3, seen(address))
        header = struct.pack("<4sQiiQi", b"LEA|", 5, 0, LIST, 0, 2)
        samples = bytes.fromhex("0a000001 0003 0a000002 0003")
        assert lab.notification() == header + samples
        lab.send(3, seen(0x0A000001))
        lab.send(3, seen(0x0A000002))
        assert lab.notification(0.3) is None, "they are not acknowledged yet"
        lab.client.call("bm_learning_ack", CONTEXT, i32(LIST), i64(0), items(8, [1]))
        lab.client.call("bm_learning_ack_buffer", CONTEXT, i32(LIST), i64(0))
        lab.client.call("bm_learning_set_timeout", CONTEXT, i32(LIST), i32(1))
        lab.send(4, seen(0x0A000001))
        assert lab.notification() == struct.pack("<4sQiiQi", b"LEA|", 5, 0, LIST, 1, 1) + samples[:4] + b"\x00\x04"
        with pytest.raises(RefusedError) as refused:
            lab.client.call("bm_learning_ack_buffer", CONTEXT, i32(LIST + 1), i64(0))
        assert refused.value.code == 1


def test_entries_that_are_not_hit_are_told_by_handle(tmp_path: Path) -> None:
    with switch(FEATURES, tmp_path) as lab:
        table = text("ingress.known")
        key = items(STRUCT, [{1: i32(0), 2: structure({1: text(b"\x00\x00\x00\x00\x00\x01")})}])
        handle = lab.client.call("bm_mt_add_entry", CONTEXT, table, key, text("NoAction"), data(), no_options())
        lab.client.call("bm_mt_set_entry_ttl", CONTEXT, table, i32(handle), i32(50))
        table_id = lab.client.call("bm_get_id_from_name", CONTEXT, i32(0), table)
        assert lab.notification() == struct.pack("<4sQiQiiI", b"AGE|", 5, 0, 0, table_id, 1, handle)


def crc32c(given: bytes) -> int:
    register = 0xFFFFFFFF
    for byte in given:
        register ^= byte
        for _ in range(8):
            register = register >> 1 ^ (0x82F63B78 if register & 1 else 0)
    return register ^ 0xFFFFFFFF


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def test_each_calculation_has_a_polynomial_of_its_own(tmp_path: Path) -> None:
    with switch(FEATURES, tmp_path) as lab:
        config = json.loads(lab.client.call("bm_get_config"))
        assert [(one["name"], one["algo"]) for one in config["calculations"]] == [
            ("calc", "crc32_custom"),
            ("calc_0", "crc32_custom"),
        ]
        ones = i32(signed(0xFFFFFFFF, 32))
        castagnoli = {1: i32(0x1EDC6F41), 2: ones, 3: ones, 4: (BOOL, True), 5: (BOOL, True)}
        lab.client.call("bm_set_crc32_custom_parameters", CONTEXT, text("calc_0"), structure(castagnoli))
        short = {1: (I16, signed(0x8005, 16)), 2: (I16, 0), 3: (I16, 0), 4: (BOOL, True), 5: (BOOL, True)}
        for name, code in [("nothing", 1), ("calc", 2)]:
            with pytest.raises(RefusedError) as refused:
                lab.client.call("bm_set_crc16_custom_parameters", CONTEXT, text(name), structure(short))
            assert refused.value.code == code
        source = bytes([10, 0, 0, 1])
        lab.send(1, bytes(12) + b"\x08\x00" + bytes.fromhex("45000014 00000000 4011 0000") + source + bytes(4))
        registers = wait_until_written(lab.client)
        assert registers[:3] == [zlib.crc32(source), crc32c(source), int.from_bytes(source, "big")]


def wait_until_written(client: Client) -> list[int]:
    end = time.monotonic() + PATIENCE_S
    while not any(registers := client.call("bm_register_read_all", CONTEXT, text("ingress.hashes"))):
        assert time.monotonic() < end, "no packet was hashed"
        time.sleep(0.01)
    return registers


def test_a_program_given_as_source_is_described_as_json(tmp_path: Path) -> None:
    with switch(FEATURES, tmp_path) as lab:
        config = lab.client.call("bm_get_config")
        described = json.loads(config)
        (pipeline,) = described["pipelines"]
        tables = {table["name"]: table for table in pipeline["tables"]}
        spread = tables["ingress.spread"]
        assert (spread["type"], spread["match_type"], spread["action_profile"]) == (
            "indirect_ws",
            "lpm",
            "ingress.paths",
        )
        assert [(key["match_type"], key["target"]) for key in spread["key"]] == [("lpm", ["ipv4", "destination"])]
        assert tables["ingress.known"]["support_timeout"] is True
        types = {header["name"]: header["fields"] for header in described["header_types"]}
        assert ["destination", 32, False] in types["ipv4_t"]
        for kind, name in enumerate(["known", "paths", "arrived", "allowed", "hashes"]):
            assert lab.client.call("bm_get_id_from_name", CONTEXT, i32(kind), text(f"ingress.{name}")) >= 0
        for kind, code in [(9, 0), (0, 1)]:
            with pytest.raises(RefusedError) as refused:
                lab.client.call("bm_get_id_from_name", CONTEXT, i32(kind), text("nothing"))
            assert refused.value.code == code
        # It stands for the source when it comes back.
        lab.client.call("bm_load_new_config", text(config))
        lab.client.call("bm_swap_configs")
        assert lab.client.call("bm_get_config") == config
