"""Watches calls of users' Python code, so that one which does not return is named and ended.

A call is what p4cc or its engine calls: a method of an algorithm, or the import of a file. Controllers have a thread of
their own with a limit of its own (`control.thread`). A call beyond its limit, or under way when Ctrl-C came, gets an
exception raised where it is. Code that swallows it, or that waits in C, ends with the process: on the command line
only, since a program that calls p4cc has other things to lose. Where such code keeps the interpreter's lock, nothing in
Python runs any more; the engine's guard ends the process then (`engine/py/src/guard.rs`).
"""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, TypeAlias

from p4cc import _engine
from p4cc.leftovers import LEFT, ON_CHANGE, Process

if TYPE_CHECKING:
    from types import FrameType

DEFAULT_LIMIT_S = 60.0
CONTROLLERS = "p4cc controller"
"""Name of threads whose calls have a separate limit."""
REMEDY = "look for an infinite loop, or increase control.handler_limit_s"
_LOOK_S = 0.1
_SILENT_S = 0.5
"""After so long without a look of this thread, where all threads are is written down."""
_GRACE_S = 0.2
"""How long a call may continue after Ctrl-C."""
_END_S = 1.0
"""How long it may continue after repeated exceptions."""
_P4CC = str(Path(__file__).parent) + os.sep
_WRONG, _INTERRUPTED = 2, 130


class UserCallError(BaseException):
    """Is raised in a user's code; no Exception, as many a loop catches those."""


class TooLongError(UserCallError):
    """A call took longer than it may."""


class InterruptedCallError(UserCallError):
    """Ctrl-C came while a call was under way."""


@dataclass
class _Call:
    """A call that is under way."""

    frame: FrameType
    """Its first of a user's code."""
    seen_at: float
    error: type[UserCallError] | None = None
    """What is raised in it, once its end is wanted."""
    raised_at: float = 0.0


