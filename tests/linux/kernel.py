"""p4cc's senders in this machine's kernel, loaded for one test and unloaded after it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.switchd.namespaces import PATIENCE_S, ROOT, Host

COMMAND = ROOT / "target/linux-hosts/release/p4cc-hosts"
BPFFS = Path("/sys/fs/bpf")
CONTROLS = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
#: Loading verifies some thousand instructions; a busy machine takes its time.
LOAD_S = 60.0


def needs_senders() -> None:
    """Skips where the kernel cannot load senders, or nothing was built to load."""
    if os.geteuid() != 0:
        pytest.skip("loading senders into the kernel needs root")
    if not COMMAND.exists():
        pytest.skip("p4cc-hosts is not built: make linux-hosts")
    status = subprocess.run([COMMAND, "status"], capture_output=True, text=True, check=False, timeout=LOAD_S)
    lacks = [line for line in status.stdout.splitlines() if line.startswith("cannot load")]
    if lacks:
        pytest.skip(f"the kernel cannot load senders: {'; '.join(lacks)}")


def registered() -> list[str]:
    """The congestion controls that the kernel has."""
    return CONTROLS.read_text().split()


@dataclass(frozen=True)
class Senders:
    """Pins, a control group and names that no other test has."""

    pins: Path
    cgroup: Path

    def name(self, word: str) -> str:
        """A name for a sender of this process, in the kernel's 15 characters."""
        return f"t{os.getpid()}_{word}"[:15]

    def call(self, *words: str) -> str:
        """Runs `p4cc-hosts`, which must succeed; its standard output."""
        done = self.attempt(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def attempt(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Runs `p4cc-hosts`."""
        command = [str(COMMAND), "--pins", str(self.pins), *words]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=LOAD_S)

    def load(self, word: str, *words: str, option: bool = True) -> str:
        """Loads a sender and, as a rule, the option; the sender's name."""
        name = self.name(word)
        self.call("load", "--name", name, *(("--cgroup", str(self.cgroup)) if option else ()), *words)
        return name

    def stats(self) -> dict[str, Any]:
        """All counters."""
        return json.loads(self.call("stats"))

    def python(self, host: Host, text: str, *arguments: str) -> subprocess.Popen[str]:
        """Python source running in a host's namespace and in the control group."""
        # Before the namespace, in which the control groups are not mounted.
        join = f'echo $$ >{self.cgroup}/cgroup.procs && exec "$@"'
        command = ["sh", "-c", join, "sh", *host.command(sys.executable, "-c", text, *arguments)]
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )


def mounted_groups() -> Path | None:
    """Where control groups of version 2 are mounted; None where they are not."""
    mounts = [line.split()[1:3] for line in Path("/proc/mounts").read_text().splitlines()]
    return next((Path(place) for place, kind in mounts if kind == "cgroup2"), None)


@contextmanager
def control_groups() -> Generator[None]:
    """Mounts control groups of version 2 for the time of a test where a machine has not done so."""
    if mounted_groups() is not None or os.geteuid() != 0:
        yield
        return
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["/bin/mount", "-t", "cgroup2", "none", folder], check=False, capture_output=True)
        try:
            yield
        finally:
            if done.returncode == 0:
                subprocess.run(["/bin/umount", folder], check=True)


@contextmanager
def senders() -> Generator[Senders]:
    """A place for senders, removed whole after the test."""
    with control_groups():
        needs_senders()
        root = mounted_groups()
        assert root is not None, "a kernel without control groups cannot load senders"
        name = f"p4cc-test-{os.getpid()}"
        made = Senders(BPFFS / name, root / name)
        made.cgroup.mkdir(exist_ok=True)
        try:
            yield made
        finally:
            made.attempt("unload")
            made.cgroup.rmdir()


#: Accepts one connection, says so, reads it to its end, answers with one byte and waits for the close.
SERVER = """
import socket, sys
with socket.create_server(("", int(sys.argv[1]))) as listening:
    print("listening", flush=True)
    connection, _ = listening.accept()
with connection:
    left = int(sys.argv[2])
    while left > 0:
        left -= len(connection.recv(min(left, 1 << 16)))
    connection.sendall(b"!")
    connection.recv(1)
"""

#: Sends bytes by a sender, waits for the answer and prints the seconds; ends as the answer is there.
CLIENT = """
import socket, sys, time
with socket.socket() as connection:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[4].encode())
    connection.connect((sys.argv[1], int(sys.argv[2])))
    begun = time.monotonic()
    connection.sendall(bytes(int(sys.argv[3])))
    assert connection.recv(1) == b"!"
    print(time.monotonic() - begun)
"""


def transfer(it: Senders, name: str, ends: tuple[Host, Host], size: int, port: int = 5301) -> float:
    """Sends `size` bytes from one host to another by this sender; the seconds until the receiver's answer."""
    sender, receiver = ends
    server = it.python(receiver, SERVER, str(port), str(size))
    try:
        assert server.stdout is not None
        assert server.stdout.readline() == "listening\n"
        client = it.python(sender, CLIENT, receiver.ipv4, str(port), str(size), name)
        output, errors = client.communicate(timeout=3 * PATIENCE_S)
        assert client.returncode == 0, errors
        server.wait(PATIENCE_S)
        return float(output)
    finally:
        server.kill()
        server.communicate()
