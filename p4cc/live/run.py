"""`p4cc run --live`: a run that is watched in a page, which leads its time and may change its tables."""

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
from p4cc.live.moving import Mover
from p4cc.live.network import drawn
from p4cc.live.pace import ENDED, FAILED, PAUSED, Pace
from p4cc.live.record import Recorder, free_file, recorded
from p4cc.live.server import PageServer
from p4cc.running.controller_run import run_with_stops
from p4cc.scenario.changes import TimedRow

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from controller.pipeline import Pipeline
    from p4cc import _engine
    from p4cc.control.load import ControllerClass
    from p4cc.planning.network import NetworkPlan
    from p4cc.running.controller_run import ControlOutcome
    from p4cc.running.progress import Runs
    from p4cc.running.runner import Prepared
    from p4cc.scenario.expand import Case

DEFAULT_SPEED = 1e-3
"""A millisecond of virtual time in a second."""
_MESSAGE_S = 0.09
"""Between two messages to the page while time passes."""
_GONE_S = 2.0
"""How long nobody must look after the end until the run is over."""
_POLL_S = 0.05
_WAITS = "waits for a page"


@dataclass
class LiveRun:
    """Watches the one run of a call (`p4cc.running.runner.Watcher`)."""

    port: int = 0
    """Of the loopback; 0 is any that is free."""
    speed: float | None = DEFAULT_SPEED
    """Virtual seconds in a real one; None for as fast as it goes."""
    started: datetime | None = None
    """Names the folder of results."""
    server: PageServer | None = None
    recorder: Recorder | None = None

    def folder(self, results: Path, name: str) -> Path:
        """A folder of its own for each watched run."""
        self.started = self.started or datetime.now().astimezone()
        return results / f"{name}-live-{self.started:%Y%m%d-%H%M%S}"

    def begin(self, prepared: Prepared) -> None:
        """Is told what will run."""
        self.recorder = Recorder(free_file(prepared.folder), recorded(prepared))

    def as_run(self, prepared: Prepared) -> Prepared:
        """What was run, with what was changed in the page."""
        recorder = self._recorder()
        if not recorder.rows:
            return prepared
        rows = recorder.all_rows
        changes = {"changes": [TimedRow.model_validate(row) for row in rows]}
        cases = [replace(case, scenario=case.scenario.model_copy(update=changes)) for case in prepared.cases]
        scenario = prepared.scenario.model_copy(update=changes)
        return replace(prepared, data={**prepared.data, "changes": rows}, scenario=scenario, cases=cases)

    def kept(self) -> str:
        """What a call leaves that was interrupted, for people."""
        recorder = self._recorder()
        return f"{recorder.file} repeats the run with what was changed in its page" if recorder.rows else ""

    def _recorder(self) -> Recorder:
        if self.recorder is None:
            raise RuntimeError("a watcher is told what will run before it runs")
        return self.recorder

    async def run(
        self,
        networks: tuple[_engine.Network, _engine.Network],
        planned: tuple[Case, NetworkPlan, Mapping[str, Pipeline]],
        chosen: ControllerClass | None,
        progress: tuple[str, Runs],
    ) -> ControlOutcome:
        """Serves the page and runs to the end; raises UserError, ControllerError."""
        (_, network), (case, plan, pipelines) = networks, planned
        session = _Session(network, planned, Pace(self.speed), progress, self._recorder())
        self.server = session.server
        async with session.server.served(self.port):
            Console(stderr=True, soft_wrap=True, highlight=False).print(
                f"live page: {session.server.address}\nvirtual time begins when it is opened; Ctrl-C ends the run",
                markup=False,
            )
            waiting = asyncio.create_task(session.begin_with_page())
            try:
                left = await run_with_stops(
                    networks, (case, plan, pipelines), chosen, session.mover, connected=session.desk.connected
                )
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
        network: _engine.Network,
        planned: tuple[Case, NetworkPlan, Mapping[str, Pipeline]],
        pace: Pace,
        progress: tuple[str, Runs],
        recorder: Recorder,
    ) -> None:
        self._network = network
        self._pace = pace
        self._told_at = 0.0
        self._told_state: tuple[str, str | None] = ("", None)
        pace.pause(_WAITS)
        shape = drawn(planned[1])
        self.mover = Mover(network, progress, pace, self._seen)
        self.mover.has_left = self._linger
        self.desk = Desk(network, planned, shape, self.mover, recorder)
        self._looks: Looks = self.desk.looks
        self.server = PageServer(self.desk)
        self._look()

    def _look(self) -> None:
        self._looks.see(self._network.look(self._looks.flows_to_look_at, AUTOMATIC))

    def _seen(self) -> None:
        """Looks, and tells the page now and then, or at once where time stops or goes on."""
        self._look()
        now, state = time.monotonic(), (self._pace.state, self._pace.why)
        if now - self._told_at < _MESSAGE_S and state == self._told_state:
            return
        self._told_at, self._told_state = now, state
        self.server.tell(self.desk.say())
        if self._pace.state in (ENDED, FAILED):
            self.server.tell(self.desk.say(), "end")

    async def begin_with_page(self) -> None:
        """Lets time pass when the first page has come, unless somebody decided otherwise."""
        await self.server.came.wait()
        if (self._pace.state, self._pace.why) == (PAUSED, _WAITS):
            self._pace.go()
            self._pace.woken.set()

    def fail(self, why: str) -> None:
        """The run ended with an error."""
        self._pace.end(FAILED, why)
        self._seen()

    async def _linger(self) -> None:
        """Waits while somebody looks at what the run has come to."""
        gone_since = time.monotonic()
        while not self.desk.is_finished and time.monotonic() - gone_since < _GONE_S:
            if self.server.pages:
                gone_since = time.monotonic()
            # The server tells nobody who comes and goes.
            await asyncio.sleep(_POLL_S)
