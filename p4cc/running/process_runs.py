"""Runs in processes of this machine: algorithms in Python hold the interpreter's lock, so each process makes one run.

A process starts as a new interpreter: a fork would inherit the locks of threads, and `multiprocessing` would run the
main module of the user's program again. It receives orders over a socket (`message`) and writes each finished run, in
the cache's format, to an unnamed file that both processes have open. It leads a process group, which ends with it:
when the caller is done, or when the socket closes, so that even `SIGKILL` of the caller leaves neither processes nor
files.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import json
import os
import re
import signal
import socket
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Self

from p4cc.errors import UserError
from p4cc.running.cached_run import read_run
from p4cc.running.driver import MadeRuns, SharedByRuns, side_by_side
from p4cc.running.message import LENGTH_BYTES, Failed, Made, Moved, length_of, message_of, packed_message
from p4cc.running.run_orders import run_orders

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from p4cc.running.cached_run import SeedRun
    from p4cc.running.message import Answer
    from p4cc.running.planned_case import PlannedCase
    from p4cc.running.progress import Runs
    from p4cc.running.remote_runs import ProcessRunner, RunOrder

_START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from p4cc.running.run_process import main; main()"
"""Imports from where this process does, and from nowhere else before."""
_LAST_WORDS = re.compile(r"error: (.*)\n  remedy: (.*)\n\Z", re.DOTALL)
"""Message of a process that ended itself because a call of Python code did not return (`user_watch`)."""
_LAST_LINES = 10
"""Maximum number of its lines."""
_BLOCK_BYTES = 1 << 16
"""Unit of reading standard error; longer lines are passed on in parts."""
_DRAIN_S = 1.0
"""Time to read the rest of standard error: a process that left the group may keep it open."""


def _import_path() -> str:
    """Where this process imports from, as JSON."""
    return json.dumps([str(Path(place).absolute()) for place in sys.path])


class RunProcesses:
    """Processes for runs, started when runs need them; the context manager ends them all."""

    def __init__(self, folder: Path) -> None:
        """Starts nothing yet; finished runs are handed over on the disk of `folder`."""
        self._folder = folder
        self._idle: list[_Process] = []
        self._busy: set[_Process] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.gather(*(process.end() for process in (*self._idle, *self._busy)))

    async def make(self, order: RunOrder, progress: Runs) -> tuple[SeedRun, tuple[str, ...]]:
        """Makes a run in a process that has no other, and returns it with its notes; raises UserError."""
        process = self._idle.pop() if self._idle else await _Process.started(self._folder)
        self._busy.add(process)
        try:
            made = await process.make(order, progress)
        except BaseException:
            # Also after an error: whatever the run has left must not affect another.
            await asyncio.shield(process.end())
            raise
        finally:
            self._busy.discard(process)
        self._idle.append(process)
        return made


async def make_in_processes(
    processes: ProcessRunner, planned: PlannedCase, keys: Mapping[int, str], shared: SharedByRuns
) -> MadeRuns[SeedRun]:
    """Makes the runs with these keys by seed, as many at once as the call allows; raises UserError."""

    async def make(order: RunOrder) -> tuple[SeedRun, tuple[str, ...]]:
        async with shared.places:
            run, notes = await processes.make(order, shared.progress)
            await asyncio.to_thread(shared.cache.store, order.key, run)
        shared.progress.ended(order.label, run.summary["packet_hops"])
        return run, notes

    made = await side_by_side(make(order) for order in run_orders(planned, keys, shared))
    by_seed = {seed: run for seed, (run, _) in zip(keys, made, strict=True)}
    return MadeRuns(by_seed, list(dict.fromkeys(note for _, notes in made for note in notes)))


@dataclass(eq=False)
class _Process:
    """One process, with the socket of its orders and the file of its runs."""

    process: asyncio.subprocess.Process
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    handed_over: IO[bytes]
    folder: Path
    said: IO[bytes]
    """Its standard error. `asyncio.subprocess.PIPE` would make `wait` last until all writers have closed it."""
    held_back: list[str] = field(default_factory=list[str])
    """Lines on standard error that are an error's if the process ends."""
    errors: asyncio.Task[None] | None = None

    @classmethod
    async def started(cls, folder: Path) -> _Process:
        """Starts a process."""
        handed_over: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed by `end`
        ours, theirs = socket.socketpair()
        said, says = (os.fdopen(end, mode, 0) for end, mode in zip(os.pipe(), ("rb", "wb"), strict=True))
        with theirs, says:
            numbers = [theirs.fileno(), handed_over.fileno()]
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-c", _START, _import_path()),
                *map(str, numbers),
                pass_fds=numbers,
                stdin=asyncio.subprocess.DEVNULL,
                stderr=says,
                # Ctrl-C reaches this process alone, which ends the others.
                start_new_session=True,
            )
        reader, writer = await asyncio.open_connection(sock=ours)
        started = cls(process, reader, writer, handed_over, folder, said)
        started.errors = asyncio.create_task(started.pass_errors_on())
        return started

    async def make(self, order: RunOrder, progress: Runs) -> tuple[SeedRun, tuple[str, ...]]:
        """Makes a run; raises UserError."""
        try:
            self.writer.write(packed_message((order, str(self.folder))))
            await self.writer.drain()
            while isinstance(answer := await self._answer(), Moved):
                progress.moved(order.label, answer.moment)
        except (OSError, EOFError) as error:
            raise await self._ended_itself(order) from error
        self._write_held_back()
        if isinstance(answer, Made):
            self.handed_over.seek(0)
            return await asyncio.to_thread(read_run, self.handed_over, order.key, self.folder), answer.notes
        if isinstance(answer, Failed):
            raise UserError(answer.cause, place=answer.place, remedy=answer.remedy)
        raise RuntimeError(f"{order.label}, in its process:\n{answer.traceback}")

    async def end(self) -> None:
        """Ends the process and those that it has started; does nothing more if they have ended."""
        self._kill_group()
        self.writer.close()
        await self.process.wait()
        await self._drain_errors()
        self._write_held_back()
        self.handed_over.close()

    async def pass_errors_on(self) -> None:
        """Repeats what the process writes to standard error, such as lines that a user's class prints."""
        reader = asyncio.StreamReader()
        pipe, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), self.said
        )
        decoder, rest = codecs.getincrementaldecoder("utf-8")("replace"), ""
        try:
            while block := await reader.read(_BLOCK_BYTES):
                *lines, rest = (rest + decoder.decode(block)).split("\n")
                for line in lines:
                    self._pass_on(line + "\n")
                if len(rest) > _BLOCK_BYTES:
                    self._pass_on(rest)
                    rest = ""
        finally:
            if rest:
                self._pass_on(rest)
            pipe.close()

    def _pass_on(self, text: str) -> None:
        """Writes a line, unless it may be of the last words of the process."""
        begins = text.startswith("error: ")
        if begins or len(self.held_back) >= _LAST_LINES:
            self._write_held_back()
        if begins or self.held_back:
            self.held_back.append(text)
        else:
            _write_error(text)

    def _write_held_back(self) -> None:
        """Writes lines that turned out to be of no last words."""
        _write_error("".join(self.held_back))
        self.held_back.clear()

    def _kill_group(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    async def _drain_errors(self) -> None:
        """Reads what processes that have ended wrote to standard error."""
        if self.errors is not None:
            await asyncio.wait([self.errors], timeout=_DRAIN_S)
            self.errors.cancel()
            await asyncio.wait([self.errors])

    async def _answer(self) -> Answer:
        length = length_of(await self.reader.readexactly(LENGTH_BYTES))
        return message_of(await self.reader.readexactly(length))

    async def _ended_itself(self, order: RunOrder) -> UserError:
        """Why the process is gone."""
        status = await self.process.wait()
        self._kill_group()
        await self._drain_errors()
        if (words := _LAST_WORDS.match("".join(self.held_back))) is not None:
            self.held_back.clear()
            return UserError(words[1], remedy=words[2])
        how = f"signal {-status}" if status < 0 else f"exit status {status}"
        remedy = "look for calls that end a process; if memory was short, lower --jobs"
        return UserError(f"the process of the run ended with {how}", place=f"case {order.label}", remedy=remedy)


def _write_error(text: str) -> None:
    # Reading the pipe must go on even if nobody reads this process any more.
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(text)
