"""Runs that wait for a cluster, several to a task where they are short: the head has work with each task."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from p4cc.running.remote_runs import RemoteResult, RunOrder

TASK_S = 2.0
"""The duration of a task of several runs, which is lost when its worker dies."""
MAX_BATCH = 64
MAX_BATCH_BYTES = 32 << 20
"""Of what comes back of a task, as far as that is known."""
FIRST_TASKS = 8
"""Before it is known how long runs take, on a small cluster."""
_FORGETS = 0.2
"""The weight of the last task in the average duration of a run."""


@dataclass(eq=False)
class Waiting:
    """A run, and who waits for it."""

    asked: RunOrder
    result: asyncio.Future[RemoteResult]
    batch: Batch | None = None
    more: int = 1
    """How many times as much memory it is given as it was thought to need."""

    def give(self, made: RemoteResult) -> None:
        """Hands the run over, if somebody still waits for it."""
        if not self.result.done():
            self.result.set_result(made)

    def fail(self, error: Exception) -> None:
        """Says that it cannot be made."""
        if not self.result.done():
            self.result.set_exception(error)
            # Of many that fail alike, one is said.
            self.result.exception()


@dataclass(eq=False)
class Batch:
    """Runs of one task."""

    runs: list[Waiting]
    task: asyncio.Task[None] | None = None

    def is_left(self) -> bool:
        """Whether nobody waits for any of them."""
        return all(one.result.cancelled() for one in self.runs)


@dataclass
class _Known:
    """What runs with these inputs took so far."""

    run_s: float | None = None
    run_bytes: float = 0.0


@dataclass
class Batches:
    """Hands runs over in tasks; of one event loop."""

    work: Callable[[list[Waiting]], Coroutine[None, None, None]]
    """Gives a task to the cluster and sets the results."""
    like: Callable[[RunOrder], object]
    """What runs of one task have in common."""
    most_tasks: int
    cores: int
    _waiting: dict[object, deque[Waiting]] = field(default_factory=dict[object, deque[Waiting]])
    _known: dict[object, _Known] = field(default_factory=dict[object, _Known])
    _batches: set[Batch] = field(default_factory=set[Batch])
    _is_due: bool = False

    async def make(self, asked: RunOrder) -> RemoteResult:
        """Waits until a run is made."""
        loop = asyncio.get_running_loop()
        one = Waiting(asked, loop.create_future())
        self._waiting.setdefault(self.like(asked), deque()).append(one)
        self._soon(loop)
        try:
            return await one.result
        finally:
            if one.result.cancelled():
                self._leave(one)

    def took(self, of: RunOrder, runs: int, seconds: float, size_bytes: int) -> None:
        """Records the duration and the size of a task."""
        if not runs:
            return
        known = self._known.setdefault(self.like(of), _Known())
        if known.run_s is None:
            known.run_s, known.run_bytes = seconds / runs, size_bytes / runs
        else:
            known.run_s += _FORGETS * (seconds / runs - known.run_s)
            known.run_bytes += _FORGETS * (size_bytes / runs - known.run_bytes)

    def outstanding(self) -> list[RunOrder]:
        """Runs at the cluster."""
        return [one.asked for batch in self._batches for one in batch.runs if not one.result.done()]

    def _soon(self, loop: asyncio.AbstractEventLoop) -> None:
        """Hands over once all that ask now have asked."""
        if not self._is_due:
            self._is_due = True
            loop.call_soon(self._hand_over)

    def _hand_over(self) -> None:
        self._is_due = False
        for like, waiting in list(self._waiting.items()):
            while waiting and len(self._batches) < self._most(like):
                self._begin(Batch([waiting.popleft() for _ in range(self._size(like, len(waiting)))]))
            if not waiting:
                del self._waiting[like]

    def _begin(self, batch: Batch) -> None:
        for one in batch.runs:
            one.batch = batch
        self._batches.add(batch)
        batch.task = asyncio.get_running_loop().create_task(self.work(batch.runs))
        batch.task.add_done_callback(lambda _: self._ended(batch))

    def _ended(self, batch: Batch) -> None:
        self._batches.discard(batch)
        if not asyncio.get_running_loop().is_closed():
            self._hand_over()

    def _most(self, like: object) -> int:
        """Tasks at the same time: a few until it is known how long runs take."""
        return self.most_tasks if like in self._known else min(self.most_tasks, max(FIRST_TASKS, 2 * self.cores))

    def _size(self, like: object, waiting: int) -> int:
        """Runs of the next task: one until it is known how long they take, and never so many that cores are idle."""
        known = self._known.get(like)
        if known is None or known.run_s is None:
            return 1
        fits = min(TASK_S / max(known.run_s, 1e-6), MAX_BATCH_BYTES / max(known.run_bytes, 1.0), MAX_BATCH)
        return max(1, min(int(fits), -(-waiting // (2 * max(1, self.cores)))))

    def _leave(self, one: Waiting) -> None:
        if one.batch is None:
            for waiting in self._waiting.values():
                if one in waiting:
                    waiting.remove(one)
                    return
        elif one.batch.is_left() and one.batch.task is not None:
            one.batch.task.cancel()
