"""What a switch does with packets is the same at every log level: no root, packets come and go over a socket."""

from __future__ import annotations

import socket
import struct
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest
from finsy.proto import U128, p4r

from tests.switchd.namespaces import PATIENCE_S, ROOT, Switch, listening, switch_program, wait_for
from tests.switchd.soak import DEVICE, Client
from tests.switchd.test_notifications import PACKET, PAIR, greet

LEVELS = ["trace", "debug", "info", "warn", "error", "off"]
PACKET_OUT = 4
#: Where what a controller hears of stands among the ports.
CONTROLLER = -1
#: How long nothing more may come after all that was expected.
QUIET_S = 0.2

Seen = Counter[tuple[int, bytes]]


@dataclass(frozen=True)
class Case:
    """A program, how its switch is set up, what it gets and where that goes."""

    program: Path
    cpu_port: int
    #: By number of the session the port of the copies.
    sessions: dict[int, int]
    packets: list[tuple[int, bytes]]
    #: How many leave by each port.
    leaves: dict[int, int]
    #: Multicast group, with its ports.
    group: tuple[int, list[int]] | None = None
    #: What does not depend on how long something took.
    lasting: Callable[[bytes], bytes] = lambda packet: packet


def operation(number: int, argument: int) -> bytes:
    """A packet of `replication.p4`, which asks for an operation."""
    return struct.pack(">BH", number, argument).ljust(100, b"\0")


V1MODEL = Case(
    ROOT / "engine/switch/tests/replication/replication.p4",
    cpu_port=510,
    sessions={1: 510, 7: 2},
    # Out of a port, dropped, to the controller, multicast, copied from ingress and from egress, resubmitted,
    # recirculated.
    packets=[
        (1, operation(*one)) for one in [(0, 2), (1, 0), (0, 510), (2, 2), (3, 1), (6, 7), (4, 0), (7, 0), (15, 1)]
    ],
    leaves={1: 5, 2: 4, 3: 1, CONTROLLER: 2},
    group=(2, [1, 2, 3]),
    # Egress writes down the depth of the queue.
    lasting=lambda packet: packet[:7] + bytes(2) + packet[9:],
)
TNA = Case(
    ROOT / "engine/filetests/cases/run/tna_mirror_to_cpu.p4",
    cpu_port=64,
    sessions={5: 64, 6: 68},
    packets=[(0, bytes.fromhex(one)) for one in ["01020005", "02020005", "03020006", "ff020005"]],
    leaves={2: 3, 3: 1, CONTROLLER: 3},
)


class Run:
    """A switch at a log level, and what came of it."""

    def __init__(self, case: Case, level: str, folder: Path) -> None:
        self.case = case
        self.seen: Seen = Counter()
        self.lock = threading.Lock()
        folder.mkdir()
        log, ports = folder / "log", [word for port in range(4) for word in ("-i", f"{port}@port{port}")]
        command = [switch_program(), str(case.program), *ports, "--device-id", str(DEVICE)]
        command += ["--packet-in", f"ipc://{folder}/packets.ipc", "--log-file", str(log), "-L", level]
        # The address is in no log at some levels.
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        command += ["--", "--grpc-server-addr", self.address, "--cpu-port", str(case.cpu_port)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.log = log.with_suffix(".txt")
        wait_for(self.serves, "the switch")
        self.packets = greet(folder / "packets.ipc", PAIR, PAIR)

    def serves(self) -> bool:
        """Whether the switch takes connections."""
        if self.process.poll() is not None:
            listening(Switch(self.process, "", self.log), "")
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", int(self.address.rsplit(":", 1)[1]))) == 0

    def configure(self, client: Client) -> None:
        """Writes sessions and group."""
        request = p4r.WriteRequest(device_id=DEVICE, role=client.role, election_id=U128.encode(1))
        for number, port in self.case.sessions.items():
            update = request.updates.add(type=p4r.Update.INSERT)
            session = update.entity.packet_replication_engine_entry.clone_session_entry
            session.session_id = number
            session.replicas.add(egress_port=port, instance=1)
        if self.case.group:
            update = request.updates.add(type=p4r.Update.INSERT)
            group = update.entity.packet_replication_engine_entry.multicast_group_entry
            group.multicast_group_id, ports = self.case.group
            for instance, port in enumerate(ports):
                group.replicas.add(egress_port=port, instance=instance)
        client.call("Write", request)

    def note(self, port: int, packet: bytes) -> None:
        with self.lock:
            self.seen[port, self.case.lasting(packet)] += 1

    def hear(self, client: Client) -> None:
        """What the controller hears of."""
        # The stream ends with the test.
        with suppress(grpc.RpcError):
            for message in client.stream:
                if message.HasField("packet"):
                    self.note(CONTROLLER, message.packet.payload)

    def leave(self) -> None:
        """What leaves by the ports."""
        stream = self.packets.makefile("rb")
        while head := stream.read(9):
            message = stream.read(struct.unpack(">xQ", head)[0])
            kind, port, length = struct.unpack_from("<iii", message)
            assert (kind, length) == (PACKET_OUT, len(message) - 12)
            self.note(port, message[12:])

    def total(self) -> int:
        with self.lock:
            return self.seen.total()

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self.packets.close()


def run(case: Case, level: str, folder: Path) -> Seen:
    """What comes out of a switch at a log level."""
    it = Run(case, level, folder)
    try:
        client = Client(it.address, 1)
        it.configure(client)
        for look in (it.leave, lambda: it.hear(client)):
            threading.Thread(target=look, daemon=True).start()
        for port, packet in case.packets:
            message = struct.pack("<iii", PACKET, port, len(packet)) + packet
            it.packets.sendall(b"\x01" + struct.pack(">Q", len(message)) + message)
        expected = sum(case.leaves.values())
        end = time.monotonic() + PATIENCE_S
        while it.total() < expected and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(QUIET_S)
        client.close()
    finally:
        it.end()
    return it.seen


@pytest.mark.parametrize("case", [V1MODEL, TNA], ids=["v1model", "tna"])
def test_the_same_packets_leave_at_every_log_level(case: Case, tmp_path: Path) -> None:
    first = run(case, LEVELS[0], tmp_path / LEVELS[0])
    leaves: Counter[int] = Counter()
    for (port, _), count in first.items():
        leaves[port] += count
    assert leaves == case.leaves, first
    for level in LEVELS[1:]:
        assert run(case, level, tmp_path / level) == first, level
