"""Runs with algorithms in Python execute in processes when several runs proceed at once; nothing else changes."""

from __future__ import annotations

import os
import pickle
import select
import signal
import socket
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
import os, pathlib, subprocess, sys, time
import p4cc
from helper import STEP

class Mine(p4cc.WindowAlgorithm):
    """Grows by a constant, and leaves the number of its process."""
    def once(self, call):
        if not hasattr(self, "result"):
            self.result = call()
    def mark(self, number):
        pathlib.Path(__file__).with_name(f"process-{number}").touch()
    def start_child(self, **options):
        self.mark(subprocess.Popen(["sleep", "1000"], **options).pid)
    def observe(self, ack):
        self.mark(os.getpid())
        if self.seed == 2:
            BODY
    def on_ack(self, ack):
        self.cwnd += STEP
'''
MINE = {"name": "Mine", "congestion_avoidance": {"python": "mine.py:Mine"}}
ONE_FLOW = {"kind": "incast", "sru_bytes": 20_000, "sources": ["h1"]}
FEW_FILES = """
import resource
if "p4cc.running.run_process" in sys.modules:
    free = os.open(os.devnull, os.O_RDONLY)
    os.close(free)
    # Enough to read files, too few for an event loop.
    resource.setrlimit(resource.RLIMIT_NOFILE, (free + 2, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
"""
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
        [*words, "--out", str(folder / "out")],
        cwd=folder,
        # As for most users, standard output has a buffer.
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
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


@pytest.mark.parametrize(
    "text",
    [
        "seen\n",
        # More than a pipe and a reader's buffer hold.
        "x" * 300_000 + "\nseen\n",
        "error: seen\n",
        "error: one\nseen\nerror: two\nlast\n",
        "error: one\n" + "seen\n" * 30,
        "error: one\n  remedy: seen\n",
    ],
    ids=["a line", "a long line", "an error", "two errors", "many lines", "an error and its remedy"],
)
def test_what_classes_write_to_standard_error_passes_on(tmp_path: Path, text: str) -> None:
    running = started(written(tmp_path, f"self.once(lambda: sys.stderr.write({text!r}))", traffic=ONE_FLOW), "--json")
    _, said = running.communicate(timeout=100)
    assert running.returncode == 0, said[-1_000:]
    assert text in said


@pytest.mark.parametrize("end", ["\\n", ""], ids=["a line", "a part of a line"])
def test_what_classes_print_passes_on(tmp_path: Path, end: str) -> None:
    running = started(written(tmp_path, f"self.once(lambda: print('seen', end='{end}'))", traffic=ONE_FLOW))
    printed, said = running.communicate(timeout=100)
    assert running.returncode == 0, said
    assert printed.count("seen") == 1


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


@pytest.mark.parametrize("ending", ["", "os._exit(7)", "raise ValueError"], ids=["none", "its own", "an error"])
def test_processes_of_classes_end_with_their_run(tmp_path: Path, ending: str) -> None:
    path = written(tmp_path, f"self.once(self.start_child); {ending}", traffic=ONE_FLOW)
    if ending:
        with pytest.raises(UserError):
            ran(path, "out", 2)
    else:
        ran(path, "out", 2)
    assert len(processes(tmp_path)) > 1
    wait_for(lambda: not [one for one in processes(tmp_path) - {os.getpid()} if is_alive(one)])


def test_processes_of_classes_end_with_a_killed_caller(tmp_path: Path) -> None:
    running = started(
        written(tmp_path, "self.once(self.start_child); time.sleep(10**6)", seeds=[2, 3], traffic=ONE_FLOW)
    )
    try:
        wait_for(lambda: running.poll() is not None or len(processes(tmp_path)) > 2)
    finally:
        running.kill()
        running.communicate(timeout=100)
    wait_for(lambda: not [one for one in processes(tmp_path) if is_alive(one)])


@pytest.mark.parametrize("ending", ["", "os._exit(7)"], ids=["none", "its own"])
def test_a_daemon_of_a_class_does_not_hold_a_run_up(tmp_path: Path, ending: str) -> None:
    path = written(tmp_path, f"self.once(lambda: self.start_child(start_new_session=True)); {ending}", traffic=ONE_FLOW)
    try:
        if ending:
            with pytest.raises(UserError, match="exit status 7"):
                ran(path, "out", 2)
        else:
            ran(path, "out", 2)
        daemons = [one for one in processes(tmp_path) if is_alive(one)]
        assert len(daemons) == 1
    finally:
        for one in processes(tmp_path) - {os.getpid()}:
            if is_alive(one):
                os.kill(one, signal.SIGKILL)


def message(data: bytes) -> bytes:
    return len(data).to_bytes(8, "big") + data


@pytest.mark.parametrize(
    "sent",
    [b"", b"\0\0\0", message(bytes(10**6))[:-1], message(pickle.dumps(("no order", "here")))],
    ids=["nothing", "a part of a length", "a part of an order", "an order whose answer is never read"],
)
def test_a_process_ends_if_its_caller_dies_amid_a_message(tmp_path: Path, sent: bytes) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, (tmp_path / "run").open("w+b") as file:
        numbers = [theirs.fileno(), file.fileno()]
        words = [sys.executable, "-c", "from p4cc.running.run_process import main; main()", "path", *map(str, numbers)]
        process = subprocess.Popen(words, pass_fds=numbers, start_new_session=True)
        try:
            theirs.close()
            ours.sendall(sent)
            if b"no order" in sent:
                assert select.select([ours], [], [], 100)[0]
            ours.close()
            process.wait(timeout=100)
        finally:
            process.kill()
            process.wait()


def test_only_a_full_disk_is_reported_as_one(tmp_path: Path) -> None:
    path = written(tmp_path)
    with (tmp_path / "mine.py").open("a", encoding="utf-8") as file:
        file.write(FEW_FILES)
    with pytest.raises(RuntimeError, match="Too many open files"):
        ran(path, "out", 2)


def test_files_that_change_meanwhile_are_noticed(tmp_path: Path) -> None:
    path = written(tmp_path)
    (tmp_path / "mine.py").write_text(
        ALGORITHM.replace("BODY", "pass") + "\nopen(__file__, 'a').write('# changed\\n')\n", encoding="utf-8"
    )
    with pytest.raises(UserError, match="changed after the scenario was planned"):
        ran(path, "out", 2)
