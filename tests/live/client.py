"""A watched run in this process, and whoever asks its page's server without a browser."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.cookiejar import CookieJar
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.request import HTTPCookieProcessor, OpenerDirector, Request, build_opener

from p4cc.live.run import WatchedDriver
from p4cc.running.outcome import RunOutcome
from p4cc.running.request import RunRequest
from p4cc.running.runner import run_scenario
from tests.p4cc.scenarios import write

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping
    from pathlib import Path

    from p4cc.live.lab import LabPage

PATIENCE_S = 30


@dataclass
class Client:
    """Asks the server of a watched run, or of a lab."""

    run: WatchedDriver | LabPage
    opener: OpenerDirector = field(default_factory=lambda: build_opener(HTTPCookieProcessor(CookieJar())))

    @property
    def base(self) -> str:
        """The server's address."""
        assert self.run.server is not None
        return f"http://127.0.0.1:{self.run.server.port}"

    def come(self) -> None:
        """Brings the token."""
        assert self.run.server is not None
        with self.opener.open(self.run.server.address, timeout=PATIENCE_S) as answer:
            assert answer.status == 200

    def ask(self, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """Status and JSON of an answer; with a body it is posted."""
        data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        known = {} if data is None else {"Content-Type": "application/json"}
        request = Request(self.base + path, data, {**known, **headers})  # noqa: S310 (the loopback)
        try:
            with self.opener.open(request, timeout=PATIENCE_S) as answer:
                return answer.status, json.loads(answer.read())
        except HTTPError as error:
            text = error.read()
            return error.code, json.loads(text) if text.startswith(b"{") else text.decode()

    def get(self, path: str) -> Any:
        """The answer to a question that is answered."""
        status, answer = self.ask(path)
        assert status == 200, answer
        return answer

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """The answer to a request that is done."""
        status, answer = self.ask(path, body)
        assert status == 200, answer
        return answer

    def looks(self) -> Iterator[dict[str, Any]]:
        """Messages of the stream; whoever takes them counts as a page."""
        with self.opener.open(f"{self.base}/api/stream", timeout=PATIENCE_S) as stream:
            for line in stream:
                if line.startswith(b"data: "):
                    yield json.loads(line[6:])

    def control(self, **asked: Any) -> dict[str, Any]:
        """Asks something of time, and gives the first message after which it stands still, if it comes to that."""
        self.post("/api/control", asked)
        for look in self.looks():
            if look["state"] != "running":
                return look
        raise AssertionError("the stream ended")


@dataclass
class Watched:
    """A watched run on a thread of its own."""

    client: Client
    thread: threading.Thread
    outcomes: list[RunOutcome | BaseException]

    def finish(self) -> RunOutcome:
        """Lets the run come to its end; raises what it raised."""
        if self.thread.is_alive():
            self.client.post("/api/control", {"do": "finish"})
        self.thread.join(PATIENCE_S)
        assert not self.thread.is_alive()
        (outcome,) = self.outcomes
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome


@contextmanager
def watched(folder: Path, data: dict[str, Any], *, speed: float | None = None) -> Generator[Watched]:
    """A run that waits at time 0; results go to `folder / "out"`."""
    run = WatchedDriver(speed=speed)
    request = RunRequest(write(folder, data), out=folder / "out", quiet=True, figures=False, driver=run)
    outcomes: list[RunOutcome | BaseException] = []

    def work() -> None:
        try:
            outcomes.append(run_scenario(request))
        except BaseException as error:  # noqa: BLE001 - raised where the test waits
            outcomes.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    until = time.monotonic() + PATIENCE_S
    while (run.server is None or run.server.port == 0) and not outcomes and time.monotonic() < until:
        time.sleep(0.01)
    client = Client(run)
    if not outcomes:
        client.come()
    found = Watched(client, thread, outcomes)
    try:
        yield found
    finally:
        if thread.is_alive():
            client.ask("/api/control", {"do": "finish"})
            thread.join(PATIENCE_S)
