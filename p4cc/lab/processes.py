"""The programs of a lab: a thread watches them and restarts those that end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from p4cc.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from p4cc.json_data import JsonValue

MAX_RESTARTS = 5
"""Of one program within a minute."""
RESTART_WINDOW_S = 60.0
LOOK_S = 0.1
STOP_S = 3.0


@dataclass
class Program:
    """A program, its log, and what to do after a restart."""

    name: str
    command: Sequence[str]
    log: Path
    after_restart: Callable[[], None] | None = None
    keeps_running: bool = True
    """False for one that ends by itself."""
    after_end: str | None = None
    """For one that should outlive the lab and is never restarted: what its end means, for people."""
    process: subprocess.Popen[bytes] | None = None
    started_s: list[float] = field(default_factory=list[float])

    def start(self) -> None:
        """Start it; its output is appended to its log."""
        try:
            with self.log.open("ab") as log:
                self.process = subprocess.Popen(
                    list(self.command),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    env={**os.environ, "NO_COLOR": "1"},
                )
        except OSError as error:
            raise UserError(
                f"cannot be started: {error.strerror}", place=str(self.command[0]), remedy="see that it is installed"
            ) from error
        self.started_s.append(time.monotonic())

    def ended(self) -> int | None:
        """Its exit status if it has ended, negative for a signal."""
        return None if self.process is None else self.process.poll()

    def stop(self) -> None:
        """Ask it to end, and after a while make it."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.terminate()
        try:
            self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def kill(self) -> None:
        """End it at once."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def last_words(self, limit: int = 5) -> str:
        """The end of its log."""
        try:
            lines = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        except OSError:
            return ""
        return "\n".join(lines[-limit:])


class Supervisor:
    """Watches programs until it is closed."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._programs: list[Program] = []
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="lab supervisor", daemon=True)
        self.failed: list[str] = []
        """Programs that are not restarted any more, and why."""
        self.restarts: list[str] = []
        """Names of restarted programs, in order."""

    def add(self, program: Program) -> None:
        """Watch a program that runs."""
        with self._lock:
            self._programs.append(program)
        if not self._thread.is_alive():
            self._thread.start()

    def close(self) -> None:
        """Watch no more, then stop everything, the last started first."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join()
        for program in reversed(self._programs):
            program.stop()

    def _watch(self) -> None:
        while not self._closing.wait(LOOK_S):
            with self._lock:
                programs = list(self._programs)
            for program in programs:
                if self._closing.is_set():
                    return
                status = program.ended()
                if status is not None and program.keeps_running:
                    self._restart(program, status)
                elif status is not None and program.after_end is not None:
                    self._over(program, status, program.after_end)

    def _over(self, program: Program, status: int, meaning: str) -> None:
        """Reports a program that ended too early and is not restarted; its last failure is the cause."""
        program.after_end = None
        causes = [str(event["cause"]) for event in events(program.log) if event.get("event") == "failed"]
        cause = causes[-1] if causes else f"{how_ended(status)}\n{program.last_words()}".rstrip()
        self.failed.append(f"{program.name}: {cause}")
        self._say(f"{program.name}: {cause}{meaning}")

    def _restart(self, program: Program, status: int) -> None:
        now = time.monotonic()
        program.started_s = [at for at in program.started_s if at > now - RESTART_WINDOW_S]
        how = how_ended(status)
        if len(program.started_s) > MAX_RESTARTS:
            program.keeps_running = False
            self.failed.append(f"{program.name} {how}, {MAX_RESTARTS} times within a minute\n{program.last_words()}")
            self._say(f"{program.name} {how} too often and is left alone; see {program.log}")
            return
        self._say(f"{program.name} {how}; started again")
        try:
            program.start()
            self.restarts.append(program.name)
            if program.after_restart is not None:
                program.after_restart()
        except UserError as error:
            program.keeps_running = False
            self.failed.append(f"{program.name}: {error}")
            self._say(f"{program.name}: {error}")


def how_ended(status: int) -> str:
    """An exit status in words."""
    return f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"


def events(log: Path) -> list[dict[str, JsonValue]]:
    """The JSON objects among a log's lines; other lines and incomplete ones are left out."""
    objects: list[dict[str, JsonValue]] = []
    try:
        text = log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return objects
    for line in text.splitlines():
        try:
            event: JsonValue = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            objects.append(event)
    return objects
