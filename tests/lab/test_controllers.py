"""Controllers of the user's in labs: the classes of tests/p4cc/test_controller.py, in real time."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from p4cc.errors import UserError
from p4cc.lab.plan import LabRequest, plan_lab
from p4cc.lab.processes import Program, Supervisor
from p4cc.lab.run import LabOptions, run_lab
from tests.lab.ports import GRPC, THRIFT
from tests.p4cc.scenarios import write
from tests.p4cc.test_controller import reactive

STAR = {"kind": "star", "senders": 2, "rate_bps": 50_000_000, "rtt_ns": 4_000_000, "queue_capacity_pkts": 100}


def request(folder: Path, kind: str, **changes: Any) -> LabRequest:
    transport = {"rto_min_ns": 200_000_000, "rto_init_ns": 200_000_000}
    changes = {"topology": STAR, "transport": transport, "stop_ns": 4_000_000_000, **changes}
    file = write(folder, reactive(kind, **changes))
    return LabRequest(str(file), grpc_base=GRPC, thrift_base=THRIFT)


def test_a_controller_routes_in_real_time(own: str, tmp_path: Path) -> None:
    del own
    report = run_lab(request(tmp_path, "Reactive"), LabOptions(tmp_path / "lab", cli=False, say=lambda _: None))
    assert report.ok, report
    assert report.agents is not None
    assert report.control is not None
    # No packet passes before the controller has heard of it.
    assert report.agents.summary["flows_completed"] == 2
    rows = report.control.rows
    heard = rows.filter(pl.col("name") == "packet_in")
    assert set(heard["value"]) == {1.0, 2.0, 3.0}
    assert report.control.summary["control_packet_outs"] == len(heard)
    ages = rows.filter(pl.col("name") == "digest_age_ns")["value"].to_list()
    assert all(0 < age < 1e9 for age in ages), "digests are on the clock of the lab"
    assert rows["time_ns"].is_between(0, 4_000_000_000).all()


def test_a_class_that_does_not_fit_is_said_before_anything_is_built(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"NotAsync\.on_digest is no coroutine"):
        plan_lab(request(tmp_path, "NotAsync"))


def test_what_ended_too_early_is_said_once_with_its_cause(tmp_path: Path) -> None:
    said: list[str] = []
    supervisor = Supervisor(said.append)
    words = [sys.executable, "-c", """print('{"event": "failed", "cause": "line 7"}')"""]
    program = Program("controller", words, tmp_path / "log", keeps_running=False, after_end="; gone")
    program.start()
    supervisor.add(program)
    deadline = time.monotonic() + 20
    while not said and time.monotonic() < deadline:
        time.sleep(0.02)
    supervisor.close()
    assert said == ["controller: line 7; gone"]
    assert supervisor.failed == ["controller: line 7"]
    assert supervisor.restarts == []
