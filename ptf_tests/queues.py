"""Rates and depths of the switch's queues, through the command line that speaks the target's Thrift interface."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass

TIMEOUT_S = 20.0


@dataclass(frozen=True)
class Queues:
    """The queues of one switch; `command` starts a client that reads `simple_switch_CLI`'s verbs from its input."""

    command: tuple[str, ...]

    def set_rate(self, pkts_per_s: int, port: int) -> None:
        """Packets that a port sends in a second."""
        self._run(f"set_queue_rate {pkts_per_s} {port}")

    def set_depth(self, pkts: int, port: int) -> None:
        """Packets that a port's queue holds."""
        self._run(f"set_queue_depth {pkts} {port}")

    def register(self, name: str, index: int) -> int:
        """One cell of a register: P4Runtime cannot read it from every target."""
        answer = self._run(f"register_read {name} {index}")
        _, separator, value = answer.rpartition("=")
        if not separator:
            raise AssertionError(f"register_read {name} {index} gave: {answer}")
        return int(value.split()[0])

    def _run(self, verb: str) -> str:
        done = subprocess.run(
            self.command, input=f"{verb}\n", capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
        answer = done.stdout + done.stderr
        if done.returncode != 0 or "Error" in answer or "Invalid" in answer:
            raise AssertionError(f"{verb}: {answer}")
        return answer
