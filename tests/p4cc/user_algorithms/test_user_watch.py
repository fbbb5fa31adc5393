"""Users' Python that never returns is named after its limit, and Ctrl-C ends the process whatever it does."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from p4cc.errors import UserError
from p4cc.running.result_folder import MANIFEST
from tests.p4cc.scenarios import ROOT, run, scenario

if TYPE_CHECKING:
    from collections.abc import Mapping

WRONG, INTERRUPTED = 2, 130
BODIES = {
    "loops": "while True:\n    pass",
    "swallows": "while True:\n    try:\n        for i in range(10**9):\n            pass\n"
    "    except BaseException:\n        pass",
    "sleeps": "time.sleep(10**6)",
    "computes": "sum(range(10**15))",
}
"""What a call does that never returns; the last keeps the interpreter's lock."""
ALGORITHM = '''
import pathlib, threading, time
from p4cc import Controller, WindowAlgorithm

def stay():
    pathlib.Path(__file__).with_name("begun").touch()
{body}

class Mine(WindowAlgorithm):
    """Stays."""
    def start(self):
        {in_start}
    def observe(self, ack):
        {in_ack}

class Leads(Controller):
    """Stays."""
    async def start(self):
        {in_controller}

{at_import}
'''
PLACES: Mapping[str, Any] = {
    "in_ack": {},
    "in_start": {},
    "at_import": {},
    "in_controller": {"switch": {"program": "p4src/v1model/ecn_dual.p4", "controller": "mine.py:Leads"}},
    "in_thread": {},
}


def written(folder: Path, place: str, body: str, **control: Any) -> Path:
    """A scenario whose Python stays at a place."""
    begin = {"in_thread": "threading.Thread(target=stay).start()"}.get(place, "stay()")
    at = "in_start" if place == "in_thread" else place
    lines = {one: begin if one == at else "pass" for one in ("in_ack", "in_start", "in_controller", "at_import")}
    indented = "\n".join(f"    {line}" for line in BODIES[body].splitlines())
    (folder / "mine.py").write_text(ALGORITHM.format(body=indented, **lines), encoding="utf-8")
    mine = {"name": "Mine", "congestion_avoidance": {"python": "mine.py:Mine"}}
    data = scenario(variants=[mine], **PLACES[place], **({"control": control} if control else {}))
    path = folder / "scenario.yaml"
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def started(path: Path) -> subprocess.Popen[str]:
    """`p4cc run`, as from a shell."""
    words = [sys.executable, "-m", "p4cc.cli", "run", str(path), "--no-figures", "--out", str(path.parent / "out")]
    return subprocess.Popen(words, cwd=ROOT, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def left(folder: Path) -> set[str]:
    """What is there besides the cache."""
    return {one.name for one in folder.iterdir()} - {".p4cc-cache", "__pycache__"}


@pytest.mark.parametrize(
    ("place", "body"),
    [
        *(("in_ack", body) for body in BODIES),
        ("in_start", "swallows"),
        ("at_import", "swallows"),
        ("in_controller", "loops"),
        ("in_controller", "computes"),
        ("in_thread", "sleeps"),
    ],
)
def test_ctrl_c_ends_the_process(tmp_path: Path, place: str, body: str) -> None:
    path = written(tmp_path, place, body)
    running = started(path)
    try:
        _wait_for(tmp_path / "begun", running)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
    finally:
        running.kill()
    assert "Traceback" not in said
    if place == "in_thread" and running.returncode == 0:
        # The run was over, and the thread that it left does not keep the process.
        return
    assert running.returncode == INTERRUPTED, said
    # Where the interpreter's lock is held, no Python removes the manifest of nothing.
    assert left(tmp_path) - {"out"} == {"begun", "mine.py", "scenario.yaml"}
    assert not [path for path in tmp_path.glob("out/*") if path.name != MANIFEST]


def _wait_for(file: Path, running: subprocess.Popen[str]) -> None:
    until = time.monotonic() + 100
    while not file.exists() and running.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    assert file.exists()


@pytest.mark.parametrize(
    ("place", "body", "named"),
    [
        ("in_ack", "loops", ("Mine, flow ", "in observe", "in stay")),
        ("in_ack", "sleeps", ("in Mine.observe, flow ", " us: ", "does not return")),
        ("in_ack", "computes", ("in stay", "in observe", "lets nothing else run")),
        ("in_start", "loops", ("Mine, flow ", "in start", "in stay")),
        ("at_import", "swallows", ("in the import of the file",)),
    ],
)
def test_a_call_beyond_its_limit_is_named(tmp_path: Path, place: str, body: str, named: tuple[str, ...]) -> None:
    running = started(written(tmp_path, place, body, handler_limit_s=0.5))
    try:
        _, said = running.communicate(timeout=100)
    finally:
        running.kill()
    assert running.returncode == WRONG, said
    assert not [one for one in (*named, "mine.py", "0.5 s", "control.handler_limit_s") if one not in said], said
    assert "Traceback" not in said
    assert not [path for path in tmp_path.glob("out/*") if path.name != MANIFEST]


def test_a_receiver_beyond_the_limit_is_named_with_its_host(tmp_path: Path) -> None:
    """It waits in C, where no exception reaches it."""
    code = "import time\nfrom p4cc import ReceiverAlgorithm\n\n\nclass Mine(ReceiverAlgorithm):\n"
    (tmp_path / "mine.py").write_text(f"{code}    def on_arrival(self, arrival): time.sleep(10**6)\n", encoding="utf-8")
    data = scenario(
        topology={"kind": "star", "senders": 2, "rate_bps": 10_000_000_000, "queue_capacity_pkts": 100},
        transport={"kind": "rdma", "recovery": "selective_repeat", "rto_ns": 5_000_000},
        switch={"program": "p4src/v1model/ack_priority.p4", "ecn_profile": "rfc3168"},
        variants=[{"name": "Mine", "rate_control": {"name": "fixed"}, "receiver": {"python": "mine.py:Mine"}}],
        control={"handler_limit_s": 0.5},
    )
    path = tmp_path / "scenario.yaml"
    path.write_text(json.dumps(data), encoding="utf-8")
    running = started(path)
    try:
        _, said = running.communicate(timeout=100)
    finally:
        running.kill()
    assert running.returncode == WRONG, said
    assert "in Mine.on_arrival, host " in said, said
    assert " us: the call took longer than 0.5 s" in said, said


def test_programs_that_call_p4cc_get_an_error(tmp_path: Path) -> None:
    """The process is theirs; the run ends, and the next one is as ever."""
    written(tmp_path, "in_ack", "loops", handler_limit_s=0.5)
    data = json.loads((tmp_path / "scenario.yaml").read_text(encoding="utf-8"))
    with pytest.raises(UserError, match=r"took longer than 0\.5 s") as caught:
        run(tmp_path, data)
    assert "Mine, flow " in caught.value.place
    assert run(tmp_path, scenario()).runs
