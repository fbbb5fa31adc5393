"""Shell lines in a lab's hosts: `--run 'h1 iperf3 -s & sleep 1; h2 iperf3 -c h1'`.

Each line runs in a shell of its host, in a separate session, and ends when its shell does. Its background processes
continue until the lab ends. The output of both goes to a file. A host's name is an address there (`/etc/hosts`), and a
command that runs its arguments in that host.
"""

from __future__ import annotations

import os
import select
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from p4cc.errors import UserError
from p4cc.lab.state import end_processes, in_sessions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from topos.mininet import Built

TIMEOUT_S = 600.0
"""For a line, without its background processes."""
MAX_OUTPUT_BYTES = 65_536
"""Bytes at the end of a line's output that the report has; the file has all."""


@dataclass(frozen=True)
class Line:
    """A command and its host."""

    host: str
    text: str


def read_lines(texts: Sequence[str], hosts: Iterable[str]) -> tuple[Line, ...]:
    """`HOST LINE` each; raises UserError for a host that is not there, or a line that no shell understands."""
    known = sorted(hosts)
    lines: list[Line] = []
    for text in texts:
        host, _, line = text.strip().partition(" ")
        if host not in known:
            remedy = f"write HOST COMMAND; hosts: {', '.join(known)}"
            raise UserError(f"no host {host!r}", place="--run", remedy=remedy)
        if not line.strip():
            raise UserError(f"nothing to run in {host}", place="--run", remedy="write HOST COMMAND")
        lines.append(Line(host, line.strip()))
    for line in lines:
        _check_syntax(line)
    return tuple(lines)


def _check_syntax(line: Line) -> None:
    try:
        done = subprocess.run(["bash", "--norc", "-n", "-c", line.text], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        # Named with the other tools that are missing.
        return
    if done.returncode != 0:
        text = (done.stderr.strip().splitlines() or ["is not a line of bash"])[0]
        cause = text.removeprefix("bash: ").removeprefix("-c: ")
        raise UserError(cause, place=f"--run {line.host} {line.text!r}", remedy="write it as in a shell")


class CommandReport(TypedDict):
    """A line that ran; the log has its whole output."""

    host: str
    command: str
    status: int | None
    """None where it did not end in time."""
    output: str
    log: str


@dataclass
class _Command:
    line: Line
    log: Path
    status: int | None = None

    def report(self) -> CommandReport:
        """With what it printed so far."""
        log = self.log
        return CommandReport(
            host=self.line.host,
            command=self.line.text,
            status=self.status,
            output=_end_of(log),
            log=f"{log.parent.parent.name}/{log.parent.name}/{log.name}",
        )


class Shells:
    """The lines that a lab has run, and their background processes."""

    def __init__(self, built: Built, logs: Path) -> None:
        self._built = built
        self._logs = logs
        self._commands: list[_Command] = []
        self._shells: list[subprocess.Popen[bytes]] = []
        self._environment: dict[str, str] | None = None
        self.inside: Callable[[Sequence[str]], list[str]] = list
        """What a shell's command becomes, outside of its host."""

    def run(self, line: Line, timeout_s: float = TIMEOUT_S) -> CommandReport:
        """Runs a line to the end of its shell; raises UserError where it cannot be started."""
        self._logs.mkdir(parents=True, exist_ok=True)
        log = self._logs / f"{len(self._commands) + 1}-{line.host}.log"
        with log.open("wb") as output:
            try:
                shell = subprocess.Popen(
                    self.inside([*self._built.enter(line.host), "bash", "--norc", "-c", line.text]),
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
        command = _Command(line, log)
        self._commands.append(command)
        command.status = _status(shell, timeout_s)
        if command.status is None:
            end_processes(in_sessions({shell.pid}))
            with log.open("a", encoding="utf-8") as output:
                output.write(f"not finished within {timeout_s:g} s\n")
        return command.report()

    def end(self) -> None:
        """Ends background processes."""
        end_processes(in_sessions({shell.pid for shell in self._shells}))
        for shell in self._shells:
            shell.wait()
        self._shells = []

    def report(self) -> list[CommandReport]:
        """Every line, in order."""
        return [command.report() for command in self._commands]

    def _hosts_as_commands(self) -> dict[str, str]:
        """An environment with a bash function per host, unless a command has that name."""
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
    """Status of a shell once it has ended, negative for a signal; None where it does not end in time.

    It stays a zombie, so that its number remains that of its session until the lab ends.
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


def _end_of(log: Path) -> str:
    try:
        with log.open("rb") as file:
            cut = file.seek(0, os.SEEK_END) - MAX_OUTPUT_BYTES
            file.seek(max(0, cut))
            text = file.read(MAX_OUTPUT_BYTES).decode("utf-8", errors="replace")
    except OSError as error:
        return f"{log} cannot be read: {error.strerror}\n"
    return f"(the first {cut} bytes are only in the log)\n{text}" if cut > 0 else text
