"""Switches on files in place of interfaces, driven as p4c's own test runner drives BMv2."""

from __future__ import annotations

import os
import struct
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

import pytest

from p4cc.drop_in import folder as drop_in
from tests.switchd.test_thrift import free_port

ROOT = Path(__file__).resolve().parents[3]
PATIENCE_S = 60
PCAP_HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)

V1MODEL = """
#include <core.p4>
#include <v1model.p4>
header data_h { bit<8> a; }
struct headers_t { data_h data; }
struct meta_t {}
parser P(packet_in pkt, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start { pkt.extract(hdr.data); transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply {} }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    register<bit<8>>(1) seen;
    apply {
        bit<8> count;
        seen.read(count, 0);
        seen.write(0, count + 1);
        hdr.data.a = count;
        standard.egress_spec = standard.ingress_port ^ 1;
    }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) { apply {} }
control C(inout headers_t hdr, inout meta_t meta) { apply {} }
control D(packet_out pkt, in headers_t hdr) { apply { pkt.emit(hdr.data); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"""
"""Counts packets in their first byte, and sends those of port 0 out of port 1 and the other way."""


def record(at_s: int, packet: bytes) -> bytes:
    """A packet of a pcap file."""
    return struct.pack("<IIII", at_s, 0, len(packet), len(packet)) + packet


def packets(path: Path) -> list[bytes]:
    """What a pcap file holds; nothing as long as there is none."""
    if not path.exists():
        return []
    content = path.read_bytes()[len(PCAP_HEADER) :]
    found: list[bytes] = []
    while content:
        length = struct.unpack_from("<I", content, 8)[0]
        found.append(content[16 : 16 + length])
        content = content[16 + length :]
    return found


def headed(pipe: Path) -> BinaryIO:
    """A pipe that is open for packets: its reader has the file's header."""
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            # Without a reader this fails at once, where a blocking call would wait for ever.
            descriptor = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
            break
        except OSError:
            assert time.monotonic() < end, f"nobody reads {pipe}"
            time.sleep(0.01)
    os.set_blocking(descriptor, True)
    opened = os.fdopen(descriptor, "wb")
    opened.write(PCAP_HEADER)
    opened.flush()
    return opened


def wait_until(holds: Callable[[], bool], what: str) -> None:
    """Fails when something does not come true in time."""
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.01)


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of commands."""
    folder = tmp_path_factory.mktemp("drop_in")
    drop_in.make(folder, shadow=True)
    return folder


def test_pipes_are_read_in_the_order_of_their_packets(commands: Path, tmp_path: Path) -> None:
    (tmp_path / "count.p4").write_text(V1MODEL)
    words = [commands / "p4c-bm2-ss", "-o", tmp_path / "count.json", tmp_path / "count.p4"]
    subprocess.run(words, check=True, timeout=PATIENCE_S)
    for port in (0, 1):
        os.mkfifo(tmp_path / f"pcap{port}_in.pcap")
    port = str(free_port())
    line = ["--log-file", "switch.log", "--log-flush", "--use-files", "0", "--dump-packet-data", "10240"]
    switch = subprocess.Popen(
        [commands / "simple_switch", *line, "--thrift-port", port, "-i 0@pcap0", "-i 1@pcap1", "count.json"],
        cwd=tmp_path,
    )
    try:
        with ExitStack() as stack:
            # The switch reads a pipe's header before it opens the next pipe, as BMv2 does.
            first, second = (stack.enter_context(headed(tmp_path / f"pcap{port}_in.pcap")) for port in (0, 1))
            second.write(record(2, b"\xff2") + record(3, b"\xff3"))
            first.write(record(1, b"\xff1") + record(4, b"\xff4"))
        outs = [tmp_path / f"pcap{port}_out.pcap" for port in (0, 1)]
        wait_until(lambda: sum(len(packets(out)) for out in outs) == 4, "four packets to come out")
        assert [packets(out) for out in outs] == [[b"\x012", b"\x023"], [b"\x001", b"\x034"]]
    finally:
        switch.terminate()
        assert switch.wait(PATIENCE_S) == 0


def test_psa_switch_runs_json_for_psa(commands: Path, tmp_path: Path) -> None:
    program = ROOT / "engine/filetests/cases/run/psa_json.p4"
    subprocess.run([commands / "p4c-bm2-psa", "-o", tmp_path / "psa.json", program], check=True, timeout=PATIENCE_S)
    (tmp_path / "pcap0_in.pcap").write_bytes(PCAP_HEADER + record(1, b"\x01\x02\x03\x04"))
    (tmp_path / "pcap1_in.pcap").write_bytes(PCAP_HEADER)
    port = str(free_port())
    line = ["--use-files", "0", "--thrift-port", port, "-i", "0@pcap0", "-i", "1@pcap1", "psa.json"]
    switch = subprocess.Popen([commands / "psa_switch", *line], cwd=tmp_path)
    try:
        wait_until(lambda: (out := tmp_path / "pcap1_out.pcap").exists() and packets(out) != [], "a packet to come out")
        assert packets(tmp_path / "pcap1_out.pcap") == [b"\x01\x02\xfb\xf9"]
        told = subprocess.run(
            [commands / "psa_switch_CLI", "--thrift-port", port],
            input="register_read I.cells 1\n",
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=True,
        ).stdout
        assert "I.cells[1]= 1" in told
    finally:
        switch.terminate()
        assert switch.wait(PATIENCE_S) == 0


def test_a_failed_assertion_ends_the_switch_and_names_its_place(commands: Path, tmp_path: Path) -> None:
    program = V1MODEL.replace("hdr.data.a = count;", "assert(hdr.data.a != 7);")
    line = program[: program.index("assert")].count("\n") + 1
    (tmp_path / "asserts.p4").write_text(program)
    (tmp_path / "pcap0_in.pcap").write_bytes(PCAP_HEADER + record(1, b"\x06") + record(2, b"\x07"))
    (tmp_path / "pcap1_in.pcap").write_bytes(PCAP_HEADER)
    words = ["--log-console", "-L", "warn", "--use-files", "0", "-i", "0@pcap0", "-i", "1@pcap1", "asserts.p4"]
    ended = subprocess.run(
        [commands / "simple_switch", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert ended.returncode == 1
    assert f"asserts.p4:{line} did not hold; the switch ends" in ended.stdout + ended.stderr
    assert b"\x06" in packets(tmp_path / "pcap1_out.pcap")


def test_files_that_are_missing_end_the_start_by_name(commands: Path, tmp_path: Path) -> None:
    (tmp_path / "count.p4").write_text(V1MODEL)
    words = [commands / "simple_switch", "--use-files", "0", "-i", "0@pcap0", "count.p4"]
    ended = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert ended.returncode == 2
    assert "pcap0_in.pcap" in ended.stderr
