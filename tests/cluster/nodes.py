"""Nodes of a Ray cluster on the loopback, each a process group of its own that a test can kill."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).resolve().parents[2]
RAY = str(Path(sys.executable).with_name("ray"))
START_TIMEOUT_S = 120
_STORE_BYTES = 80_000_000


class Nodes:
    """A head without cores, and workers with one each; `end` kills what is left."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.environment = {
            **os.environ,
            **environment,
            # Ray listens on all interfaces: who does not know the token gets nothing done.
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
            "RAY_USAGE_STATS_ENABLED": "0",
            # A lost head is lost at once; a busy machine answers late.
            "RAY_CLIENT_RECONNECT_GRACE_PERIOD": "0",
            "RAY_CLIENT_INITIAL_CONNECTION_TIMEOUT_S": "20",
            "PYTHONPATH": str(ROOT),
        }
        self._folder = folder
        self._ports = free_ports(2)
        self._started: dict[str, subprocess.Popen[bytes]] = {}
        # Its sockets' names have to be short.
        self._temporary = Path(f"/tmp/p4cc-ray-{os.getpid()}")  # noqa: S108 - a socket's name is at most 107 bytes

    @property
    def address(self) -> str:
        return f"ray://127.0.0.2:{self._ports[1]}"

    def start_head(self) -> None:
        words = ["--head", f"--port={self._ports[0]}", f"--ray-client-server-port={self._ports[1]}"]
        words += ["--node-ip-address=127.0.0.2", "--num-cpus=0", "--include-dashboard=false"]
        self._start({"head": [*words, f"--temp-dir={self._temporary}"]})

    def start_workers(self, *numbers: int) -> None:
        address = f"--address=127.0.0.2:{self._ports[0]}"
        self._start(
            {
                f"worker{number}": [address, f"--node-ip-address=127.0.0.{2 + number}", "--num-cpus=1"]
                for number in numbers
            }
        )

    def _start(self, wanted: dict[str, list[str]]) -> None:
        """Starts nodes side by side; on a busy machine Ray gives up after half a minute, and is asked again."""
        logs = {name: self._begin(name, words) for name, words in wanted.items()}
        for name, words in wanted.items():
            tries, log = 3, logs[name]
            until = time.monotonic() + START_TIMEOUT_S
            while b"Ray runtime started" not in log.read_bytes():
                assert time.monotonic() < until, log.read_text()
                if self._started[name].poll() is not None:
                    tries -= 1
                    assert tries, log.read_text()
                    self.kill(name)
                    log = self._begin(name, words)
                time.sleep(0.1)

    def _begin(self, name: str, words: list[str]) -> Path:
        """Starts a node; its log."""
        log = self._folder / f"{name}-{time.monotonic_ns()}.log"
        common = ["--disable-usage-stats", "--include-log-monitor=false", "--min-worker-port=0", "--max-worker-port=0"]
        common += [f"--object-store-memory={_STORE_BYTES}", "--block"]
        with log.open("wb") as file:
            self._started[name] = subprocess.Popen(
                [RAY, "start", *words, *common],
                env=self.environment,
                stdout=file,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        return log

    def kill(self, name: str) -> None:
        """As when a machine loses its power: nothing of it says goodbye."""
        started = self._started.pop(name)
        # All that it started, by number: some have groups of their own.
        # What a node left that gave up is its group.
        alive = [] if started.poll() is not None else [started.pid, *below(started.pid)]
        for process in [*alive, *group(started.pid)]:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
        started.wait(timeout=30)

    def end(self) -> None:
        for name in list(self._started):
            self.kill(name)
        shutil.rmtree(self._temporary, ignore_errors=True)


def group(pid: int) -> list[int]:
    """Processes of the session that a node leads."""
    found: list[int] = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(status.read_text().rpartition(") ")[2].split()[3]) == pid:
                found.append(int(status.parent.name))
    return found


def below(pid: int) -> Iterator[int]:
    """Processes that a process started, and those that these started."""
    children: dict[int, list[int]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(status.parent.name))
    left = list(children.get(pid, []))
    while left:
        one = left.pop()
        yield one
        left += children.get(one, [])


def free_ports(count: int) -> list[int]:
    """Ports of the loopback that nobody listens on; held together, so that they differ."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.2", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()
