"""Hosts in network namespaces around a `p4cc-switch`, made for one test and removed after it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import pytest

T = TypeVar("T")

#: Linux's number of the address family, which this Python has no name for.
AF_XDP = 44

ROOT = Path(__file__).resolve().parents[2]
PAIR = Path(__file__).with_name("pair.p4")
#: Longest wait for anything that takes milliseconds on an idle machine.
PATIENCE_S = 20.0
#: `--io` of a lab's switches: the fixture `io` sets it.
IO = {"way": "auto"}
#: For tests that hold whichever way packets are moved.
both_ways = pytest.mark.usefixtures("io")


def switch_program(name: str = "p4cc-switch") -> str:
    """Path of an installed program: beside this Python, or on PATH."""
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed; `make setup` builds it")
    return found


def needs_namespaces() -> None:
    """Skips where namespaces cannot be made."""
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    if shutil.which("ip") is None:
        pytest.skip("network namespaces need iproute2: apt-get install iproute2")
    probe = f"p4t{os.getpid()}-probe"
    if not attempt("ip", "netns", "add", probe):
        pytest.skip("this system does not let root make network namespaces")
    run("ip", "netns", "del", probe)


def needs_af_xdp() -> None:
    """Skips where the kernel has no AF_XDP sockets."""
    try:
        socket.socket(AF_XDP, socket.SOCK_RAW).close()
    except OSError as error:
        pytest.skip(f"AF_XDP sockets cannot be had here: {error}")


def attempt(*command: str) -> bool:
    """Runs a command that may fail."""
    return subprocess.run(command, capture_output=True, check=False, timeout=PATIENCE_S).returncode == 0


def run(*command: str) -> str:
    """Runs a command that must succeed; its standard output."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
    return done.stdout


@dataclass(frozen=True)
class Host:
    """A namespace with one interface, `eth0`, whose other end is a port of the switch."""

    number: int
    namespace: str
    port_interface: str

    @property
    def ipv4(self) -> str:
        return f"10.9.0.{self.number}"

    @property
    def mac(self) -> str:
        return f"02:00:00:00:00:{self.number:02x}"

    def command(self, *command: str) -> list[str]:
        """The command line that runs a command in the namespace."""
        return ["ip", "netns", "exec", self.namespace, *command]

    def python(self, text: str) -> subprocess.Popen[str]:
        """Python source running in the namespace."""
        return subprocess.Popen(
            self.command(sys.executable, "-c", text),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@dataclass
class Switch:
    """A running `p4cc-switch`."""

    process: subprocess.Popen[str]
    address: str
    log: Path

    def stop(self) -> int:
        """Ends it by SIGTERM; its exit code."""
        self.process.terminate()
        return self.process.wait(PATIENCE_S)


@dataclass
class Lab:
    """Some hosts, and the switches that were started."""

    hosts: list[Host]
    folder: Path
    switches: list[Switch] = field(default_factory=list[Switch])

    def interfaces(self) -> list[str]:
        """The options that make host n's link port n."""
        return [word for host in self.hosts for word in ("-i", f"{host.number}@{host.port_interface}")]

    def switch(self, *options: str, target: tuple[str, ...] = (), log_level: str = "info") -> Switch:
        """Starts a switch with all hosts on its ports; returns when it serves P4Runtime."""
        log = self.folder / f"switch{len(self.switches)}"
        way = () if "--io" in options else ("--io", IO["way"])
        command = [switch_program(), *self.interfaces(), *way, "--log-file", str(log), "-L", log_level, *options]
        command += ["--", "--grpc-server-addr", "127.0.0.1:0", *target]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        switch = Switch(process, "", log.with_suffix(".txt"))
        self.switches.append(switch)
        switch.address = wait_for(lambda: listening(switch, "P4Runtime server listening on "), "the switch to start")
        wait_for(lambda: "switch runs" in switch.log.read_text(), "the switch to run")
        return switch


def listening(switch: Switch, words: str) -> str | None:
    """The address that the switch's log says it listens on."""
    if switch.process.poll() is not None:
        assert switch.process.stderr is not None
        raise AssertionError(f"the switch ended: {switch.process.stderr.read()}")
    text = switch.log.read_text() if switch.log.exists() else ""
    return next((line.split(words)[1].strip() for line in text.splitlines() if words in line), None)


def wait_for(look: Callable[[], T | None], what: str, patience_s: float = PATIENCE_S) -> T:
    """Looks again and again until there is something."""
    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.01)
    raise AssertionError(f"waited {patience_s} s in vain for {what}")


@contextmanager
def lab(folder: Path, hosts: int = 2) -> Generator[Lab]:
    """Hosts 1, 2, ... with offloads and IPv6 off, each on a link to port 1, 2, ... of a switch to come."""
    needs_namespaces()
    # Interface names have at most 15 characters.
    prefix = f"p4t{os.getpid()}"
    made = Lab([Host(n, f"{prefix}-h{n}", f"{prefix}-{n}") for n in range(1, hosts + 1)], folder)
    try:
        for host in made.hosts:
            connect(host)
        yield made
    finally:
        for switch in made.switches:
            switch.process.kill()
            switch.process.wait()
        for host in made.hosts:
            # The interface first: a namespace takes its own along only some time later.
            attempt("ip", "link", "del", host.port_interface)
            attempt("ip", "netns", "del", host.namespace)


def connect(host: Host) -> None:
    """Makes a host's namespace and its link."""
    run("ip", "netns", "add", host.namespace)
    make_link(host)


def make_link(host: Host, *words: str) -> None:
    """Makes the link between a host and its port; `words` are further ones for the port's interface."""
    peer = ("peer", "name", "eth0", "address", host.mac, "netns", host.namespace)
    run("ip", "link", "add", host.port_interface, *words, "type", "veth", *peer)
    run("sysctl", "-qw", f"net.ipv6.conf.{host.port_interface}.disable_ipv6=1")
    run(*host.command("sysctl", "-qw", "net.ipv6.conf.eth0.disable_ipv6=1"))
    if shutil.which("ethtool"):
        off = [word for offload in ("tx", "rx", "tso", "gso", "gro") for word in (offload, "off")]
        attempt(*host.command("ethtool", "-K", "eth0", *off))
    run("ip", "link", "set", host.port_interface, "up")
    run("ip", "-n", host.namespace, "addr", "add", f"{host.ipv4}/24", "dev", "eth0")
    run("ip", "-n", host.namespace, "link", "set", "lo", "up")
    run("ip", "-n", host.namespace, "link", "set", "eth0", "up")
