"""Machines of tests: a worker of content alone in this process, and a server of buckets (s3)."""

# moto is typed in part only.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from p4cc.cluster.answer import packed_answers, unpacked_answers
from p4cc.cluster.bundle import Contents, bundle_of
from p4cc.cluster.worker import Studies, Task, made
from p4cc.running.cached_run import packed, unpacked
from p4cc.running.provenance import this_p4cc
from p4cc.running.remote_runs import RemoteResult

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

    from p4cc.running.remote_runs import RunOrder

REGION = "us-east-1"
ACCESS = {"AWS_ACCESS_KEY_ID": "tests", "AWS_SECRET_ACCESS_KEY": "of-p4cc", "AWS_DEFAULT_REGION": REGION}


class Beside:
    """Makes runs as a worker does: of content alone."""

    runs_ahead = 8

    def __init__(self) -> None:
        self.made: list[str] = []
        self._studies = Studies()
        self._contents = Contents()
        self._one = threading.Lock()

    async def make(self, asked: RunOrder) -> RemoteResult:
        return await asyncio.to_thread(self._make, asked)

    def _make(self, asked: RunOrder) -> RemoteResult:
        # One after the other, as in a worker's process.
        with self._one:
            return self._made(asked)

    def _made(self, asked: RunOrder) -> RemoteResult:
        bundle = bundle_of(asked.study, asked.inputs, self._contents)
        study = self._studies.get(bundle.name, lambda: bundle)
        (done,) = made(study, [Task(asked.variant, asked.point, asked.seed, asked.key, asked.label, this_p4cc())])
        self.made.append(asked.label)
        ((derived, notes),) = unpacked_answers(packed_answers([(done.derived, done.notes)]), "here")
        run = unpacked(asked.key, packed(asked.key, done.run), "here")
        # Runs whose tables are ready stand beside others in one study.
        return RemoteResult(run, notes, is_kept=False, derived=derived if len(self.made) % 3 else None)

    def close(self) -> None:
        self._studies.end()


@contextmanager
def s3_server(seen: Callable[[str, str], None] = lambda _method, _path: None) -> Generator[str]:
    """A server of buckets (s3) on the loopback with a bucket `studies`; its address. `seen` is told of requests."""
    server_of = pytest.importorskip("moto.server")
    moto_app = server_of.DomainDispatcherApplication(server_of.create_backend_app)

    def application(environment: dict[str, Any], start: Any) -> Iterable[bytes]:
        seen(environment["REQUEST_METHOD"], environment["PATH_INFO"])
        return moto_app(environment, start)

    from werkzeug.serving import make_server

    server = make_server("127.0.0.1", 0, application, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{server.server_port}"
    try:
        import boto3

        client: Any = boto3.client(
            "s3",
            endpoint_url=address,
            region_name=REGION,
            aws_access_key_id=ACCESS["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=ACCESS["AWS_SECRET_ACCESS_KEY"],
        )
        client.create_bucket(Bucket="studies")
        yield address
    finally:
        server.shutdown()
        thread.join()
