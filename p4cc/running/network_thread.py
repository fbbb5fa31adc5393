"""A network on a separate thread: it reports its progress, and ends when its task is cancelled."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from p4cc.running.networks import run_errors
from p4cc.running.progress import Moment
from p4cc.user_watch import WATCH

if TYPE_CHECKING:
    from collections.abc import Callable

    from p4cc import _engine
    from p4cc.running.planned_case import PlannedCase
    from p4cc.running.progress import Runs


@dataclass(frozen=True)
class NetworkThread:
    """Advances one network in virtual time; each call raises UserError if the engine ends the run."""

    network: _engine.Network
    label: str
    """Name of the run, for people."""
    runs: Runs

    async def to_end(self, threads: int) -> None:
        """Runs to the end."""
        await self._on_thread(lambda look: self.network.run(look, threads))

    async def to_message(self, until_ps: int, to_message: bool) -> None:
        """Runs until an instant, or with `to_message` until a switch has a message."""
        await self._on_thread(lambda look: self.network.advance(until_ps, to_message, look))

    async def _on_thread(self, call: Callable[[Callable[[int, int, int, int, int], None]], None]) -> None:
        """Waits for a call of the engine, which ends at its next check once the task is cancelled."""
        cancelled = threading.Event()

        def look_around(*moment: int) -> None:
            if cancelled.is_set():
                raise KeyboardInterrupt
            self.runs.moved(self.label, Moment(*moment))

        try:
            with run_errors(self.label):
                await asyncio.to_thread(call, look_around)
        except asyncio.CancelledError:
            cancelled.set()
            WATCH.interrupt()
            raise


@dataclass(frozen=True)
class InstalledRun(NetworkThread):
    """A driver's run: a copy, with its seed, of a network with installed switches."""

    planned: PlannedCase
    installed: _engine.Network
    """The original network, whose server knows the pushed programs."""
    threads: int = 1
