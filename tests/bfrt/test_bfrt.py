"""BF Runtime on a `p4cc-switch` with packets: what control planes of Tofino do in each of its kinds of table.

P4 Studio's own tests, which are not part of this repository, are run by hand (docs/tofino.md); these cover the same
ground with a program of our own.
"""

from __future__ import annotations

import random
import subprocess
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue

import pytest

from tests.bfrt.client import Client, Key, RefusedError
from tests.switchd.namespaces import PATIENCE_S, Host, Switch, lab, listening, switch_program, wait_for

PROGRAM = Path(__file__).with_name("program.p4")
#: Of pipes 0, 1 and 1.
PORTS = (1, 129, 130)
FCS_BYTES = 4
ALREADY_EXISTS, NOT_FOUND, INVALID_ARGUMENT = 6, 5, 3
OK = 0

RAW = """
import socket, sys, threading
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
link.bind(("eth0", 0))
def listen():
    while True:
        frame, sender = link.recvfrom(2000)
        if sender[2] != socket.PACKET_OUTGOING:
            print(frame.hex(), flush=True)
threading.Thread(target=listen, daemon=True).start()
print("ready", flush=True)
for line in sys.stdin:
    link.send(bytes.fromhex(line))
"""


class Wire:
    """The far end of a port."""

    def __init__(self, host: Host) -> None:
        self.process = host.python(RAW)
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"
        self.frames: Queue[bytes] = Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.frames.put(bytes.fromhex(line))

    def send(self, frame: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(frame.hex() + "\n")
        self.process.stdin.flush()

    def receive(self) -> bytes:
        return self.frames.get(timeout=PATIENCE_S)

    def is_silent(self, seconds: float = 0.3) -> bool:
        try:
            self.frames.get(timeout=seconds)
        except Empty:
            return True
        return False


def frame(dst: int, kind: int, src: int = 0x0A) -> bytes:
    """100 bytes, of which the program reads the first 14."""
    return dst.to_bytes(6) + src.to_bytes(6) + kind.to_bytes(2) + bytes(86)


@contextmanager
def running(folder: Path) -> Generator[tuple[Client, dict[int, Wire]]]:
    """A switch with the program, its client, and the ends of its ports."""
    with lab(folder, hosts=len(PORTS)) as it:
        log = folder / "switch"
        command = [switch_program(), "--bfrt-addr", "127.0.0.1:0", "--log-file", str(log), "-L", "info"]
        for port, host in zip(PORTS, it.hosts, strict=True):
            command += ["-i", f"{port}@{host.port_interface}"]
        command += [str(PROGRAM), "--", "--grpc-server-addr", "127.0.0.1:0"]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        switch = Switch(process, "", log.with_suffix(".txt"))
        it.switches.append(switch)
        address = wait_for(lambda: listening(switch, "BF Runtime server listening on "), "the server")
        wait_for(lambda: "switch runs" in switch.log.read_text(), "the switch to run")
        wires = {port: Wire(host) for port, host in zip(PORTS, it.hosts, strict=True)}
        client = Client(address)
        try:
            yield client, wires
        finally:
            client.close()
            for wire in wires.values():
                wire.process.kill()
                wire.process.wait()


@pytest.fixture
def device(tmp_path: Path) -> Iterator[tuple[Client, dict[int, Wire]]]:
    with running(tmp_path) as it:
        yield it


def forward_key(dst: int, priority: int, mask: int = 2**48 - 1) -> Key:
    return {"hdr.ethernet.dst": (dst, mask), "hdr.ethernet.kind": (0x100, 0x1FF), "$MATCH_PRIORITY": priority}


def test_entries_and_batches(device: tuple[Client, dict[int, Wire]]) -> None:
    client, wires = device
    assert client.name == "program"
    assert client.table("device_configuration").info["table_type"] == "DevConfigure"
    keys = [forward_key(dst, priority=3) for dst in (9, 4, 7)]
    client.write("INSERT", "forward", keys, "send", {"port": 130})
    assert client.usage("forward") == 3
    read = client.read("forward")
    assert [row.key["hdr.ethernet.dst"][0] for row in read] == [9, 4, 7]
    assert read[0].data["port"] == 130

    wires[1].send(frame(4, 0x100))
    assert wires[130].receive() == frame(4, 0x100)
    wires[1].send(frame(4, 0x200))
    assert wires[130].is_silent(), "the range ends at 0x1ff"
    # The smaller number wins.
    client.write("INSERT", "forward", [forward_key(4, priority=1, mask=0xFF)], "send", {"port": 129})
    wires[1].send(frame(4, 0x1FF))
    assert wires[129].receive() == frame(4, 0x1FF)

    with pytest.raises(RefusedError) as refused:
        client.write("INSERT", "forward", [keys[0], forward_key(5, priority=3)], "send", {"port": 1})
    assert refused.value.codes == [ALREADY_EXISTS, OK]
    assert client.usage("forward") == 5
    with pytest.raises(RefusedError) as refused:
        client.write("INSERT", "forward", [forward_key(6, priority=3), keys[0]], "send", {"port": 1}, whole=True)
    assert refused.value.codes == [OK, ALREADY_EXISTS]
    assert client.usage("forward") == 5, "a batch that is a whole leaves nothing"
    with pytest.raises(RefusedError) as refused:
        client.read("forward", forward_key(6, priority=3))
    assert refused.value.codes == [NOT_FOUND]
    client.write("DELETE", "forward")
    assert client.usage("forward") == 0


def test_counters_and_registers_are_each_pipes_own(device: tuple[Client, dict[int, Wire]]) -> None:
    client, wires = device
    key = forward_key(4, priority=1)
    client.write("INSERT", "forward", [key], "send", {"port": 130, "$COUNTER_SPEC_PKTS": 10})
    for port in (1, 129, 129):
        wires[port].send(frame(4, 0x100))
        wires[130].receive()
    counted = {"$COUNTER_SPEC_PKTS": 13, "$COUNTER_SPEC_BYTES": 3 * (100 + FCS_BYTES)}
    (row,) = client.read("forward", key)
    assert {name: row.data[name] for name in counted} == counted
    (row,) = client.read("forward", key, from_hw=False)
    assert row.data["$COUNTER_SPEC_PKTS"] == 10, "the driver's copy is as it was written"
    client.run("forward", "SyncCounters")
    (row,) = client.read("forward", key, from_hw=False)
    assert row.data["$COUNTER_SPEC_PKTS"] == 13

    cell: Key = {"$REGISTER_INDEX": 1}
    (row,) = client.read("sums", cell)
    first, second = (next(v for name, v in row.data.items() if name.endswith(end)) for end in (".first", ".second"))
    assert (first, second) == ([6, 7, 5, 5], [107, 207, 7, 7])
    client.write("MODIFY", "sums", [cell], data={"first": 40}, pipe=1)
    (row,) = client.read("sums", cell)
    assert next(v for name, v in row.data.items() if name.endswith(".first")) == [6, 40, 5, 5]
    client.write("DELETE", "sums")
    (row,) = client.read("sums", cell, pipe=1)
    assert sorted(row.data.values()) == [5, 7], "as the program begins"


def test_a_table_can_have_entries_of_one_pipe(device: tuple[Client, dict[int, Wire]]) -> None:
    client, wires = device
    key = forward_key(4, priority=1)
    client.write("INSERT", "forward", [key], "send", {"port": 130})
    with pytest.raises(RefusedError):
        client.set_scope("forward", "SINGLE")
    client.write("DELETE", "forward")
    client.set_scope("forward", "SINGLE")
    client.write("INSERT", "forward", [key], "send", {"port": 130}, pipe=1)
    assert [client.usage("forward", pipe) for pipe in range(4)] == [0, 1, 0, 0]
    with pytest.raises(RefusedError) as refused:
        client.read("forward", key)
    assert refused.value.codes == [NOT_FOUND], "all pipes together have no entries now"
    wires[1].send(frame(4, 0x100))
    assert wires[130].is_silent(), "port 1 is of pipe 0"
    wires[129].send(frame(4, 0x100))
    assert wires[130].receive() == frame(4, 0x100)


def test_groups_spread_packets_over_their_active_members(device: tuple[Client, dict[int, Wire]]) -> None:
    client, wires = device
    # Its default action drops.
    client.write("INSERT", "forward", [forward_key(1, priority=1)], "send", {"port": 1})
    for member, port in enumerate(PORTS):
        client.write("INSERT", "members", [{"$ACTION_MEMBER_ID": member}], "spread", {"port": port})
    group: Key = {"$SELECTOR_GROUP_ID": 0}
    members = {"$MAX_GROUP_SIZE": 4, "$ACTION_MEMBER_ID": [0, 1, 2], "$ACTION_MEMBER_STATUS": [False, True, True]}
    client.write("INSERT", "chosen", [group], data=members)
    entry: Key = {"hdr.ethernet.kind": 0x180}
    client.write("INSERT", "balance", [entry], data={"$SELECTOR_GROUP_ID": 0})
    (row,) = client.read("chosen", group)
    assert {name: row.data[name] for name in members} == members
    draw = random.Random(1)
    for _ in range(40):
        wires[1].send(frame(1, 0x180, draw.getrandbits(48)))
    wait_for(lambda: wires[129].frames.qsize() + wires[130].frames.qsize() == 40, "40 frames")
    assert min(wires[129].frames.qsize(), wires[130].frames.qsize()) > 5
    assert wires[1].is_silent(), "its member is switched off"
    with pytest.raises(RefusedError):
        client.write("MODIFY", "chosen", [group], data={**members, "$ACTION_MEMBER_STATUS": [False] * 3})
    with pytest.raises(RefusedError):
        client.write("DELETE", "chosen", [group])


def test_digests_say_which_pipe_sent_them(device: tuple[Client, dict[int, Wire]]) -> None:
    client, wires = device
    (learns,) = client.program["learn_filters"]
    fields = {field["id"]: field["name"] for field in learns["fields"]}
    client.write("INSERT", "known", [{"hdr.ethernet.src": 0x0B}], "NoAction", {})
    for port, pipe in ((1, 0), (129, 1)):
        wires[port].send(frame(4, 0x100, 0x0B))
        time.sleep(0.05)
        wires[port].send(frame(4, 0x100, 0x0C))
        digest = client.hear("digest")
        assert (digest.digest_id, digest.target.pipe_id) == (learns["id"], pipe)
        (data,) = digest.data
        heard = {fields[field.field_id]: int.from_bytes(field.stream) for field in data.fields}
        assert heard == {"src": 0x0C, "port": port}
