"""Builds the engine and the programs for `make setup`, and says how far it is: `python engine/build.py VENV`.

Two calls, since maturin packs the Python module: first the switch and the agent, then the module, which shares their
crates (tests/tidy keeps them of one feature set). Cargo's own progress, which it writes to terminals
only on request, becomes a line every few seconds, on a terminal or not. What else cargo says goes to the log,
and to the terminal where a build fails. Needs nothing that is not Python's own.
"""

from __future__ import annotations

import codecs
import io
import json
import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[1]
LOG = "engine-build.log"
EVERY_S = 5.0
INTERRUPTED = 130
PROGRAMS = ("p4cc-switchd", "p4cc-agent")
"""Packages whose programs are put into the environment."""
WIDTH = 100
SHOWN = 2
"""Crates that a line names, of those under way."""
ALL_NAMES = 400
"""Columns in which cargo names every crate under way."""

# `    Building [====>     ] 131/327: syn, serde_core`
_PROGRESS = re.compile(r"^\s*Building \[[=> ]*\] (\d+)/(\d+)(?:: (.*))?$")
# What comes before the first crate, on a machine where others build too.
_BEFORE = re.compile(r"^\s*((?:Updating|Downloading|Downloaded|Blocking)\b.*)$")
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class Progress:
    """From what cargo writes to lines for people, one every few seconds."""

    def __init__(self, what: str, say: Callable[[str], None], now: Callable[[], float] = time.monotonic) -> None:
        self._what = what
        self._say = say
        self._now = now
        self._began = self._said_at = now()
        self._state = "starting"
        self._left = ""
        self._since: dict[str, float] = {}
        """When crates that are being compiled began."""

    def read(self, line: str) -> bool:
        """Take a line of cargo's; False for one that is not progress and belongs in the log."""
        clean = _COLOURS.sub("", line).rstrip()
        if found := _PROGRESS.match(clean):
            done, total, names = found.groups()
            self._left = f"{int(total) - int(done)} of {total} steps left"
            under_way = [name for name in (names or "").split(", ") if name and name != "..."]
            self._since = {name: self._since.get(name, self._now()) for name in under_way}
            return True
        if before := _BEFORE.match(clean):
            self._state = before[1]
        return not clean

    def tick(self) -> None:
        """Say how far it is, if the last line is a while ago."""
        now = self._now()
        if now - self._said_at < EVERY_S:
            return
        self._said_at = now
        text = f"setup: {self._what}, {_clock(now - self._began)}, {self._left or self._state}"
        # The slowest first: it is what the build waits for.
        slow = sorted(self._since, key=lambda name: self._since[name])
        text += "".join(f", {name} for {_clock(now - self._since[name])}" for name in slow[:SHOWN])
        self._say(text if len(text) <= WIDTH else text[: WIDTH - 3] + "...")


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


class Lines:
    """Lines of a stream that end with a line feed or, as progress does, with a carriage return."""

    def __init__(self) -> None:
        self._decode = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder("utf-8")("replace"), translate=True)
        self._rest = ""

    def feed(self, chunk: bytes) -> list[str]:
        """The lines that this chunk ends; an empty chunk ends the stream and its last line."""
        *lines, self._rest = (self._rest + self._decode.decode(chunk, final=not chunk)).split("\n")
        if not chunk and self._rest:
            lines.append(self._rest)
        return [line + "\n" for line in lines]


def run(what: str, words: list[str], log: IO[str], environment: dict[str, str]) -> list[dict[str, Any]]:
    """Run a build, saying how far it is; cargo's messages. Raises CalledProcessError."""
    progress = Progress(what, lambda text: print(text, flush=True))
    messages: list[dict[str, Any]] = []

    def errors(line: str) -> None:
        if not progress.read(line):
            log.write(line)

    def output(line: str) -> None:
        if line.startswith("{"):
            messages.append(json.loads(line))
        else:
            log.write(line)

    with (
        subprocess.Popen(
            words, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
        ) as build,
        selectors.DefaultSelector() as ready,
    ):
        ready.register(_stream(build.stderr), selectors.EVENT_READ, (Lines(), errors))
        ready.register(_stream(build.stdout), selectors.EVENT_READ, (Lines(), output))
        try:
            # One thread reads both: Ctrl-C leaves no reader behind at a closed pipe.
            while ready.get_map():
                for key, _ in ready.select(0.5):
                    _read(ready, key)
                progress.tick()
        except KeyboardInterrupt:
            # The terminal has sent it to cargo, too; crates that are built stay so.
            build.terminate()
            raise
    if build.returncode != 0:
        raise subprocess.CalledProcessError(build.returncode, words)
    return messages


def _read(ready: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
    """Hand on the lines that have come; a stream that has ended is watched no longer."""
    lines, take = key.data
    chunk = os.read(key.fd, 1 << 16)
    for line in lines.feed(chunk):
        take(line)
    if not chunk:
        ready.unregister(key.fileobj)


def _stream(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise ValueError("the pipe was asked for")
    return pipe


def put(programs: list[Path], folder: Path) -> None:
    """Copy programs into a folder, each whole or not at all; a running one continues unchanged."""
    for program in programs:
        handle, name = tempfile.mkstemp(prefix=f".{program.name}-", dir=folder)
        os.close(handle)
        partial = Path(name)
        try:
            shutil.copy(program, partial)
            partial.replace(folder / program.name)
        finally:
            partial.unlink(missing_ok=True)


def build(environment_folder: Path) -> None:
    """Build all and put it into the virtual environment; raises CalledProcessError and OSError."""
    binaries = environment_folder / "bin"
    environment = os.environ | {
        "VIRTUAL_ENV": str(environment_folder),
        "CARGO_TERM_PROGRESS_WHEN": "always",
        "CARGO_TERM_PROGRESS_WIDTH": str(ALL_NAMES),
        "CARGO_TERM_COLOR": "never",
    }
    with (environment_folder / LOG).open("w", encoding="utf-8", buffering=1) as log:
        words = ["cargo", "build", "--release", "--locked", "--message-format", "json-render-diagnostics"]
        words += [word for package in PROGRAMS for word in ("--package", package)]
        messages = run("switch and agent (1 of 2)", words, log, environment)
        module = [str(binaries / "maturin"), "develop", "--release", "--locked", "--uv"]
        run("engine (2 of 2)", module, log, environment)
    built = [Path(message["executable"]) for message in messages if message.get("executable")]
    put(built, binaries)


def main() -> int:
    """Exit code 0 when built, 1 with the compiler's messages where not, 130 after Ctrl-C."""
    folder = Path(sys.argv[1]).resolve()
    began = time.monotonic()
    try:
        build(folder)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        print("setup: interrupted; `make setup` continues from here", file=sys.stderr)
        return INTERRUPTED
    except (subprocess.CalledProcessError, OSError) as error:
        print((folder / LOG).read_text(encoding="utf-8", errors="replace"), end="", file=sys.stderr)
        print(f"setup: building failed; see the messages above ({error})", file=sys.stderr)
        return 1
    print(f"setup: built in {_clock(time.monotonic() - began)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
