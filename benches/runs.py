"""Runs of `p4cc run` for the benches: what each carried, how long it took, and the memory of its process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benches.table_writes import ROOT

P4CC = str(Path(sys.executable).with_name("p4cc"))


@dataclass(frozen=True)
class Ran:
    """What came of a run."""

    packet_hops: int
    wall_s: float
    """Of the run itself, without set-up and results."""
    resident_mb: float
    """Largest resident set of the whole process, in 10^6 bytes."""


class Going:
    """A run that has begun; `end` waits for it."""

    def __init__(self, scenario: Path, *words: str) -> None:
        """Begins a run of a scenario; `words` follow on its command line."""
        self._folder = tempfile.TemporaryDirectory()
        command = [P4CC, "run", str(scenario), "--out", f"{self._folder.name}/out", "--json"]
        command += ["--no-cache", "--no-figures", *words]
        self._process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)

    def end(self) -> Ran:
        """Waits for the end."""
        told = "" if self._process.stdout is None else self._process.stdout.read()
        # `wait4` has the memory of this process alone.
        _, status, usage = os.wait4(self._process.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._folder.cleanup()
        if self._process.returncode:
            sys.exit("bench: the run failed")
        (run,) = json.loads(told)["runs"]
        return Ran(run["packet_hops"], run["wall_s"], usage.ru_maxrss * 1024 / 1e6)


def ran(scenario: Path, *words: str) -> Ran:
    """A run from its beginning to its end."""
    return Going(scenario, *words).end()