class _Watch:
    """The one watch of the process."""

    def __init__(self) -> None:
        self.limit_s = DEFAULT_LIMIT_S
        """Real time that a call may take: that of the scenario read last."""
        self._files: set[str] = set()
        self._calls: dict[int, _Call] = {}
        self._interrupted_at: float | None = None
        self._interrupts = 0
        self._guard: _engine.Guard | None = None
        self._lock = threading.Lock()

    def begin(self, *files: str) -> None:
        """Watches the code of files, from now on."""
        self._files.update(files)
        with self._lock:
            if self._guard is not None:
                self._say(self._guard)
                return
            stacks = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
            guard = self._guard = _engine.Guard(f"/proc/self/fd/{stacks.fileno()}")
        if threading.current_thread() is threading.main_thread():
            # Where somebody else hears of signals in this way, it stays so.
            before = signal.set_wakeup_fd(guard.fileno(), warn_on_full_buffer=False)
            if before != -1:
                signal.set_wakeup_fd(before)
        # Users' code may hold the interpreter's lock before the watch looks again.
        ON_CHANGE.append(lambda: self._say(guard))
        self._say(guard)
        threading.Thread(target=self._work, args=(guard, stacks), name="p4cc watch", daemon=True).start()

    def interrupt(self) -> None:
        """Ctrl-C came: calls that are under way shall end."""
        self._interrupted_at = time.monotonic()

    def end_with(self, code: int) -> None:
        """Ends the process with this code where threads of users' code would keep it; returns where none does."""
        if self._guard is None:
            return
        others = [one for one in threading.enumerate() if not one.daemon and one is not threading.main_thread()]
        until = time.monotonic() + _END_S
        for one in others:
            one.join(max(0.0, until - time.monotonic()))
        if any(one.is_alive() for one in others):
            with suppress(OSError, ValueError):
                sys.stdout.flush()
            with suppress(OSError, ValueError):
                sys.stderr.flush()
            os._exit(code)

    def _say(self, guard: _engine.Guard) -> None:
        """The interpreter runs."""
        guard.alive(self.limit_s if Process.is_ours else None, sorted(self._files), sorted(map(str, LEFT)))

    def _work(self, guard: _engine.Guard, stacks: TextIO) -> None:
        # What was interrupted before is over.
        self._interrupted_at = None
        while True:
            if Process.is_ours:
                stacks.seek(0)
                stacks.truncate()
                faulthandler.dump_traceback_later(_SILENT_S, file=stacks)
            self._say(guard)
            if guard.interrupts != self._interrupts:
                self._interrupts = guard.interrupts
                stuck = [thread for thread, call in self._calls.items() if call.error is InterruptedCallError]
                if stuck:
                    self._end(stuck[0])
                self.interrupt()
            self._look()
            time.sleep(_LOOK_S)

    def _look(self) -> None:
        now, before = time.monotonic(), self._calls
        self._calls = {
            thread: before[thread] if thread in before and before[thread].frame is frame else _Call(frame, now)
            for thread, frame in self._under_way().items()
        }
        for thread, call in list(self._calls.items()):
            if call.error is None:
                call.error, call.raised_at = self._why_ended(call, now), now
            if call.error is not None:
                _raise_in(thread, call.error)
                if now - call.raised_at > _END_S:
                    self._end(thread)
        if not self._calls:
            self._interrupted_at = None

    def _why_ended(self, call: _Call, now: float) -> type[UserCallError] | None:
        at = self._interrupted_at
        if at is not None and now - max(at, call.seen_at) > _GRACE_S:
            return InterruptedCallError
        return TooLongError if now - call.seen_at > self.limit_s else None

    def _under_way(self) -> dict[int, FrameType]:
        """By thread: the first frame of the user's code that p4cc or the engine calls."""
        others = {one.ident: one.name for one in threading.enumerate() if type(one).__name__ != "_DummyThread"}
        result: dict[int, FrameType] = {}
        for thread, stack in _engine.thread_frames().items():
            if thread == threading.get_ident() or others.get(thread) == CONTROLLERS:
                continue
            # Threads of the engine begin with what it calls.
            if (frame := self._first(stack, is_called=thread not in others)) is not None:
                result[thread] = frame
        return result

    def _first(self, stack: list[FrameType], *, is_called: bool) -> FrameType | None:
        for one in reversed(stack):
            file = one.f_code.co_filename
            is_ours = file.startswith(_P4CC) and file not in self._files
            if is_called and not is_ours and (file in self._files or _algorithm(one) is not None):
                return one
            is_called = is_called or is_ours
        return None

    def _end(self, thread: int) -> None:
        """Ends the process, whose other threads wait for a call."""
        if not Process.is_ours:
            return
        call = self._calls[thread]
        interrupted = call.error is InterruptedCallError
        if interrupted:
            cause, remedy = "interrupted; no results were written", "the call of Python code did not return"
        else:
            cause, remedy = f"the call took longer than {self.limit_s:g} s and does not return", REMEDY
        shown = "\n\x1b[?25h" if sys.stderr.isatty() else ""
        text = f"{shown}error: {self._place(thread, call.frame)}: {cause}\n  remedy: {remedy}\n"
        os.write(2, text.encode(errors="backslashreplace"))
        for remove in list(LEFT.values()):
            remove()
        os._exit(_INTERRUPTED if interrupted else _WRONG)

    def _place(self, thread: int, frame: FrameType) -> str:
        """Where a call is: line, class and method, flow, virtual time."""
        stack = _engine.thread_frames().get(thread, [])
        at = next((one for one in stack if one.f_code.co_filename in self._files), frame)
        line = f"{at.f_code.co_filename}:{at.f_lineno}"
        algorithm = _algorithm(frame)
        if algorithm is None:
            return f"{line}, in the import of the file"
        is_receiver = isinstance(algorithm, _engine.ReceiverBase)
        of = f"host {algorithm.host}" if is_receiver else f"flow {algorithm.flow_id}"
        now_ns = _now_ns(frame)
        at_us = "" if now_ns is None else f", at {now_ns / 1e3:.9g} us"
        return f"{line}, in {type(algorithm).__name__}.{frame.f_code.co_name}, {of}{at_us}"


WATCH = _Watch()


_Algorithm: TypeAlias = _engine.WindowBase | _engine.RateBase | _engine.ReceiverBase


def _algorithm(frame: FrameType) -> _Algorithm | None:
    """The algorithm whose method a frame is of."""
    names = frame.f_code.co_varnames[:1] if frame.f_code.co_argcount else ()
    first: object = frame.f_locals.get(names[0]) if names else None
    return first if isinstance(first, _Algorithm) else None


def _now_ns(frame: FrameType) -> float | None:
    """The virtual time of a method's call."""
    for name in frame.f_code.co_varnames[1 : frame.f_code.co_argcount]:
        value: object = frame.f_locals.get(name)
        if isinstance(value, _engine.WindowAck | _engine.PacedAck | _engine.Arrival):
            return value.now_ns
        if name == "now_ns" and isinstance(value, float):
            return value
    return None


def _raise_in(thread: int, error: type[UserCallError]) -> None:
    """Has an exception raised in a thread when it next runs Python code."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))
