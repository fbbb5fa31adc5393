"""A course's lab as a student runs it: its commands in a shell with the drop-in's names, its Mininet prompt.

A lab makes interfaces and ends processes by their names. It therefore runs in network, process and mount namespaces of
its own, in a copy of its folder, and whatever it leaves behind ends with them.
"""

from __future__ import annotations

import os
import selectors
import shutil
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from p4cc.drop_in import folder as drop_in
from tests.switchd.namespaces import needs_namespaces

PROMPT = "mininet> "
PATIENCE_S = 180.0

ISOLATED = """
set -e
mount --make-rprivate /
mount -t proc proc /proc
mount --bind "$0" /tmp
ip link set lo up
cd "$1"
shift
exec "$@"
"""

SUDO = """#!/bin/bash
# As sudo: nothing of the environment but what the words name.
while [[ "$1" == -* ]]; do shift; done
exec env -i PATH="$PATH" HOME="$HOME" TERM=dumb LANG=C.UTF-8 "$@"
"""


def copy_of(variable: str, name: str) -> Path:
    """The copy of a course that a variable of the environment names; skips without it."""
    needs_namespaces()
    value = os.environ.get(variable)
    if value is None:
        pytest.skip(f"{variable} names no copy of {name}")
    return Path(value).resolve()


def needs(*programs: str) -> None:
    """Skips where a program that the course calls is missing."""
    path = os.pathsep.join([str(Path(sys.executable).parent), *os.get_exec_path()])
    for program in programs:
        if shutil.which(program, path=path) is None:
            pytest.skip(f"{program} is not installed")


class Console:
    """A command under way, and the prompt of the Mininet that it starts."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._selector = selectors.DefaultSelector()
        assert process.stdout is not None
        os.set_blocking(process.stdout.fileno(), False)
        self._selector.register(process.stdout, selectors.EVENT_READ)
        self.said = ""
        """Everything so far."""
        self._read = 0

    def until(self, text: str, patience_s: float = PATIENCE_S) -> str:
        """Waits for a text; what was said before it since the last call."""
        end = time.monotonic() + patience_s
        while (at := self.said.find(text, self._read)) < 0:
            if not self._more(end):
                raise AssertionError(f"no {text!r} in:\n{self.said[-8000:]}")
        answer = self.said[self._read : at]
        self._read = at + len(text)
        return answer

    def ask(self, line: str, patience_s: float = PATIENCE_S) -> str:
        """Types a command at Mininet's prompt; its answer."""
        self.type(line)
        return self.until(PROMPT, patience_s)

    def type(self, line: str) -> None:
        """Types a line."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n".encode())
        self._process.stdin.flush()

    def end(self, line: str = "exit") -> tuple[int, str]:
        """Leaves Mininet; the command's exit code, and all that it said."""
        if line:
            self.type(line)
        end = time.monotonic() + PATIENCE_S
        while self._more(end):
            pass
        return self._process.wait(PATIENCE_S), self.said

    def _more(self, end: float) -> bool:
        """Waits for more text; False at its end."""
        left = end - time.monotonic()
        if left <= 0 or not self._selector.select(left):
            raise AssertionError(f"nothing more for too long:\n{self.said[-8000:]}")
        assert self._process.stdout is not None
        text = self._process.stdout.read()
        self.said += (text or b"").decode(errors="replace")
        return text != b""


class Course:
    """A copy of a course's folder in which commands run."""

    def __init__(self, folder: Path, work: Path) -> None:
        self.folder = folder
        self._tmp = work / "tmp"
        self._tmp.mkdir(exist_ok=True)
        names = work / "names"
        drop_in.make(names, shadow=True)
        tools = work / "tools"
        tools.mkdir(exist_ok=True)
        if shutil.which("sudo") is None:
            (tools / "sudo").write_text(SUDO)
            (tools / "sudo").chmod(0o755)
        environment = {**os.environ, **drop_in.environment(names)}
        self.environment = {**environment, "PATH": f"{tools}{os.pathsep}{environment['PATH']}"}

    @contextmanager
    def start(self, *command: str, under: str = ".") -> Generator[Console]:
        """Runs a command in a folder of the copy."""
        shell = ["sh", "-c", ISOLATED, str(self._tmp), str(self.folder / under), *command]
        namespaces = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount"]
        process = subprocess.Popen(
            [*namespaces, *shell],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=self.environment,
        )
        try:
            yield Console(process)
        finally:
            process.kill()
            process.wait(PATIENCE_S)

    def log(self, name: str) -> str:
        """A file that a command wrote to /tmp."""
        return (self._tmp / name).read_text(encoding="utf-8", errors="replace")

    def run(self, *command: str, under: str = ".") -> tuple[int, str]:
        """Runs a command to its end; its exit code, and what it said."""
        with self.start(*command, under=under) as console:
            return console.end("")


def course(source: Path, work: Path) -> Course:
    """A copy of a folder to work in."""
    folder = work / "course"
    shutil.copytree(source, folder, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    return Course(folder, work)
