"""Runs PTF tests on one program: `python -m p4cc.grading.ptf_worker` in namespaces, a task as JSON on standard input.

A line of JSON comes out for each test as it ends, so that a test without end costs no result of those before it. Each
test gets a switch of its own, which has started with the program. Switch and tests have BMv2's ports, and they run
within limits: they read this system but nobody's files, and write to one folder.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from p4cc.grading.sandbox import limit, run_within

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping

PORTS = range(8)
CPU_PORT = 510
GRPC_PORT, THRIFT_PORT = 9559, 9090
"""BMv2's own: nobody else is in this namespace."""
MTU_BYTES = 9_500
MOST_FILE_BYTES = 100_000_000
START_S, STOP_S = 20.0, 5.0
KEPT_PKTS = 4_096
"""Packets of a port that PTF keeps for a test."""
MOST_CHARACTERS = 4_000
"""Of what is shown of one failure."""
MOST_PROBLEMS = 20

_FAILURE = re.compile(
    r"^={70}\n(?:FAIL|ERROR): (?:runTest \()?([\w.]+?)(?:\.runTest)?\)?\n.*?^-{70}\n(.*?)(?=^[=-]{70}\n)",
    re.MULTILINE | re.DOTALL,
)
_RAISED = re.compile(r"^(?![ \t]|Traceback )\S", re.MULTILINE)
_SKIPPED = re.compile(r"^OK \(.*?skipped=(\d+)", re.MULTILINE)


def main() -> None:
    """Reads a task, writes its results."""
    task: dict[str, Any] = json.load(sys.stdin)
    folder = Path(task["folder"])
    _make_interfaces()
    config = folder / task["config_name"]
    config.write_bytes(base64.b64decode(task["config"]))
    (folder / "p4info.txtpb").write_text(task["p4info"], encoding="utf-8")
    # Tests call the command line by BMv2's name on any target.
    (folder / "bin").mkdir()
    (folder / "bin" / "simple_switch_CLI").symlink_to(task["command_line"])
    os.environ |= {"HOME": str(folder), "TMPDIR": str(folder), "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    os.chdir(folder)
    limit(task["memory_bytes"], task["cpu_s"], MOST_FILE_BYTES)
    run_within(folder, map(Path, task["readable"]))
    for test in task["tests"]:
        problems = list(_problems(task, test, folder, config))
        print(json.dumps({"passed": not problems, "problems": problems}), flush=True)


def _make_interfaces() -> None:
    """A pair for each port: `swN` for the switch, `hostN` for PTF; no address, so that the kernel sends nothing."""
    lines = ["link set lo up"]
    for port in PORTS:
        lines.append(f"link add sw{port} type veth peer name host{port}")
        lines += [f"link set {name}{port} mtu {MTU_BYTES} addrgenmode none up" for name in ("sw", "host")]
    words = ["ip", "-batch", "-"]
    subprocess.run(words, input="\n".join(lines), text=True, check=True, stdout=sys.stderr)  # noqa: S603 - constant


def _problems(task: Mapping[str, Any], test: Mapping[str, str], folder: Path, config: Path) -> Iterator[str]:
    """Why a test does not pass."""
    log = folder / "switch.log"
    with _switch(task, config, log) as switch:
        ports = [THRIFT_PORT, *([GRPC_PORT] if task["has_p4runtime"] else [])]
        if all(_answers(switch, port) for port in ports):
            yield from _ptf(task, test, folder, config)
        if switch.poll() is not None:
            yield f"the switch ended ({_end(switch.returncode)}): {_last_line(log)}"


@contextlib.contextmanager
def _switch(task: Mapping[str, Any], config: Path, log: Path) -> Generator[subprocess.Popen[bytes]]:
    """A switch with the program."""
    words = [task["switch"], *(word for port in PORTS for word in ("-i", f"{port}@sw{port}"))]
    words += ["--device-id", "0", "--thrift-port", str(THRIFT_PORT), "--log-console", "-L", "warn"]
    if task["has_notifications"]:
        words += ["--notifications-addr", f"ipc://{log.parent}/notifications.ipc"]
    words.append(str(config))
    if task["has_p4runtime"]:
        words += ["--", "--grpc-server-addr", f"127.0.0.1:{GRPC_PORT}", "--cpu-port", str(CPU_PORT)]
    with log.open("wb") as output:
        process = subprocess.Popen(words, stdout=output, stderr=subprocess.STDOUT)  # noqa: S603 - the course's target
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _answers(switch: subprocess.Popen[bytes], port: int) -> bool:
    """Whether the switch listens; one that does not in time is ended."""
    end = time.monotonic() + START_S
    while time.monotonic() < end and switch.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return True
        time.sleep(0.05)
    if switch.poll() is None:
        switch.kill()
        switch.wait()
    return False


def _ptf(task: Mapping[str, Any], test: Mapping[str, str], folder: Path, config: Path) -> Iterator[str]:
    parameters = {
        # The names of p4lang's tutorials, p4-guide and ngsdn.
        **dict.fromkeys(("grpcaddr", "grpc_addr"), f"127.0.0.1:{GRPC_PORT}"),
        "p4info": str(folder / "p4info.txtpb"),
        "config": str(config),
        "device_id": 0,
        "cpu_port": CPU_PORT,
        "thrift_port": THRIFT_PORT,
        "target": task["target"],
    }
    words = [task["ptf"], "--test-dir", test["folder"], "--pypath", str(Path(test["folder"]).parent)]
    words += [word for port in PORTS for word in ("-i", f"{port}@host{port}")]
    words += ["--test-params", ";".join(f"{name}={value!r}" for name, value in parameters.items())]
    words += ["--log-file", str(folder / "ptf.log"), "--qlen", str(KEPT_PKTS)]
    words += [test["class"]] if test["class"] else []
    done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)  # noqa: S603 - PTF
    yield from problems_of(done.returncode, done.stderr)


def problems_of(code: int, text: str) -> Iterator[str]:
    """Why PTF's tests did not pass, from its exit code and its standard error."""
    failures = _FAILURE.findall(text)
    for name, traceback in failures[:MOST_PROBLEMS]:
        # The stack is the test's own, and says nothing to a student.
        raised = _RAISED.search(traceback)
        yield f"{name}: {traceback[raised.start() if raised else 0 :].strip()[:MOST_CHARACTERS]}"
    if len(failures) > MOST_PROBLEMS:
        yield f"... and {len(failures) - MOST_PROBLEMS} more tests"
    if skipped := _SKIPPED.search(text):
        yield f"{skipped[1]} tests were skipped, which earns nothing"
    if code and not failures:
        last = text.strip().splitlines()[-1:] or ["without a word"]
        yield f"PTF ended ({_end(code)}): {last[0]}"


def _end(code: int) -> str:
    return f"exit code {code}" if code >= 0 else signal.Signals(-code).name


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1] if lines else "without a word"


if __name__ == "__main__":
    main()
