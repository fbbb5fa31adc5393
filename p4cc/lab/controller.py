"""The lab's controller, a separate process: `python -m p4cc.lab.controller JOB.json`.

It pushes programs and brings every switch into its planned state. For a scenario it stays primary at every switch:
after a restart of a switch or of itself, it reads the state and writes only the differences, so that forwarding is not
interrupted. For an import it exits after installing, so that the user's controller can become primary.

It reports events as JSON lines on the standard output; every request goes to a file per switch.
"""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import aclosing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from controller.client import Target, connect
from controller.errors import ControllerError, SwitchError
from controller.install import install_fixed, install_switch
from controller.pipeline import Pipeline, load_pipeline
from controller.record import file_recorder
from p4cc.errors import UserError
from p4cc.lab.plan import LabRequest, plan_lab

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from controller import SwitchPlan
    from controller.entities import Entity
    from p4cc.json_data import JsonValue

# Before connecting to a lost switch again.
PAUSE_S = 0.2


@dataclass(frozen=True)
class Job:
    """The process's task, as JSON."""

    request: LabRequest
    pipelines: dict[str, list[str]]
    """By switch: files of P4Info (binary) and device config."""
    requests: str
    """Folder for the requests to each switch."""
    switches: list[str]
    """Switches to serve."""

    def write(self, path: Path) -> None:
        """As a file."""
        path.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Job:
        """From a file."""
        plain = json.loads(path.read_text(encoding="utf-8"))
        return cls(LabRequest.from_plain(plain.pop("request")), **plain)

    def loaded_pipelines(self) -> dict[str, Pipeline]:
        """Pipelines by switch, from the files."""
        return {
            switch: load_pipeline(Path(p4info).read_bytes(), Path(config).read_bytes())
            for switch, (p4info, config) in self.pipelines.items()
        }


def store_pipeline(pipeline: Pipeline, folder: Path, name: str) -> list[str]:
    """A pipeline as the two files that a job names."""
    folder.mkdir(parents=True, exist_ok=True)
    p4info, config = folder / f"{name}.p4info.bin", folder / f"{name}.config"
    p4info.write_bytes(pipeline.config.p4info.SerializeToString(deterministic=True))
    config.write_bytes(pipeline.config.p4_device_config)
    return [str(p4info), str(config)]


async def wait_for_port(address: str) -> None:
    """Returns once the port is open: the retries of gRPC back off for seconds."""
    host, _, port = address.rpartition(":")
    while True:
        try:
            _, writer = await asyncio.open_connection(host, int(port))
        except OSError:
            await asyncio.sleep(PAUSE_S)
        else:
            writer.close()
            return


def say(event: str, switch: str, **more: JsonValue) -> None:
    """Writes an event for the lab."""
    print(json.dumps({"event": event, "switch": switch, **more}), flush=True)


@dataclass(frozen=True)
class _SwitchJob:
    """A switch and its desired state."""

    target: Target
    pipeline: Pipeline
    desired: SwitchPlan | tuple[Entity, ...]
    requests: Path
    holds: bool

    async def serve(self) -> None:
        """Installs the switch, again after each restart unless the controller is to exit."""
        while True:
            try:
                await wait_for_port(self.target.address)
                await self._session()
            except SwitchError as error:
                say("lost", self.target.name, cause=str(error))
                if not self.holds:
                    raise
                await asyncio.sleep(PAUSE_S)
            else:
                return

    async def _session(self) -> None:
        recorder = file_recorder(self.requests, self.target.name)
        async with connect(self.target, recorder=recorder) as session:
            await session.become_primary()
            if isinstance(self.desired, tuple):
                report = await install_fixed(session, self.pipeline, self.desired)
            else:
                report = await install_switch(session, self.pipeline, self.desired)
            say("installed", self.target.name, pushed=report.pipeline_pushed, updates=report.updates_written)
            if self.holds:
                async with aclosing(session.watch()) as messages:
                    async for message in messages:
                        say("message", self.target.name, kind=message.WhichOneof("update"))


def _switch_jobs(job: Job) -> list[_SwitchJob]:
    """The switches of a job; raises UserError and ControllerError."""
    plan = plan_lab(job.request)
    pipelines = job.loaded_pipelines()
    desired = plan.desired(pipelines)
    switches = [plan.switch(name) for name in job.switches]
    return [
        _SwitchJob(
            Target(f"127.0.0.1:{switch.grpc_port}", switch.device_id, switch.name),
            pipelines[switch.name],
            desired[switch.name],
            Path(job.requests) / f"{switch.name}-p4runtime-requests.jsonl",
            plan.holds,
        )
        for switch in switches
    ]


async def _serve_all(jobs: list[_SwitchJob]) -> None:
    """Serve every switch; the first error ends the others."""
    tasks = [asyncio.create_task(job.serve()) for job in jobs]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def run_job(work: Callable[[Job], Coroutine[object, object, None]]) -> int:
    """Runs the job of the command line; returns the exit code, 0 when done and 2 after an error."""
    try:
        asyncio.run(work(Job.read(Path(sys.argv[1]))))
    except (UserError, ControllerError) as error:
        say("failed", "", cause=str(error))
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


def main() -> int:
    """The process: exit code 0 when done, 2 with a message after an error."""
    return run_job(lambda job: _serve_all(_switch_jobs(job)))


if __name__ == "__main__":
    sys.exit(main())
