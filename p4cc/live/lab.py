"""`p4cc lab --live`: a lab's page, served from its own thread while the lab is up."""

from __future__ import annotations

import asyncio
import shlex
import threading
from concurrent.futures import Future
from contextlib import AsyncExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from controller import ControllerError
from p4cc.errors import UserError
from p4cc.files import inputs_read
from p4cc.lab.plan import plan_lab
from p4cc.live.lab_desk import LabDesk, ShownLab, beside_controller
from p4cc.live.lab_looks import LabLooker
from p4cc.live.network import draw
from p4cc.live.record import Recorder, RunSource, free_file
from p4cc.live.server import PageServer
from p4cc.running.planned_case import PlannedCase

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from p4cc.lab.lab import Lab
    from p4cc.lab.plan import LabRequest
    from p4cc.planning.network import NetworkPlan
    from p4cc.scenario.expand import Case

LOOK_S = 0.1
"""Between two looks."""
LEVELS_S = 1.0
"""Between two readings of the switches' counters."""
_GOODBYE_S = 10.0


@dataclass
class LabPage:
    """Serves the page of one lab (`p4cc.lab.lab.LabOptions.beside`)."""

    request: LabRequest
    port: int = 0
    """On the loopback; 0 for any free port."""
    server: PageServer | None = None
    """Set once it is served."""

    @contextmanager
    def beside(self, lab: Lab) -> Generator[None]:
        """Serves the page while the block runs; raises UserError where it cannot be served."""
        over = threading.Event()
        served: Future[PageServer] = Future()
        thread = threading.Thread(target=self._run, args=(lab, served, over), name="live page", daemon=True)
        thread.start()
        try:
            self.server = served.result()
            lab.options.say(f"live page: {self.server.address}")
            yield
        finally:
            over.set()
            thread.join(_GOODBYE_S)

    def _run(self, lab: Lab, served: Future[PageServer], over: threading.Event) -> None:
        try:
            asyncio.run(self._serve(lab, served, over))
        except Exception as error:  # noqa: BLE001 - the lab continues without its page
            if served.done():
                lab.report.warnings.append(f"the live page failed: {error}")
            else:
                served.set_exception(error)

    async def _serve(self, lab: Lab, served: Future[PageServer], over: threading.Event) -> None:
        case, plan = planned_of(lab)
        shape = draw(plan)
        looker = LabLooker(lab, shape)
        recorder = Recorder(free_file(lab.options.folder), _run_source(lab, case, self.request))
        stop_ns = case.scenario.stop_ns if lab.options.agents else None
        planned = PlannedCase(case, plan, lab.pipelines)
        desk = LabDesk(ShownLab(case.label(), stop_ns), planned, shape, looker, recorder)
        logs = lab.options.folder / "logs"
        async with AsyncExitStack() as stack:
            stack.callback(looker.close)
            lines = {
                one.switch: await stack.enter_async_context(
                    beside_controller(
                        f"127.0.0.1:{lab.plan.switch(one.switch).grpc_port}",
                        one,
                        lab.pipelines[one.switch],
                        logs / f"{one.switch}-page-requests.jsonl",
                    )
                )
                for one in plan.switches
            }
            desk.connected_beside(lines)
            with suppress(UserError, ControllerError):
                await desk.read_levels()
            desk.looks.see(await looker.look())
            server = PageServer(desk)
            await stack.enter_async_context(server.served(self.port))
            served.set_result(server)
            levels = asyncio.create_task(_follow_levels(desk))
            try:
                await _observe(desk, looker, server, over)
            finally:
                levels.cancel()
                await asyncio.gather(levels, return_exceptions=True)
                desk.end()
                for event in ("look", "end"):
                    server.send(desk.next_message(), event)


async def _observe(desk: LabDesk, looker: LabLooker, server: PageServer, over: threading.Event) -> None:
    """Looks and sends messages until the lab is over."""
    loop = asyncio.get_running_loop()
    due_s = loop.time()
    while not over.is_set():
        desk.looks.see(await looker.look())
        server.send(desk.next_message())
        # A machine that is too slow does not catch up later.
        due_s = max(due_s + LOOK_S, loop.time())
        await asyncio.sleep(due_s - loop.time())


async def _follow_levels(desk: LabDesk) -> None:
    """Reads the counters of marks repeatedly, also after a switch did not answer."""
    while True:
        await asyncio.sleep(LEVELS_S)
        with suppress(UserError, ControllerError):
            await desk.read_levels()


def planned_of(lab: Lab) -> tuple[Case, NetworkPlan]:
    """The scenario's case and plan; raises UserError for an import, which has none."""
    if lab.plan.case is None or lab.planned is None:
        raise no_scenario()
    return lab.plan.case, lab.planned


def no_scenario() -> UserError:
    """Why an import has no page."""
    cause = "an import has no scenario, which the page draws and writes its changes into"
    return UserError(cause, place="--live", remedy="give a scenario: its topology.kind `import` reads such a file")


def _run_source(lab: Lab, case: Case, request: LabRequest) -> RunSource:
    """The inputs of the lab; planned once more to learn which files it reads."""
    inputs: dict[str, Path] = {}
    token = inputs_read.set(inputs)
    try:
        plan = plan_lab(request)
        plan.planned(lab.pipelines)
    finally:
        inputs_read.reset(token)
    words = ["sudo p4cc lab FILE"]
    if request.switch != "p4cc":
        words.append(f"--switch {request.switch}")
    words += [f"--kernel-tcp {shlex.quote(label)}" for label in request.kernel_tcp]
    words += [f"--hosts {request.hosts}"] if request.hosts else []
    return RunSource(plan.data, case, inputs, " ".join(words))
