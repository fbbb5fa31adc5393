"""Controllers of the user's in virtual time: repeatable, with latencies, with messages that help."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from p4cc.errors import UserError
from tests.command_line import p4cc
from tests.p4cc.planning.test_faults import DIAMOND
from tests.p4cc.scenarios import ROOT, Ran, run, scenario, write

if TYPE_CHECKING:
    from collections.abc import Generator

FILES = ROOT / "tests" / "p4cc" / "files"


def reactive(kind: str = "Reactive", **changes: Any) -> dict[str, Any]:
    """The small star under reactive.p4 with a controller of files/reactive.py."""
    switch = {
        "program": str(FILES / "reactive.p4"),
        "routes": "none",
        "cpu_port": 500,
        "controller": f"{FILES / 'reactive.py'}:{kind}",
    }
    return scenario(**{"switch": switch, "stop_ns": 20_000_000, **changes})


def reactive_file(name: str) -> dict[str, Any]:
    """As `reactive`, with the controller of another file."""
    data = reactive()
    data["switch"]["controller"] = f"{name}:Reactive"
    return data


def tables_hash(ran: Ran) -> str:
    """A hash over all tables."""
    return hashlib.sha256(b"".join(name.encode() + content for name, content in ran.bytes().items())).hexdigest()


def values(ran: Ran, name: str) -> list[tuple[int, float]]:
    """Time in ns and value of what a controller wrote down under a name."""
    rows = ran.table("control").filter(pl.col("name") == name)
    return list(zip(rows["time_ns"].to_list(), rows["value"].to_list(), strict=True))


LATENCIES: dict[str, Any] = {
    "none": {},
    "drawn": {
        "latency_ns": {"kind": "exponential", "mean_ns": 20_000, "min_ns": 1_000},
        "notify_latency_ns": {"kind": "uniform", "min_ns": 1_000, "max_ns": 5_000},
    },
}


@pytest.mark.parametrize("latency", LATENCIES)
def test_runs_are_alike_however_long_handlers_take(tmp_path: Path, latency: str) -> None:
    found: set[str] = set()
    for attempt in range(5):
        control = {**LATENCIES[latency], "parameters": {"sleep_s": 0.004 * attempt}}
        ran = run(tmp_path, reactive(control=control, seeds=[1, 2]), use_cache=False)
        assert [row["flows_completed"] for row in ran.runs] == [4, 4]
        assert all(row["control_packet_outs"] >= row["control_writes"] - 1 == 5 for row in ran.runs)
        found.add(tables_hash(ran))
    assert len(found) == 1


@contextmanager
def loaded_machine() -> Generator[None]:
    """Processes beside that take more of the processor than there is."""
    words = [sys.executable, "-c", "import time\nend = time.monotonic() + 120\nwhile time.monotonic() < end: pass"]
    beside = [subprocess.Popen(words) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        yield
    finally:
        for process in beside:
            process.kill()
            process.wait()


def test_ten_runs_have_one_hash_whatever_the_load_of_the_machine(tmp_path: Path) -> None:
    data = reactive(control=LATENCIES["drawn"], record={"queues_interval_ns": 10_000})
    found = [tables_hash(run(tmp_path, data, use_cache=False)) for _ in range(5)]
    with loaded_machine():
        found += [tables_hash(run(tmp_path, data, use_cache=False)) for _ in range(5)]
    assert len(set(found)) == 1


def test_a_controller_that_does_nothing_changes_nothing(tmp_path: Path) -> None:
    records = {"windows_interval_ns": 10_000, "queues_interval_ns": 10_000}
    without = run(tmp_path, scenario(record=records))
    switch = {**scenario()["switch"], "controller": f"{FILES / 'reactive.py'}:Silent"}
    ran = run(tmp_path, scenario(record=records, switch=switch))
    assert ran.bytes() == without.bytes()
    assert ran.runs[0]["control_calls"] > 20


def test_what_is_written_takes_effect_when_its_latency_is_over(tmp_path: Path) -> None:
    ran = run(tmp_path, reactive("Looks", control={"latency_ns": 5_000}))
    assert values(ran, "routes") == [(10_000, 0), (14_999, 0), (15_000, 5)]
    received, routed = values(ran, "received"), values(ran, "routed")
    assert [time for time, _ in received] == [60_000 + 50_000 * place for place in range(len(received))]
    assert received[-1][1] > received[0][1] > 0
    assert received == routed, "both are read at one instant"


@pytest.mark.parametrize("latency_ns", [0, 50_000, 1_000_000])
def test_flows_wait_for_a_slow_answer(tmp_path: Path, latency_ns: int) -> None:
    ran = run(tmp_path, reactive(control={"latency_ns": latency_ns}, traffic={"kind": "incast", "sru_bytes": 1_000}))
    (at_ns, _), *_ = values(ran, "packet_in")
    delivered = ran.table("flows")["received_ns"].to_list()
    assert min(delivered) >= at_ns + latency_ns
    assert min(delivered) < at_ns + latency_ns + 100_000


@pytest.mark.parametrize("latency", [3_000, {"kind": "uniform", "min_ns": 1_000, "max_ns": 5_000}])
def test_messages_take_their_time(tmp_path: Path, latency: Any) -> None:
    ran = run(tmp_path, reactive(control={"notify_latency_ns": latency}, seeds=[1, 2]))
    ages = [age for _, age in values(ran, "digest_age_ns")]
    # A timestamp is in whole nanoseconds.
    least, most = (3_000, 3_001) if isinstance(latency, int) else (1_000, 5_001)
    assert all(least <= age <= most for age in ages)
    assert (len(set(ages)) > 5) == (not isinstance(latency, int))


def test_digests_come_when_the_oldest_has_waited(tmp_path: Path) -> None:
    ran = run(tmp_path, reactive(control={"parameters": {"max_timeout_ns": 40_000}}))
    times = [time for time, _ in values(ran, "digests")]
    first = values(ran, "packet_in")[0][0]
    assert times[0] == first + 40_000
    assert all(later - earlier >= 40_000 for earlier, later in pairwise(times))
    assert max(count for _, count in values(ran, "digests")) > 1


def test_idle_entries_are_told_at_the_instant(tmp_path: Path) -> None:
    later = {"kind": "bulk", "name": "later", "sources": ["h1"], "destinations": ["aggregator"], "start_ns": 2_000_000}
    early = {"kind": "bulk", "name": "early", "sources": ["h2"], "destinations": ["aggregator"]}
    traffic = [{**one, "size_bytes": 1_000} for one in (early, later)]
    ran = run(tmp_path, reactive("Ages", control={"parameters": {"idle_timeout_ns": 300_000}}, traffic=traffic))
    idle = values(ran, "idle")
    to_aggregator = [time for time, host in idle if host == 5]
    (came, _), *_ = values(ran, "packet_in")
    # Its one data packet hit the route when it came back; after that the notification comes again and again.
    assert [time - came for time in to_aggregator[:3]] == [300_000, 600_000, 900_000]


def test_ports_are_told(tmp_path: Path) -> None:
    faults = [{"between": ["s1", "h2"], "down_ns": 100_000, "up_ns": 300_000}]
    ran = run(tmp_path, reactive("Ports", faults=faults, control={"notify_latency_ns": 500}))
    assert values(ran, "down") == [(100_500, 2)]
    assert values(ran, "up") == [(300_500, 2)]


def test_a_port_is_down_while_its_neighbour_restarts(tmp_path: Path) -> None:
    faults = [
        {"switch": "s2", "down_ns": 100_000, "up_ns": 300_000},
        {"between": ["s2", "s1"], "down_ns": 200_000, "up_ns": 400_000},
    ]
    switch = {"program": "p4src/v1model/ack_priority.p4", "controller": f"{FILES / 'reactive.py'}:Ports"}
    traffic = {"kind": "bulk", "sources": ["h1"], "destinations": ["h2"], "size_bytes": 100_000}
    ran = run(tmp_path, scenario(topology=DIAMOND, traffic=traffic, switch=switch, faults=faults))
    rows = ran.table("control").select("time_ns", "switch", "name").rows()
    assert rows == [
        (100_000, "s1", "down"),
        (100_000, "s4", "down"),
        (300_000, "s4", "up"),
        (400_000, "s1", "up"),
        (400_000, "s2", "up"),
    ]


@pytest.mark.parametrize("latency_ns", [0, 30_000])
def test_a_controller_begins_anew_with_a_switch_that_restarts(tmp_path: Path, latency_ns: int) -> None:
    fault = {"switch": "s1", "down_ns": 250_000, "up_ns": 300_000, "install_delay_ns": 40_000}
    control = {"latency_ns": latency_ns, "notify_latency_ns": 7_000}
    ran = run(tmp_path, reactive("Restarts", faults=[fault], control=control))
    assert ran.runs[0]["flows_completed"] == 4
    ((down_ns, known),) = values(ran, "switch_down")
    assert (down_ns, known > 0) == (257_000, True)
    assert [time for time, _ in values(ran, "switch_up")] == [347_000]
    # What was on its way to a switch without a program is refused: FAILED_PRECONDITION.
    assert {code for _, code in values(ran, "refused")} <= {9}
    asked = {host for time, host in values(ran, "packet_in") if time > 347_000}
    assert 5 in asked, "the routes were lost"
    assert max(time for time, _ in values(ran, "digests")) > 347_000


def test_a_controller_leaves_and_returns(tmp_path: Path) -> None:
    control = {"latency_ns": 15_000, "absences": [{"leaves_ns": 29_000, "returns_ns": 200_000}]}
    ran = run(tmp_path, reactive("Returns", control=control, stop_ns=240_000))
    assert values(ran, "start") == [(0, 0), (200_000, 1)], "what it asked before took effect at 35 us"
    ticks = [(10_000, 1), (20_000, 2), (210_000, 1), (220_000, 2), (230_000, 3)]
    assert values(ran, "tick") == ticks, "it is another one that returns"
    heard = values(ran, "packet_in")
    always = values(run(tmp_path, reactive("Returns", control={"latency_ns": 15_000}, stop_ns=240_000)), "packet_in")
    assert always
    assert heard == [(time, size) for time, size in always if not 29_000 <= time < 200_000]


def test_a_swept_latency_takes_no_column_away(tmp_path: Path) -> None:
    traffic = {"kind": "rounds", "sru_bytes": 1_000, "rounds": 2}
    ran = run(tmp_path, reactive("Reactive", traffic=traffic, sweep={"control.latency_ns": [0, 200_000]}))
    rounds = ran.table("rounds").group_by("control.latency_ns").agg(pl.col("latency_ns").max()).sort(pl.all())
    assert rounds["control.latency_ns"].to_list() == [0, 200_000]
    fast, slow = rounds["latency_ns"].to_list()
    assert slow > fast + 200_000


def test_a_timer_stops(tmp_path: Path) -> None:
    ran = run(tmp_path, reactive("Stops"))
    assert values(ran, "now_ns") == [(0, 0), (1_000, 1_000), (2_000, 2_000)]


TRACE = (
    "the controller failed",
    "in on_digest",
    "switch s1, at ",
    "case Reno seed 1",
)
ENDED = {
    "Raises": (*TRACE, "reactive.py", "in fail", "KeyError: 'nothing'"),
    "Refused": (*TRACE, "NOT_FOUND: table `ingress.routes` has no entry"),
    "NoSuchTable": (*TRACE, "no P4Table named 'routse'. Did you mean 'routes'?"),
    "Exits": ("SystemExit: 3", "Exits.on_digest"),
    "Blocks": ("took longer than 0.5 s", "Blocks.on_digest", "reactive.py:", "control.handler_limit_s"),
    "Waits": ("took longer than 0.5 s", "Waits.on_digest", "reactive.py:", "control.handler_limit_s"),
    "TooEarly": ("the network does not exist before start()", "TooEarly.__init__", "reactive.py"),
    "Endless": ("10000 calls of handlers at the same time", "Endless.nothing", "set control.latency_ns"),
    "NoSuchHandler": ("has a handler on_diggest that p4cc never calls", "on_digest"),
    "NotAsync": ("NotAsync.on_digest is not a coroutine", "write async def on_digest"),
    "NoInterval": ("the interval of 0 ns", "NoInterval.start"),
    "Pushes": ("switch.program", "Pushes.start"),
    "NoController": ("NoController is not a p4cc.Controller", "controllers in the file: Reactive"),
    "Nobody": ("has no class 'Nobody'", "controllers in the file: Reactive"),
}


@pytest.mark.parametrize("kind", ENDED)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, kind: str) -> None:
    with pytest.raises(UserError) as ended:
        run(tmp_path, reactive(kind, control={"handler_limit_s": 0.5}))
    for part in ENDED[kind]:
        assert part in str(ended.value)
    assert "p4cc/control" not in str(ended.value), "frames of p4cc say nothing to a user"
    assert not list((tmp_path / "out").glob("*.parquet"))


def test_a_late_refusal_names_the_line_that_asked(tmp_path: Path) -> None:
    with pytest.raises(UserError) as ended:
        run(tmp_path, reactive("Refused", control={"latency_ns": 1_000}))
    line = next(
        number
        for number, text in enumerate((FILES / "reactive.py").read_text().splitlines(), 1)
        if "switch.delete(" in text
    )
    assert f"reactive.py:{line}: Refused.on_digest, switch s1, at " in str(ended.value)
    assert "refused the request when it took effect" in str(ended.value)
    ran = run(tmp_path, reactive("GoesOn", control={"latency_ns": 1_000}))
    assert values(ran, "refused")


def test_an_error_ends_the_command_with_exit_code_2(tmp_path: Path) -> None:
    write(tmp_path, reactive("Raises"))
    done = p4cc("run", "scenario.yaml", "--out", "out", folder=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert re.search(r'reactive.py", line \d+, in fail', done.stderr)
    assert "KeyError: 'nothing'" in done.stderr


def test_a_controller_beside_p4cc_leaves_it_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = ModuleType("p4cc.beside"), ModuleType("theirs")
    for module in (ours, theirs):
        module.__file__ = str(tmp_path / f"{module.__name__}.py")
        monkeypatch.setitem(sys.modules, module.__name__, module)
    shutil.copy(FILES / "reactive.py", tmp_path / "mine.py")
    assert run(tmp_path, reactive_file("mine.py")).runs
    assert ours.__name__ in sys.modules
    assert theirs.__name__ not in sys.modules, "it is read anew"


def test_a_changed_file_is_another_run(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    text = (FILES / "reactive.py").read_text().replace("import p4cc\n", "import p4cc\nfrom more import NAME\n", 1)
    file.write_text(text.replace('self.record("packet_in"', "self.record(NAME"))
    (tmp_path / "more.py").write_text('NAME = "one"\n')
    data = reactive_file("mine.py")
    first = run(tmp_path, data)
    assert values(first, "one")
    kept = first.runs[0]["wall_s"]
    assert run(tmp_path, data).runs[0]["wall_s"] == kept, "it comes from the cache"
    (tmp_path / "more.py").write_text('NAME = "other"\n')
    assert values(run(tmp_path, data), "other")


def test_results_say_what_ran_and_run_again(tmp_path: Path) -> None:
    for name in ("reactive.py", "reactive.p4"):
        shutil.copy(FILES / name, tmp_path / name)
    data = reactive()
    data["switch"].update(program="reactive.p4", controller="reactive.py:Reactive")
    folder = run(tmp_path, data).outcome.folder
    assert json.loads((folder / "scenario.json").read_text())["switch"]["controller"] == "inputs/reactive.py:Reactive"
    for name in ("reactive.py", "reactive.p4"):
        (tmp_path / name).unlink()
    done = p4cc("run", "--again", "out", folder=tmp_path)
    assert done.returncode == 0
    assert done.stdout.endswith("with the same bytes, 0 that differ\n")
