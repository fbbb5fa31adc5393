"""Runs with algorithms in Python execute in processes when several runs proceed at once; nothing else changes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from p4cc.errors import UserError
from p4cc.running.cache_files import cache_files
from p4cc.running.request import RunRequest
from p4cc.running.result_folder import MANIFEST
from p4cc.running.runner import run_scenario
from tests.p4cc.scenarios import RENO, Ran, scenario, write

if TYPE_CHECKING:
    from collections.abc import Callable

ALGORITHM = '''
import os, pathlib, sys, time
import p4cc
from helper import STEP

class Mine(p4cc.WindowAlgorithm):
    """Grows by a constant, and leaves the number of its process."""
    def observe(self, ack):
        pathlib.Path(__file__).with_name(f"process-{os.getpid()}").touch()
        if self.seed == 2:
            BODY
    def on_ack(self, ack):
        self.cwnd += STEP
'''
MINE = {"name": "Mine", "congestion_avoidance": {"python": "mine.py:Mine"}}
STAYS = ("while True: pass", "time.sleep(10**6)", "sum(range(10**15))")
"""What a call does that never returns; the last keeps the interpreter's lock."""


def written(folder: Path, body: str = "pass", **changes: Any) -> Path:
    """A scenario of two runs with the class, whose method `observe` executes `body` in the second one."""
    (folder / "mine.py").write_text(ALGORITHM.replace("BODY", body), encoding="utf-8")
    (folder / "helper.py").write_text("STEP = 2\n", encoding="utf-8")
    return write(folder, scenario(**{"variants": [MINE], "seeds": [1, 2], **changes}))


def ran(path: Path, out: str, jobs: int, cache: Path | None = None) -> Ran:
    """Runs a scenario into a folder, by default with a cache for it alone."""
    cache = path.parent / out / "cache" if cache is None else cache
    request = RunRequest(path, path.parent / out, jobs=jobs, figures=False, quiet=True, cache=cache)
    return Ran(run_scenario(request))


def processes(folder: Path) -> set[int]:
    """Processes in which the class has run."""
    return {int(path.name.removeprefix("process-")) for path in folder.glob("process-*")}


def cached(folder: Path) -> dict[str, bytes]:
    """The runs in a cache."""
    return {path.name: path.read_bytes() for path, _, _ in cache_files(folder)}


def forget(folder: Path) -> None:
    """Removes the numbers of processes."""
    for path in folder.glob("process-*"):
        path.unlink()


def is_alive(process: int) -> bool:
    """Whether a process exists and still runs."""
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def wait_for(holds: Callable[[], object]) -> None:
    """Waits, for as long as an overloaded machine needs."""
    until = time.monotonic() + 100
    while not holds() and time.monotonic() < until:
        time.sleep(0.02)
    assert holds()


def started(path: Path, *options: str) -> subprocess.Popen[str]:
    """`p4cc run` with two jobs, as from a shell."""
    words = [sys.executable, "-m", "p4cc.cli", "run", str(path), "--no-figures", "--jobs", "2", *options]
    folder = path.parent
    return subprocess.Popen(
        [*words, "--out", str(folder / "out")], cwd=folder, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )


def test_processes_change_no_byte_of_results_and_cache(tmp_path: Path) -> None:
    record = {"windows_interval_ns": 100_000, "queues_interval_ns": 100_000, "events": True}
    path = written(tmp_path, record=record, variants=[RENO, MINE])
    one = ran(path, "one", 1)
    assert processes(tmp_path) == {os.getpid()}
    forget(tmp_path)
    two = ran(path, "two", 2)
    assert os.getpid() not in processes(tmp_path)
    assert two.bytes() == one.bytes()
    assert len(one.bytes()) > 5
    kept = cached(tmp_path / "one/cache")
    assert len(kept) == 4
    assert set(cached(tmp_path / "two/cache")) == set(kept)
    forget(tmp_path)
    assert ran(path, "again", 2, cache=tmp_path / "two/cache").bytes() == one.bytes()
    assert processes(tmp_path) == set()


def test_one_run_stays_in_the_process_of_its_caller(tmp_path: Path) -> None:
    ran(written(tmp_path, seeds=[1]), "out", 2)
    assert processes(tmp_path) == {os.getpid()}


def test_an_exception_has_the_place_that_it_has_without_processes(tmp_path: Path) -> None:
    path = written(tmp_path, "raise ValueError('boom')")
    errors: list[str] = []
    for jobs in (1, 2):
        with pytest.raises(UserError) as caught:
            ran(path, f"out{jobs}", jobs)
        errors.append(str(caught.value))
    assert errors[0] == errors[1]
    assert "boom" in errors[0]
    assert "mine.py" in errors[0]
    assert "seed 2" in errors[0]
    wait_for(lambda: not [one for one in processes(tmp_path) - {os.getpid()} if is_alive(one)])


@pytest.mark.parametrize(("body", "named"), [("os._exit(7)", "exit status 7"), ("os.abort()", "signal 6")])
def test_a_process_that_ends_itself_is_an_error(tmp_path: Path, body: str, named: str) -> None:
    with pytest.raises(UserError, match=named) as caught:
        ran(written(tmp_path, body), "out", 2)
    assert "seed 2" in caught.value.place


@pytest.mark.parametrize("body", STAYS)
def test_a_call_beyond_its_limit_is_named(tmp_path: Path, body: str) -> None:
    with pytest.raises(UserError) as caught:
        ran(written(tmp_path, body, control={"handler_limit_s": 0.5}), "out", 2)
    assert not [one for one in ("mine.py", "0.5 s", "control.handler_limit_s") if one not in str(caught.value)]
    assert not [one for one in processes(tmp_path) if is_alive(one)]


def test_what_classes_print_passes_on(tmp_path: Path) -> None:
    running = started(written(tmp_path, "print('seen', file=sys.stderr)"), "--json")
    _, said = running.communicate(timeout=100)
    assert running.returncode == 0, said
    assert "seen" in said.splitlines()


@pytest.mark.parametrize("body", STAYS)
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_processes_end_with_their_caller(tmp_path: Path, body: str, end: signal.Signals) -> None:
    path = written(tmp_path, body, seeds=[2, 3])
    running = started(path)
    try:
        wait_for(lambda: running.poll() is not None or processes(tmp_path))
        running.send_signal(end)
        _, said = running.communicate(timeout=100)
    finally:
        running.kill()
    if end == signal.SIGINT:
        assert running.returncode == 130, said
        assert "interrupted; no results were written" in said
        assert "Traceback" not in said
        assert not [one for one in tmp_path.glob("out/*") if one.name != MANIFEST]
    wait_for(lambda: not [one for one in processes(tmp_path) if is_alive(one)])


def test_files_that_change_meanwhile_are_noticed(tmp_path: Path) -> None:
    path = written(tmp_path)
    (tmp_path / "mine.py").write_text(
        ALGORITHM.replace("BODY", "pass") + "\nopen(__file__, 'a').write('# changed\\n')\n", encoding="utf-8"
    )
    with pytest.raises(UserError, match="changed after the scenario was planned"):
        ran(path, "out", 2)
