"""A network on a thread of its own: how far it is goes to the progress, and a cancelled task ends it."""

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
    """Moves one network on in virtual time; each call raises UserError where the engine ends the run."""

    network: _engine.Network
    label: str
    """The run, for people."""
    runs: Runs

    async def to_end(self, threads: int) -> None:
        """Runs to the end."""
        await self._on_thread(lambda look: self.network.run(look, threads))

    async def to_message(self, until_ps: int, to_message: bool) -> None:
        """Runs to an instant, or with `to_message` to the first one at which a switch has a message."""
        await self._on_thread(lambda look: self.network.advance(until_ps, to_message, look))

    async def _on_thread(self, call: Callable[[Callable[[int, int, int, int, int], None]], None]) -> None:
        """Waits for a call of the engine; the engine ends at its next look around when the task is cancelled."""
        cancelled = threading.Event()

        def look_around(*told: int) -> None:
            if cancelled.is_set():
                raise KeyboardInterrupt
            self.runs.moved(self.label, Moment(*told))

        try:
            with run_errors(self.label):
                await asyncio.to_thread(call, look_around)
        except asyncio.CancelledError:
            cancelled.set()
            WATCH.interrupt()
            raise


@dataclass(frozen=True)
class InstalledRun(NetworkThread):
    """A run as a driver leads it: a copy, with its seed, of a network whose switches are installed."""

    planned: PlannedCase
    installed: _engine.Network
    """The network that was copied: its server knows the programs that were pushed."""
    threads: int = 1
