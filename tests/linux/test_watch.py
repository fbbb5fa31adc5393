"""Records of watched senders: one for each ACK, with the kernel's window and the marks that the switch set."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.linux.kernel import COMMAND, LOAD_S, SERVER, Senders, senders, transfer
from tests.linux.test_loader import joined
from tests.linux.test_marks import GST, SIZE, ends_of, marking
from tests.switchd import ecn_dual
from tests.switchd.namespaces import PATIENCE_S, Host, lab, run

#: More ACKs than the ring has room for records (4 MiB, 184 bytes each).
MANY = 25_000
#: Answers each byte with a byte.
ECHO = """
import socket
with socket.create_server(("", 5301)) as listening:
    print("listening", flush=True)
    connection, _ = listening.accept()
with connection:
    while data := connection.recv(1):
        connection.sendall(data)
"""
#: Sends so many bytes, each after the answer to the one before.
ASKER = """
import socket, sys
with socket.socket() as connection:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[2].encode())
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.connect((sys.argv[1], 5301))
    for _ in range(int(sys.argv[3])):
        connection.sendall(b"?")
        assert connection.recv(1) == b"?"
"""


@dataclass
class Watching:
    """A running `p4cc-hosts watch`; its records and its last words once it has ended."""

    process: subprocess.Popen[str]
    records: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    summary: str = ""

    def acks(self) -> list[dict[str, Any]]:
        return [record for record in self.records if record["event"] == "ack"]


@contextmanager
def watching(it: Senders, file: Path, *words: str) -> Generator[Watching]:
    """Records of all that happens inside, by an end through SIGTERM."""
    command = [str(COMMAND), "--pins", str(it.pins), "watch", "--output", str(file), *words]
    made = Watching(subprocess.Popen(command, stderr=subprocess.PIPE, text=True))
    assert made.process.stderr is not None
    try:
        assert made.process.stderr.readline() == "p4cc-hosts: watching\n"
        yield made
        made.process.send_signal(signal.SIGTERM)
        _, made.summary = made.process.communicate(timeout=LOAD_S)
    finally:
        made.process.kill()
        made.process.communicate()
    assert made.process.returncode == 0, made.summary
    made.records += [json.loads(line) for line in file.read_text().splitlines()]


#: Sends by a sender and prints what TCP_INFO says once all is acknowledged: window, threshold, round trip.
INFORMED = """
import socket, struct, sys, time
with socket.socket() as connection:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[4].encode())
    connection.connect((sys.argv[1], int(sys.argv[2])))
    print(connection.getsockname()[1])
    connection.sendall(bytes(int(sys.argv[3])))
    assert connection.recv(1) == b"!"
    while True:
        info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 232)
        if struct.unpack_from("=I", info, 24)[0] == 0:  # packets in flight
            break
        time.sleep(0.01)
    ssthresh, cwnd = struct.unpack_from("=II", info, 76)
    print(cwnd, ssthresh, struct.unpack_from("=I", info, 68)[0])
