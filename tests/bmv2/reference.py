"""BMv2's `simple_switch` as a second opinion: packets from files, commands over its own command line.

`P4CC_BMV2` names a folder with `simple_switch` and `simple_switch_CLI`; otherwise PATH is searched.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import socket
import struct
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

PATIENCE_S = 30
SPACING_US = 20_000
"""Between two packets, so that each has left before the next arrives."""
SETTLE_S = 1.0
"""After the last packet."""

_PCAP_HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1)
_RECORD = struct.Struct("<IIII")


def program(name: str) -> str | None:
    """The path of one of BMv2's programs."""
    return shutil.which(name, path=os.environ.get("P4CC_BMV2")) or shutil.which(name)


def is_real() -> bool:
    """Whether BMv2 itself is there: `p4cc drop-in` gives the same names to p4cc's own programs."""
    path = program("simple_switch")
    if path is None or program("simple_switch_CLI") is None:
        return False
    done = subprocess.run([path, "--help"], capture_output=True, text=True, check=False)
    return "p4cc" not in done.stdout


@dataclass
class Outcome:
    """What a run of BMv2 came to."""

    packets: dict[int, list[bytes]] = field(default_factory=dict[int, list[bytes]])
    """By port, in order."""
    answers: list[str] = field(default_factory=list[str])
    """What the commands after the packets printed."""
    exit_code: int | None = None
    """Of a switch that ended by itself; negative for a signal."""
    log: str = ""


@dataclass(frozen=True)
class Packet:
    """A packet into a port."""

    port: int
    data: bytes


Step = Packet | str
"""A packet, or a line for simple_switch_CLI."""


def run(
    document: Path, steps: Sequence[Step], ports: Sequence[int], folder: Path, *, until_end: bool = False
) -> Outcome:
    """Runs steps in order on a switch with BMv2 JSON and these ports; `until_end` waits for it to end by itself.

    BMv2 waits for a packet at every port before it takes the first, so all packets should enter the same port if a
    command follows a packet.
    """
    thrift = _free_port()
    switch = program("simple_switch")
    assert switch is not None
    interfaces = [word for port in ports for word in ("-i", f"{port}@port{port}")]
    command = [switch, "--use-files", "0", "--thrift-port", str(thrift), "--device-id", str(thrift)]
    command += ["--log-console", "-L", "debug", *interfaces, str(document.resolve())]
    for port in ports:
        os.mkfifo(folder / f"port{port}_in.pcap")
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
    outcome = Outcome()
    try:
        inputs = {port: _opened(folder / f"port{port}_in.pcap", process) for port in ports}
        _wait_for_thrift(thrift, process)
        used = {step.port for step in steps if isinstance(step, Packet)}
        for port in inputs.keys() - used:
            _close(inputs[port])
        _take(steps, inputs, used, thrift, process, outcome)
        if until_end:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE_S)
        outcome.exit_code = process.poll()
    finally:
        process.terminate()
        process.wait(PATIENCE_S)
    for port in ports:
        outcome.packets[port] = _read_capture(folder / f"port{port}_out.pcap")
    outcome.log = (folder / "log").read_text(errors="replace")
    return outcome


def _take(
    steps: Sequence[Step],
    inputs: dict[int, int | None],
    used: set[int],
    thrift: int,
    process: subprocess.Popen[bytes],
    outcome: Outcome,
) -> None:
    """Runs of commands and of packets, one after the other."""
    sent = 0
    for of_packets, some in itertools.groupby(steps, lambda step: isinstance(step, Packet)):
        run_of = list(some)
        if process.poll() is not None:
            return
        if not of_packets:
            outcome.answers += _commands(thrift, [str(line) for line in run_of])
            continue
        for step in run_of:
            assert isinstance(step, Packet)
            sent += 1
            _send(inputs[step.port], sent, step.data)
        if len(used) > 1:
            for port in used:
                _close(inputs[port])
        _settle(len(run_of), process)
    for port in used if len(used) == 1 else ():
        _close(inputs[port])


def _settle(packets: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + packets * SPACING_US / 1e6 + SETTLE_S
    while time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.05)


def _opened(path: Path, process: subprocess.Popen[bytes]) -> int | None:
    """A pipe that the switch reads as a capture, once it does; none if the switch has ended.

    The switch opens its pipes one after the other, and waits for the header of each.
    """
    deadline = time.monotonic() + PATIENCE_S
    while process.poll() is None and time.monotonic() < deadline:
        try:
            file = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            time.sleep(0.01)
            continue
        os.write(file, _PCAP_HEADER)
        return file
    return None


def _send(file: int | None, place: int, data: bytes) -> None:
    """Writes a packet; its place among all gives its time."""
    if file is None:
        return
    seconds, us = divmod(place * SPACING_US, 1_000_000)
    with contextlib.suppress(BrokenPipeError):
        os.write(file, _RECORD.pack(seconds, us, len(data), len(data)) + data)


def _close(file: int | None) -> None:
    if file is not None:
        os.close(file)


def _read_capture(path: Path) -> list[bytes]:
    data = path.read_bytes() if path.exists() else b""
    packets: list[bytes] = []
    at = len(_PCAP_HEADER)
    while at + _RECORD.size <= len(data):
        length = _RECORD.unpack_from(data, at)[2]
        at += _RECORD.size
        packets.append(data[at : at + length])
        at += length
    return packets


def _commands(port: int, lines: Sequence[str]) -> list[str]:
    cli = program("simple_switch_CLI")
    assert cli is not None
    text = "\n".join(lines) + "\n"
    done = subprocess.run(
        [cli, "--thrift-port", str(port)], input=text, capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )
    return [line.removeprefix("RuntimeCmd: ") for line in (done.stdout + done.stderr).splitlines()]


def _wait_for_thrift(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while process.poll() is None and time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]
