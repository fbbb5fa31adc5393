"""An event loop for a blocking call, even if a loop already runs, as in a notebook."""

from __future__ import annotations

import asyncio
import concurrent.futures
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Generator

T = TypeVar("T")
_LOOK_S = 0.1
"""Interval of checks for Ctrl-C while a thread works."""


def run_to_end(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Runs `main` to its end, on a new thread if this one already has a loop; Ctrl-C cancels it.

    Raises what `main` raises, and KeyboardInterrupt if it was interrupted.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(main())
        return
    worker = _Worker(main)
    worker.start()
    try:
        with _interruptible():
            while not worker.ended.wait(_LOOK_S):
                pass
    except KeyboardInterrupt:
        worker.cancel()
        worker.ended.wait()
        raise
    if worker.failed is not None:
        raise worker.failed


class _Worker(threading.Thread):
    """A loop with one task."""

    def __init__(self, main: Callable[[], Coroutine[Any, Any, None]]) -> None:
        super().__init__(name="p4cc run", daemon=True)
        self.failed: BaseException | None = None
        # `Thread.join` considers a thread ended if Ctrl-C arrives while it waits (CPython 3.11).
        self.ended = threading.Event()
        self._main = main
        self._runner = asyncio.Runner()
        self._loop = self._runner.get_loop()
        self._task: asyncio.Task[None] | None = None
        self._cancelled = False

    def run(self) -> None:
        """Called in the thread."""
        try:
            with self._runner as runner:
                runner.run(self._as_task())
        except BaseException as error:  # noqa: BLE001 - the thread that waits raises it
            self.failed = error
        finally:
            self.ended.set()

    async def _as_task(self) -> None:
        self._task = asyncio.ensure_future(self._main())
        if self._cancelled:
            self._task.cancel()
        await self._task

    def cancel(self) -> None:
        """Called from the waiting thread."""
        self._cancelled = True
        self._loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()


class LoopThread:
    """A permanent loop on a separate thread, for calls from threads that may have a loop themselves."""

    def __init__(self, name: str) -> None:
        """Starts the thread; `stop` ends it."""
        self._runner = asyncio.Runner()
        self._loop = self._runner.get_loop()
        self._stopped = asyncio.Event()
        # A daemon, so that a forgotten `stop` does not prevent exit.
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        """Called in the thread; cancels tasks that remain at the end, and waits for them."""
        with self._runner as runner:
            runner.run(self._until_stopped())

    async def _until_stopped(self) -> None:
        await self._stopped.wait()

    def call(self, work: Coroutine[Any, Any, T], interrupt: Callable[[], None] | None = None) -> T:
        """Runs `work` to its end and returns its result; raises what it raises.

        Ctrl-C cancels it, or with `interrupt` calls that and waits for the end it causes; then raises
        KeyboardInterrupt.
        """
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            with _interruptible():
                return _wait(future)
        except KeyboardInterrupt:
            if interrupt is None:
                future.cancel()
                raise
            interrupt()
            _wait(future)
            raise

    def stop(self) -> None:
        """Ends the thread; does nothing if it has ended."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopped.set)
            self._thread.join()


@contextmanager
def _interruptible() -> Generator[None]:
    """Ctrl-C raises KeyboardInterrupt inside, also under `asyncio.run`.

    The handler of `asyncio.run` cancels its task instead, and a task that waits here notices that only at the end.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before in {None, signal.SIG_IGN, signal.SIG_DFL}:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _wait(future: concurrent.futures.Future[T]) -> T:
    """Result of a future, while signals are handled."""
    while not concurrent.futures.wait([future], _LOOK_S).done:
        pass
    return future.result()
