"""Cases side by side: what is worked out of a finished one holds up nobody else."""

from __future__ import annotations

import asyncio
import threading
from typing import Any, cast

from p4cc.running.runner import schedule


def test_requests_are_answered_while_a_finished_case_is_kept() -> None:
    answered = threading.Event()

    async def run(case: int) -> int:
        if case == 1:
            # As a request does: something has to happen on the loop while case 0 is being kept.
            await asyncio.sleep(0.01)
            answered.set()
        return case

    kept: list[int] = []

    def keep(case: Any, run: Any) -> None:
        assert case != 0 or answered.wait(10), "the loop stood still"
        kept.append(run)

    asyncio.run(schedule(cast("Any", [0, 1]), cast("Any", run), 2, keep))
    assert kept == [0, 1]
