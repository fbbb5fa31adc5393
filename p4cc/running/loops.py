"""An event loop for a call that waits: also where one runs already, as in a notebook."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

T = TypeVar("T")
_LOOK_S = 0.1
"""Between two looks for Ctrl-C while a thread works."""


def run_to_end(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Runs `main` to its end, on a thread of its own where this thread has a loop; Ctrl-C cancels it.

    Raises what `main` raises, and KeyboardInterrupt when it was interrupted.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(main())
        return
    worker = _Worker(main)
    worker.start()
    try:
        while worker.is_alive():
            worker.join(_LOOK_S)
    except KeyboardInterrupt:
        worker.cancel()
        worker.join()
        raise
    if worker.failed is not None:
        raise worker.failed


class _Worker(threading.Thread):
    """A loop with one task."""

    def __init__(self, main: Callable[[], Coroutine[Any, Any, None]]) -> None:
        super().__init__(name="p4cc run", daemon=True)
        self.failed: BaseException | None = None
        self._main = main
        self._runner = asyncio.Runner()
        self._loop = self._runner.get_loop()
        self._task: asyncio.Task[None] | None = None
        self._cancelled = False

    def run(self) -> None:
        """In the thread."""
        try:
            with self._runner as runner:
                runner.run(self._as_task())
        except BaseException as error:  # noqa: BLE001 - the thread that waits raises it
            self.failed = error

    async def _as_task(self) -> None:
        self._task = asyncio.ensure_future(self._main())
        if self._cancelled:
            self._task.cancel()
        await self._task

    def cancel(self) -> None:
        """From the thread that waits."""
        self._cancelled = True
        self._loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()


class LoopThread:
    """A loop that stays, on a thread of its own, for calls of threads that may have a loop themselves."""

    def __init__(self, name: str) -> None:
        """Starts the thread; `stop` ends it."""
        self._loop = asyncio.new_event_loop()
        # A daemon: whoever forgets to stop it can end all the same.
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def call(self, work: Coroutine[Any, Any, T], interrupt: Callable[[], None] | None = None) -> T:
        """Runs `work` to its end and gives what it returns; raises what it raises.

        Ctrl-C cancels it, or with `interrupt` calls that and waits for the end that it brings; KeyboardInterrupt is
        raised then.
        """
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return _wait(future)
        except KeyboardInterrupt:
            if interrupt is None:
                future.cancel()
                raise
            interrupt()
            _wait(future)
            raise

    def stop(self) -> None:
        """Ends the thread; does nothing where it has ended."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()


def _wait(future: concurrent.futures.Future[T]) -> T:
    """What a future gives; a signal is heard meanwhile."""
    while not concurrent.futures.wait([future], _LOOK_S).done:
        pass
    return future.result()
