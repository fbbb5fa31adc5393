"""The user's controller in a lab, a separate process: `python -m p4cc.lab.own_controller JOB.json`.

It installs every switch as p4cc.lab.controller does, stays primary, and calls the handlers of the user class in real
time. Its results, with the rows of `record`, go to a file of the lab's folder when the lab ends.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from p4cc.control.faults import Faults, faults_of
from p4cc.control.load import load_controller, nobody
from p4cc.control.run import Controlled, run_controlled
from p4cc.control.run import Job as ControlJob
from p4cc.lab.control_result import FILE
from p4cc.lab.controller import Job, run_job, say
from p4cc.lab.live import LiveWorld, PortWatch, live_line
from p4cc.lab.plan import plan_lab
from topos.mininet import interface_names

if TYPE_CHECKING:
    from p4cc.control.load import ControllerClass
    from p4cc.lab.plan import LabPlan
    from p4cc.scenario.expand import Case


async def run(job: Job) -> None:
    """Runs to the end of the lab; raises UserError, ControllerError."""
    plan = plan_lab(job.request)
    case = plan.case
    if case is None:
        raise ValueError("an import has no controller")
    logs = Path(job.requests)
    pipelines = job.loaded_pipelines()
    planned = plan.planned(pipelines)
    if planned is None:
        raise ValueError("a scenario has a plan")
    settings = case.scenario.control
    chosen = _chosen(case, plan)
    faults = faults_of(case.scenario.faults, settings.absences, planned.topology)
    world = LiveWorld(case.scenario.seeds[0], logs.parent / "build", faults)
    addresses = {switch.name: f"127.0.0.1:{switch.grpc_port}" for switch in plan.network.switches}
    lines = {
        one.switch: live_line(world, one, pipelines[one.switch], addresses[one.switch], Path(job.requests))
        for one in planned.switches
    }
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, world.end)
    tasks = [asyncio.create_task(line.serve()) for line in lines.values()]
    tasks.append(asyncio.create_task(world.wait_for_clock()))
    stop = PortWatch(world, _interfaces(plan), lines).start(loop)
    try:
        for line in lines.values():
            await line.installed.wait()
        # Only absences are planned; ports and restarts are observed.
        own = Faults(absences=faults.absences)
        control = ControlJob(planned.topology, chosen, settings, own, f"lab {case.label()}", planned.changes)
        left = await run_controlled(control, world, lines, lambda: say("started", ""))
        _write(logs / FILE, left, world)
    finally:
        stop()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _chosen(case: Case, plan: LabPlan) -> ControllerClass:
    name = case.scenario.switch.controller
    return nobody() if name is None else load_controller(name, case.scenario.control.parameters, plan.file)


def _interfaces(plan: LabPlan) -> dict[tuple[str, int], str]:
    names = interface_names(plan.network)
    return {(end.node, end.port): name for end, name in names.items() if end.port is not None}


def _write(path: Path, left: Controlled, world: LiveWorld) -> None:
    plain = {
        "counts": asdict(left.counts),
        "rows": left.rows,
        "calls_left_out": left.calls_left_out,
        "messages_lost": world.lost,
    }
    path.write_text(json.dumps(plain), encoding="utf-8")


def main() -> int:
    """The process: exit code 0 when the lab ended it, 2 with a message after an error."""
    return run_job(run)


if __name__ == "__main__":
    sys.exit(main())