"""


def inform(it: Senders, name: str, ends: tuple[Host, Host]) -> list[int]:
    """Sends data; the port, then window, threshold and smoothed round-trip time by the kernel."""
    sender, receiver = ends
    server = it.python(receiver, SERVER, "5301", str(SIZE))
    try:
        assert server.stdout is not None
        assert server.stdout.readline() == "listening\n"
        client = it.python(sender, INFORMED, receiver.ipv4, "5301", str(SIZE), name)
        output, errors = client.communicate(timeout=3 * PATIENCE_S)
        assert client.returncode == 0, errors
        server.wait(PATIENCE_S)
        return [int(word) for word in output.split()]
    finally:
        server.kill()
        server.communicate()


@pytest.mark.parametrize("algorithm", ["dctcp", "reno_ecn"])
def test_records_have_the_kernel_s_window_and_the_switch_s_marks(tmp_path: Path, algorithm: str) -> None:
    with senders() as it, marking(tmp_path) as (net, thrift):
        name = it.load(algorithm, "--sender", algorithm, "--watch", *GST)
        with watching(it, tmp_path / "records", "--cgroup", str(it.cgroup)) as seen:
            port, cwnd, ssthresh, srtt_us = inform(it, name, (net.hosts[0], net.hosts[1]))
        marks = [ecn_dual.packets_at_level(thrift, 2, level) for level in (1, 2)]
        sender, _ = ends_of(it)
        counters = it.stats()["senders"][name]["counters"]
    acks = seen.acks()
    assert len(acks) == counters["acks"]
    assert seen.summary == f"p4cc-hosts: {len(seen.records)} records, 0 lost\n"
    assert {(one["local"], one["remote"], one["name"]) for one in seen.records} == {
        (f"{net.hosts[0].ipv4}:{port}", f"{net.hosts[1].ipv4}:5301", name)
    }
    # The last ACK acknowledges the end of the connection.
    last = next(one for one in reversed(acks) if one["acked_bytes"] == SIZE)
    assert [int(last["cwnd_segments"]), int(last["ssthresh_segments"])] == [cwnd, ssthresh]
    assert abs(last["srtt_ns"] / 1_000 - srtt_us) <= 1
    assert [last["k_marks"], last["kdc_marks"]] == [sender["reported_k"], sender["reported_kdc"]] == marks
    assert sum(one["new_segments"] for one in acks) == counters["segments"]
    assert sum(one["event"] == "recovery" for one in seen.records) == counters["recoveries"]
    assert (last["alpha"] is None) == (algorithm == "reno_ecn")
    # GST's phases in their order, and no window without its reason.
    phases = list(dict.fromkeys(one["phase"] for one in acks))
    assert phases[:3] == ["slow_start", "smoothing", "avoidance"]
    times = [one["time_ns"] for one in seen.records]
    assert times == sorted(times)
    assert seen.records[0]["started_ns"] <= times[0]


def ask(it: Senders, name: str, ends: tuple[Host, Host]) -> None:
    """Brings the sender many ACKs, one after the other."""
    server = it.python(ends[1], ECHO)
    try:
        assert server.stdout is not None
        assert server.stdout.readline() == "listening\n"
        client = it.python(ends[0], ASKER, ends[1].ipv4, name, str(MANY))
        _, errors = client.communicate(timeout=6 * PATIENCE_S)
        assert client.returncode == 0, errors
    finally:
        server.kill()
        server.communicate()


def test_records_without_room_are_counted(tmp_path: Path) -> None:
    with senders() as it, lab(tmp_path) as net:
        ends = joined(net)
        try:
            name = it.load("reno", "--sender", "reno_ecn", "--watch", option=False)
            with watching(it, tmp_path / "records") as seen:
                # It reads nothing for now.
                seen.process.send_signal(signal.SIGSTOP)
                ask(it, name, ends)
                seen.process.send_signal(signal.SIGCONT)
            counters = it.stats()["senders"][name]["counters"]
        finally:
            run("ip", "link", "del", ends[0].port_interface + "b")
    written, lost = (int(word) for word in seen.summary.split() if word.isdigit())
    assert written == len(seen.records)
    assert (counters["recoveries"], counters["timeouts"]) == (0, 0)
    assert lost > 0
    assert written + lost == counters["acks"] >= MANY


def test_only_watched_groups_are_recorded(tmp_path: Path) -> None:
    with senders() as it, lab(tmp_path) as net:
        ends = joined(net)
        try:
            plain = it.load("plain", "--sender", "dctcp")
            nobody = it.attempt("watch")
            refused = it.attempt("set", plain, "--cgroup", str(it.cgroup), "--watch")
            name = it.load("dctcp", "--sender", "dctcp", "--watch")
            it.call("set", name, "--cgroup", str(it.cgroup))
            with watching(it, tmp_path / "first") as first:
                transfer(it, plain, ends, SIZE)
                transfer(it, name, ends, SIZE)
            it.call("set", name, "--cgroup", str(it.cgroup), "--watch")
            # Another group's name leaves nothing.
            with watching(it, tmp_path / "second", "--cgroup", str(it.cgroup.parent)) as second:
                transfer(it, name, ends, SIZE)
            with watching(it, tmp_path / "third") as third:
                transfer(it, name, ends, SIZE)
        finally:
            run("ip", "link", "del", ends[0].port_interface + "b")
        it.call("unload")
        assert not it.pins.exists()
    assert (nobody.returncode, "no sender is watched; load one with --watch" in nobody.stderr) == (1, True)
    assert (refused.returncode, "was loaded without --watch" in refused.stderr) == (1, True)
    assert (first.records, second.records) == ([], [])
    # What the second watch left out is not in the third's records.
    assert len({one["started_ns"] for one in third.records}) == 1
    assert third.acks()[-1]["acked_bytes"] >= SIZE
