"""The thread of a user's handlers, with a limit on the duration of each.

A handler that hangs blocks only this thread; after a timeout it is abandoned, and the run ends with an error.
"""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any, Self, TypeVar

from p4cc import _engine
from p4cc.user_watch import CONTROLLERS

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from types import TracebackType

T = TypeVar("T")
_STOP_S = 1.0
"""Time to wait for the thread at the end."""


class TooLongError(Exception):
    """A call took too long; `line` is its current line in the user's file, 0 if unknown."""

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line


class HandlerThread:
    """A thread with an event loop for handlers."""

    def __init__(self, limit_s: float, file: str) -> None:
        """Messages name lines of the user's `file`."""
        self._limit_s = limit_s
        self._file = file
        self._loop = asyncio.new_event_loop()
        # A daemon, so that a handler that never returns does not prevent exit.
        self._thread = threading.Thread(target=self._work, name=CONTROLLERS, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_STOP_S)

    async def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs `work` to its end; raises TooLongError, and what it raises."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        waited = asyncio.wrap_future(future)
        done, _ = await asyncio.wait([waited], timeout=self._limit_s)
        if not done:
            line = self._line(work)
            future.cancel()
            raise TooLongError(line)
        return waited.result()

    def _line(self, work: object) -> int:
        """The current line of a call in the user's file: in running code, or in what it waits for."""
        for frame in _engine.thread_frames().get(self._thread.ident or 0, []):
            if frame.f_code.co_filename == self._file:
                return frame.f_lineno
        line = 0
        while work is not None:
            frame = getattr(work, "cr_frame", None)
            if frame is not None and frame.f_code.co_filename == self._file:
                line = frame.f_lineno
            work = getattr(work, "cr_await", None)
        return line

    def _work(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            left = asyncio.all_tasks(self._loop)
            for task in left:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        finally:
            self._loop.close()
