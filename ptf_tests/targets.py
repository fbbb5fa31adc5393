"""The switches that the packet tests run on: how each compiles a program, is started, and is asked for its queues."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from p4cc.errors import UserError
from p4cc.planning.programs import compile_program

COMPILE_TIMEOUT_S = 120


@dataclass(frozen=True)
class Target:
    """A switch by the names of its programs; `compile` writes P4Info and device config of a P4 file."""

    name: str
    switch: str
    queue_cli: str
    remedy: str
    compile: Callable[[Path, Path, Path], None]
    options: tuple[str, ...] = ()
    architectures: tuple[str, ...] = ("v1model",)
    """Whose programs it runs."""
    deflects: bool = False
    """A program may trim what finds its queue full (docs/algorithms/trimming.md#deflection)."""

    def program(self, name: str) -> str:
        """Where a program of this target is: beside this Python, or on PATH; raises UserError."""
        beside = Path(sys.executable).parent / name
        result = str(beside) if beside.is_file() else shutil.which(name)
        if result is None:
            raise UserError(f"{name} is not installed", place=f"target {self.name}", remedy=self.remedy)
        return result

    def command(
        self, *, device_id: int, grpc_port: int, thrift_port: int, cpu_port: int, ports: list[str]
    ) -> list[str]:
        """The command line of a switch without a program; `ports` are its options for packets."""
        general = ["--device-id", str(device_id), "--thrift-port", str(thrift_port), "--no-p4", *ports]
        special = ["--grpc-server-addr", f"127.0.0.1:{grpc_port}", "--cpu-port", str(cpu_port), *self.options]
        return [self.program(self.switch), *general, "--", *special]

    def queue_command(self, thrift_port: int) -> list[str]:
        """The command line of the client for queues."""
        return [self.program(self.queue_cli), "--thrift-port", str(thrift_port)]


def _compile_here(program: Path, p4info: Path, config: Path) -> None:
    compiled = compile_program(program)
    if not compiled.ok:
        raise UserError(compiled.rendered, place=str(program), remedy="correct the program")
    p4info.write_text(compiled.p4info_text())
    config.write_bytes(compiled.device_config())


def _compile_with_p4c(program: Path, p4info: Path, config: Path) -> None:
    compiler = shutil.which("p4c-bm2-ss")
    if compiler is None:
        raise UserError("p4c-bm2-ss is not on PATH", place="target bmv2", remedy=BMV2_REMEDY)
    command = [compiler, "--p4v", "16", "-o", str(config), "--p4runtime-files", str(p4info), str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=COMPILE_TIMEOUT_S, check=False)
    if done.returncode != 0:
        raise UserError(done.stderr.strip(), place=str(program), remedy="correct the program")


BMV2_REMEDY = "install p4c and BMv2 (docs/how-to/bmv2.md), or use the target p4cc"

TARGETS = {
    target.name: target
    for target in (
        Target(
            "p4cc",
            "p4cc-switch",
            "p4cc-switch-cli",
            "build it: make setup",
            _compile_here,
            architectures=("v1model", "tna"),
            deflects=True,
        ),
        Target(
            "bmv2",
            "simple_switch_grpc",
            "simple_switch_CLI",
            BMV2_REMEDY,
            _compile_with_p4c,
            ("--priority-queues", "8"),
        ),
    )
}
