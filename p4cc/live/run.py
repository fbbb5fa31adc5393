"""`p4cc run --live`: a run with a page that controls its time and may change its tables."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from rich.console import Console

from p4cc.errors import UserError
from p4cc.live.desk import Desk
from p4cc.live.looks import AUTOMATIC, Looks
from p4cc.live.mover import Mover, Steps
from p4cc.live.network import draw
from p4cc.live.pace import ENDED, FAILED, PAUSED, Pace
from p4cc.live.record import Recorder, free_file, run_source
from p4cc.live.server import PageServer
from p4cc.running.controller_run import run_with_stops
from p4cc.running.driver import Read, check_one
from p4cc.running.network_driver import NetworkDriver
from p4cc.scenario.changes import TimedRow

if TYPE_CHECKING:
    from pathlib import Path

    from p4cc.running.controller_run import ControlOutcome
    from p4cc.running.driver import ReadScenario
    from p4cc.running.network_thread import InstalledRun
    from p4cc.running.planned_case import PlannedCase

DEFAULT_SPEED = 1e-3
"""A virtual millisecond per second."""
_MESSAGE_S = 0.09
"""Between two messages to the page while time passes."""
_GONE_S = 2.0
"""How long after the last page is closed an ended run is over."""
_POLL_S = 0.05
_WAITS = "waits for a page"


@dataclass
class WatchedDriver(NetworkDriver):
    """Leads the one run of a call as its page says."""

    keeps_runs = False
    # The page looks at all rows.
    streams_tables = False

    port: int = 0
    """On the loopback; 0 for any free port."""
    speed: float | None = DEFAULT_SPEED
    """Virtual seconds per real second; None for full speed."""
    started: datetime | None = None
    """Names the folder of results."""
    server: PageServer | None = None
    recorder: Recorder | None = None

    def check(self, runs: int) -> None:
        """Refuses several runs."""
        check_one(runs, "shows", "--live")

    def stops(self, planned: PlannedCase) -> str:
        """Every run does."""
        return planned.stops or "somebody watches it"

    def folder(self, results: Path, name: str) -> Path:
        """A separate folder for each watched run."""
        self.started = self.started or datetime.now().astimezone()
        return results / f"{name}-live-{self.started:%Y%m%d-%H%M%S}"

    def begin(self, read: ReadScenario, folder: Path) -> None:
        """Takes what will run."""
        self.recorder = Recorder(free_file(folder), run_source(read))

    def as_run(self, read: Read) -> Read:
        """The run, including the page's changes."""
        recorder = self._recorder()
        if not recorder.rows:
            return read
        rows = recorder.all_rows
        changes = {"changes": [TimedRow.model_validate(row) for row in rows]}
        cases = [replace(case, scenario=case.scenario.model_copy(update=changes)) for case in read.cases]
        scenario = read.scenario.model_copy(update=changes)
        return replace(read, data={**read.data, "changes": rows}, scenario=scenario, cases=cases)

    def left_by_interrupt(self, *, uses_cache: bool) -> str:
        """The file with the page's changes."""
        del uses_cache
        recorder = self._recorder()
        return f"{recorder.file} repeats the run with what was changed in its page" if recorder.rows else ""

    def _recorder(self) -> Recorder:
        if self.recorder is None:
            raise RuntimeError("`begin` precedes the run")
        return self.recorder

    async def lead(self, run: InstalledRun) -> ControlOutcome:
        """Serves the page and runs to the end."""
        steps = Steps(run.network, run.label, run.runs)
        session = _Session(steps, run.planned, Pace(self.speed), self._recorder())
        self.server = session.server
        async with session.server.served(self.port):
            Console(stderr=True, soft_wrap=True, highlight=False).print(
                f"live page: {session.server.address}\nvirtual time begins when it is opened; Ctrl-C ends the run",
                markup=False,
            )
            waiting = asyncio.create_task(session.begin_with_page())
            try:
                left = await run_with_stops(run, session.mover, connected=session.desk.connected)
            except UserError as error:
                session.fail(str(error))
                raise
            finally:
                waiting.cancel()
                with suppress(asyncio.CancelledError):
                    await waiting
        return left


class _Session:
    """One run and its page."""

    def __init__(
        self,
        steps: Steps,
        planned: PlannedCase,
        pace: Pace,
        recorder: Recorder,
    ) -> None:
        self._network = steps.network
        self._pace = pace
        self._sent_at = 0.0
        self._sent_state: tuple[str, str | None] = ("", None)
        pace.pause(_WAITS)
        shape = draw(planned.plan)
        self.mover = Mover(steps, pace, self._observe)
        self.mover.has_left = self._linger
        self.desk = Desk(steps.network, planned, shape, self.mover, recorder)
        self._looks: Looks = self.desk.looks
        self.server = PageServer(self.desk)
        self._look()

    def _look(self) -> None:
        self._looks.see(self._network.look(self._looks.flows_to_look_at, AUTOMATIC))

    def _observe(self) -> None:
        """Looks, and sends the page a message now and then, or at once when time stops or continues."""
        self._look()
        now, state = time.monotonic(), (self._pace.state, self._pace.why)
        if now - self._sent_at < _MESSAGE_S and state == self._sent_state:
            return
        self._sent_at, self._sent_state = now, state
        self.server.send(self.desk.next_message())
        if self._pace.state in (ENDED, FAILED):
            self.server.send(self.desk.next_message(), "end")

    async def begin_with_page(self) -> None:
        """Starts time when the first page is open, unless it was started or paused before."""
        await self.server.first_visit.wait()
        if (self._pace.state, self._pace.why) == (PAUSED, _WAITS):
            self._pace.go()
            self._pace.wakeup.set()

    def fail(self, why: str) -> None:
        """Ends the run with an error."""
        self._pace.end(FAILED, why)
        self._observe()

    async def _linger(self) -> None:
        """Waits while a page is open."""
        gone_since = time.monotonic()
        while not self.desk.is_finished and time.monotonic() - gone_since < _GONE_S:
            if self.server.pages:
                gone_since = time.monotonic()
            # The server has no event for pages that open and close.
            await asyncio.sleep(_POLL_S)
