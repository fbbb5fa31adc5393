"""Shell lines in a lab's hosts: `--run 'h1 iperf3 -s & sleep 1; h2 iperf3 -c h1'`.

A line runs in a shell of its host, in a session of its own; it has ended when its shell has. What it leaves in the
background goes on until the lab ends, and then ends with it. What both print goes to a file. Names of hosts are
addresses there (the hosts' own `/etc/hosts`), and commands that run what follows in that host.
"""

from __future__ import annotations

import os
import select
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from p4cc.errors import UserError
from p4cc.lab.state import end_processes, in_sessions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from topos.mininet import Built

TIMEOUT_S = 600.0
"""For the foreground of a line."""
MAX_OUTPUT_BYTES = 65_536
"""Of a line, in the report: its end. The file has all."""


@dataclass(frozen=True)
class Line:
    """What is to run where."""

    host: str
    text: str


def read_lines(texts: Sequence[str], hosts: Iterable[str]) -> tuple[Line, ...]:
    """`HOST LINE` each; raises UserError for a host that is not there, or a line that no shell understands."""
    known = sorted(hosts)
    found: list[Line] = []
    for text in texts:
        host, _, line = text.strip().partition(" ")
        if host not in known:
            remedy = f"write HOST COMMAND; hosts: {', '.join(known)}"
            raise UserError(f"no host {host!r}", place="--run", remedy=remedy)
        if not line.strip():
            raise UserError(f"nothing to run in {host}", place="--run", remedy="write HOST COMMAND")
        found.append(Line(host, line.strip()))
    for line in found:
        _check_syntax(line)
    return tuple(found)


def _check_syntax(line: Line) -> None:
    try:
        done = subprocess.run(["bash", "--norc", "-n", "-c", line.text], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        # Named with the other tools that are missing.
        return
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or ["is not a line of bash"])[0]
        cause = said.removeprefix("bash: ").removeprefix("-c: ")
        raise UserError(cause, place=f"--run {line.host} {line.text!r}", remedy="write it as in a shell")


@dataclass
class _Ran:
    line: Line
    log: Path
    status: int | None
    """None where it did not end in time."""


class Shells:
    """The lines that a lab has run, and what they left running."""

    def __init__(self, built: Built, logs: Path) -> None:
        self._built = built
        self._logs = logs
        self._ran: list[_Ran] = []
        self._shells: list[subprocess.Popen[bytes]] = []
        self._environment: dict[str, str] | None = None

    def run(self, line: Line, timeout_s: float = TIMEOUT_S) -> dict[str, Any]:
        """Run a line to the end of its shell; as `report` has it. Raises UserError where it cannot be started."""
        self._logs.mkdir(parents=True, exist_ok=True)
        log = self._logs / f"{len(self._ran) + 1}-{line.host}.log"
        with log.open("wb") as output:
            try:
                shell = subprocess.Popen(
                    [*self._built.enter(line.host), "bash", "--norc", "-c", line.text],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    env=self._hosts_as_commands(),
                )
            except OSError as error:
                raise UserError(
                    str(error), place=f"--run {line.host}", remedy="see that mnexec is installed"
                ) from error
        self._shells.append(shell)
        ran = _Ran(line, log, None)
        self._ran.append(ran)
        ran.status = _status(shell, timeout_s)
        if ran.status is None:
            end_processes(in_sessions({shell.pid}))
            with log.open("a", encoding="utf-8") as output:
                output.write(f"no end within {timeout_s:g} s\n")
        return _plain(ran)

    def end(self) -> None:
        """End what lines have left running."""
        end_processes(in_sessions({shell.pid for shell in self._shells}))
        for shell in self._shells:
            shell.wait()
        self._shells = []

    def report(self) -> list[dict[str, Any]]:
        """Every line with its status (None: it did not end in time) and what it printed so far, in their order."""
        return [_plain(ran) for ran in self._ran]

    def _hosts_as_commands(self) -> dict[str, str]:
        """The environment of lines: bash takes functions from there. A name that is a command already stays one."""
        if self._environment is None:
            listed = subprocess.run(
                ["bash", "--norc", "-c", "compgen -c"], capture_output=True, text=True, check=False
            ).stdout.split()
            names = {host.name for host in self._built.lab.hosts} - set(listed)
            enter = {name: " ".join(self._built.enter(name)) for name in sorted(names)}
            functions = {f"BASH_FUNC_{name}%%": f'() {{ {words} "$@"; }}' for name, words in enter.items()}
            self._environment = {**os.environ, **functions}
        return self._environment


def _status(shell: subprocess.Popen[bytes], timeout_s: float) -> int | None:
    """Status of a shell once it has ended, negative for a signal; None where it does not in time.

    It is left to be collected, so that its number stays that of its session until the lab ends.
    """
    handle = os.pidfd_open(shell.pid)
    try:
        if not select.select([handle], [], [], timeout_s)[0]:
            return None
        ended = os.waitid(os.P_PIDFD, handle, os.WEXITED | os.WNOWAIT)
    finally:
        os.close(handle)
    if ended is None:
        return None
    return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status


def _plain(ran: _Ran) -> dict[str, Any]:
    return {
        "host": ran.line.host,
        "command": ran.line.text,
        "status": ran.status,
        "output": _end_of(ran.log),
        "log": f"{ran.log.parent.parent.name}/{ran.log.parent.name}/{ran.log.name}",
    }


def _end_of(log: Path) -> str:
    try:
        with log.open("rb") as file:
            cut = file.seek(0, os.SEEK_END) - MAX_OUTPUT_BYTES
            file.seek(max(0, cut))
            text = file.read(MAX_OUTPUT_BYTES).decode("utf-8", errors="replace")
    except OSError as error:
        return f"{log} cannot be read: {error.strerror}\n"
    return f"(the first {cut} bytes stand in the log only)\n{text}" if cut > 0 else text
