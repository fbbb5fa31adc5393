"""Runs the packet tests: starts a switch, gives its ports to PTF, and leaves nothing behind.

    python -m ptf_tests.run [--target p4cc|bmv2] [--arch v1model|tna|all] [--platform veth|nanomsg] [TEST ...]

With veth (root), switch and tests live in a network namespace and a process namespace without a name, which vanish
with their last process, however that ends. With nanomsg no privilege is needed: PTF and the switch exchange packets
over a socket in a temporary folder.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from pathlib import Path
from typing import NoReturn

from p4cc.errors import UserError
from ptf_tests.targets import TARGETS, Target

ROOT = Path(__file__).resolve().parent.parent
CASES = Path(__file__).parent / "cases"
PROGRAMS = {
    "v1model": (ROOT / "p4src" / "v1model", Path(__file__).parent / "programs"),
    "tna": (ROOT / "p4src" / "tna",),
}
"""Where the programs of an architecture are."""
# The chip counts depths in cells.
CELLS = ("--qdepth-unit", "cells80")
PORTS = (1, 2, 3, 4)
CPU_PORT = 510
DEVICE_ID = 1
START_TIMEOUT_S = 20.0
STOP_TIMEOUT_S = 5.0
# Packets of a port that PTF keeps for a test.
QUEUE_PKTS = 4096
UNUSED_LAYERS = ("ipv6", "vxlan", "erspan", "geneve", "mpls", "nvgre", "igmp")
INSIDE = "P4CC_PTF_INSIDE"

EXIT_USAGE = 2


def main() -> int:
    """Parse the command line; 0 if all tests passed, 1 if not, 2 if they could not be run."""
    options = _parser().parse_args()
    try:
        if options.platform is None:
            options.platform = "veth" if os.geteuid() == 0 else "nanomsg"
        if options.platform == "veth" and INSIDE not in os.environ:
            _enter_namespaces()
        target = TARGETS[options.target]
        return max(_run(target, arch, options) for arch in _architectures(target, options.arch))
    except UserError as error:
        sys.stderr.write(f"ptf: {error}\n")
        return EXIT_USAGE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ptf_tests.run",
        description="Packet tests of the P4 programs with PTF.",
        epilog="examples:  python -m ptf_tests.run   |   python -m ptf_tests.run --target bmv2 forwarding.Ttl",
    )
    parser.add_argument("tests", nargs="*", help="PTF test names, all if none is given; ptf --list shows them")
    parser.add_argument("--target", choices=sorted(TARGETS), default="p4cc", help="the switch (default: p4cc)")
    parser.add_argument(
        "--arch", choices=("all", *PROGRAMS), default="all", help="programs of this architecture (default: all it runs)"
    )
    parser.add_argument(
        "--platform", choices=("veth", "nanomsg"), help="how packets reach it (default: veth as root, else nanomsg)"
    )
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep logs and compiled programs here")
    return parser


def _architectures(target: Target, wanted: str) -> tuple[str, ...]:
    """What of the wanted architectures the target runs, one after the other; raises UserError for none."""
    if wanted == "all":
        return target.architectures
    if wanted not in target.architectures:
        remedy = f"choose one of: {', '.join(target.architectures)}"
        raise UserError(f"{target.name} does not run {wanted} programs", place="--arch", remedy=remedy)
    return (wanted,)


def _enter_namespaces() -> NoReturn:
    """Start this very command again where it can make interfaces that nobody else sees."""
    if os.geteuid() != 0:
        raise UserError("veth interfaces need root", place="--platform veth", remedy="use --platform nanomsg, or sudo")
    wrapper = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    os.environ[INSIDE] = "1"
    os.execvp(wrapper[0], [*wrapper, sys.executable, "-m", "ptf_tests.run", *sys.argv[1:]])


def _run(target: Target, arch: str, options: argparse.Namespace) -> int:
    platform: str = options.platform
    tests: list[str] = options.tests
    keep: Path | None = options.keep
    sys.stderr.write(f"ptf: {target.name}, programs for {arch}\n")
    with contextlib.ExitStack() as stack:
        if keep is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="p4cc-ptf-")))
        else:
            folder = keep.resolve() / arch
            folder.mkdir(parents=True, exist_ok=True)
        _compile(target, arch, folder)
        if platform == "veth":
            stack.callback(_remove_interfaces)
            _make_interfaces()
            switch_ports = [word for port in PORTS for word in ("-i", f"{port}@sw{port}")]
            ptf_ports = [word for port in PORTS for word in ("-i", f"{port}@host{port}")]
        else:
            address = f"ipc://{folder}/packets.ipc"
            switch_ports = ["--packet-in", address]
            ptf_ports = ["-P", "nn", "--device-socket", f"0-{{{','.join(map(str, PORTS))}}}@{address}"]
        if arch == "tna":
            switch_ports += CELLS
        # The chip deflects to port 0, which leads back if it is none of the switch's; on nanomsg it is one.
        deflects = target.deflects and (arch != "tna" or platform == "veth")
        if deflects:
            switch_ports.append("--deflect-on-drop")
        grpc_port, thrift_port = _free_port(), _free_port()
        command = target.command(
            device_id=DEVICE_ID, grpc_port=grpc_port, thrift_port=thrift_port, cpu_port=CPU_PORT, ports=switch_ports
        )
        stack.enter_context(_switch(command, folder / "switch.log", (grpc_port, thrift_port)))
        parameters = {
            "grpc_addr": f"127.0.0.1:{grpc_port}",
            "device_id": str(DEVICE_ID),
            "build": str(folder),
            "queue_cli": "|".join(target.queue_command(thrift_port)),
            "target": target.name,
            "arch": arch,
            "deflects": "yes" if deflects else "no",
        }
        return _ptf(ptf_ports, parameters, tests, folder)


def _compile(target: Target, arch: str, folder: Path) -> None:
    for program in sorted(file for place in PROGRAMS[arch] for file in place.glob("*.p4")):
        target.compile(program, folder / f"{program.stem}.p4info.txtpb", folder / f"{program.stem}.config")


def _make_interfaces() -> None:
    """One pair for each port: `swN` for the switch, `hostN` for PTF; no offloads, no IPv6 chatter."""
    for port in PORTS:
        _ip(f"link add sw{port} type veth peer name host{port}")
        for name in (f"sw{port}", f"host{port}"):
            Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6").write_text("1")
            _ip(f"link set {name} mtu 9500 up")
    _ip("link set lo up")


def _remove_interfaces() -> None:
    """A pair goes with either of its ends."""
    for port in PORTS:
        subprocess.run(["ip", "link", "del", f"sw{port}"], capture_output=True, check=False)


def _ip(words: str) -> None:
    done = subprocess.run(["ip", *words.split()], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UserError(done.stderr.strip(), place=f"ip {words}", remedy="see that iproute2 and veth are there")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def _switch(command: list[str], log: Path, ports: tuple[int, ...]) -> Generator[None]:
    """A running switch whose ports answer; raises UserError with its log if it does not start."""
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        try:
            for port in ports:
                _wait_for(process, port, log)
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_for(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < end and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise UserError(
        f"the switch did not start: {log.read_text(errors='replace')[-2000:]}",
        place=f"port {port}",
        remedy="see its log above",
    )


def _ptf(ports: list[str], parameters: dict[str, str], tests: list[str], folder: Path) -> int:
    program = Path(sys.executable).parent / "ptf"
    if not program.is_file():
        raise UserError("ptf is not installed", place=str(program), remedy="make ptf installs it")
    quoted = ";".join(f"{name}='{value}'" for name, value in parameters.items())
    command = [str(program), "--test-dir", str(CASES), "--pypath", str(ROOT), *ports, "--test-params", quoted]
    command += ["--log-file", str(folder / "ptf.log"), "--qlen", str(QUEUE_PKTS)]
    command += [f"--disable-{layer}" for layer in UNUSED_LAYERS]
    if os.geteuid() != 0:
        command.append("--allow-user")
    return 1 if subprocess.run([*command, *tests], check=False, cwd=folder).returncode else 0


if __name__ == "__main__":
    sys.exit(main())
