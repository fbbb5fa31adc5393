"""Controllers of the user's in labs: the classes of tests/p4cc/control/test_controller.py, in real time."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from p4cc.errors import UserError
from p4cc.lab.packets import HostPackets
from p4cc.lab.plan import LabRequest, plan_lab
from p4cc.lab.processes import Program, Supervisor
from p4cc.lab.run import LabOptions, run_lab
from tests.lab.ports import GRPC, THRIFT
from tests.p4cc.control.test_controller import reactive
from tests.p4cc.scenarios import write

STAR = {"kind": "star", "senders": 2, "rate_bps": 50_000_000, "rtt_ns": 4_000_000, "queue_capacity_pkts": 100}


def request(folder: Path, kind: str, **changes: Any) -> LabRequest:
    transport = {"rto_min_ns": 200_000_000, "rto_init_ns": 200_000_000}
    changes = {"topology": STAR, "transport": transport, "stop_ns": 4_000_000_000, **changes}
    file = write(folder, reactive(kind, **changes))
    return LabRequest(str(file), grpc_base=GRPC, thrift_base=THRIFT)


PROBES = {
    "kind": "packets",
    "name": "probes",
    "sources": "h1",
    "scapy": "Ether(dst=self.gateway_mac)/IP(src=self.ipv4, dst=aggregator.ipv4)/UDP(dport=7)/(b'x' * 100)",
    "period_ns": 50_000_000,
    "count": 30,
}
FAULTS = [
    {"between": ["h2", "s1"], "down_ns": 300_000_000, "up_ns": 600_000_000},
    {"switch": "s1", "down_ns": 800_000_000, "up_ns": 1_000_000_000, "install_delay_ns": 100_000_000},
]


def is_probe(frame: bytes) -> bool:
    """Whether these are the first bytes of a packet of PROBES; kernels of hosts send others, of ICMP."""
    return frame[12:14] == b"\x08\x00" and frame[23] == 17 and frame[36:38] == bytes([0, 7])


def test_a_controller_routes_while_links_and_a_switch_fail(own: str, tmp_path: Path) -> None:
    del own
    changes = {
        "traffic": [{"kind": "incast", "sru_bytes": 100_000}, PROBES],
        "faults": FAULTS,
        "record": {"windows_interval_ns": None, "packets_received": {"hosts": "aggregator", "snap_bytes": 60}},
    }
    report = run_lab(request(tmp_path, "Hears", **changes), LabOptions(tmp_path / "lab", cli=False, say=lambda _: None))
    assert report.ok, report
    assert report.agents is not None
    assert report.control is not None
    # No packet passes before the controller has heard of it.
    assert report.agents.summary["flows_completed"] == 2
    rows = report.control.rows
    heard = rows.filter(pl.col("name") == "packet_in")
    assert set(heard["value"]) == {1.0, 2.0, 3.0}
    news = rows.filter(pl.col("name").is_in(["down", "up", "switch_down", "switch_up"]))
    assert news["name"].to_list() == ["down", "up", "switch_down", "switch_up"], (
        "a switch tells nothing of its own ports"
    )
    assert news["value"].to_list()[:2] == [2.0, 2.0], "the port of h2"
    due = [300_000_000, 600_000_000, 800_000_000, 1_100_000_000]
    assert all(at >= when for at, when in zip(news["time_ns"].to_list(), due, strict=True))
    assert heard["time_ns"].to_list()[-1] > news["time_ns"].to_list()[-1], "routes are gone with the switch"
    assert [fault["what"] for fault in report.faults[:3]] == [
        "link h2-s1 goes down",
        "link h2-s1 comes up",
        "s1 goes down",
    ]
    assert report.control.summary["control_packet_outs"] == len(heard)
    ages = rows.filter(pl.col("name") == "digest_age_ns")["value"].to_list()
    assert all(0 < age < 1e11 for age in ages), "digests are on the clock of the lab, not on that of 1970"
    (sent,) = report.agents.tables["packets_sent"].to_dicts()
    assert (sent["class"], sent["host"], sent["sent_pkts"], sent["sent_bytes"]) == ("probes", "h1", 30, 30 * 142)
    arrived = report.agents.tables["packets_received"]
    frames = zip(arrived["time_ns"].to_list(), map(bytes.fromhex, arrived["bytes"]), strict=True)
    probes = [(time_ns, frame) for time_ns, frame in frames if is_probe(frame)]
    assert 0 < len(probes) <= 30, "none came twice"
    assert {(len(frame), frame[42:]) for _, frame in probes} == {(60, b"x" * 18)}
    (down,) = [fault for fault in report.faults if fault["what"] == "s1 goes down"]
    (up_ns,) = news.filter(pl.col("name") == "switch_up")["time_ns"]
    routed_ns = heard.filter(pl.col("time_ns") >= up_ns)["time_ns"].to_list()[0]
    without_switch = [time_ns for time_ns, _ in probes if down["at_ns"] + down["late_ns"] <= time_ns < routed_ns]
    assert not without_switch, "the switch is down, or has no route"
    counted = {row["host"]: row for row in report.agents.tables["hosts"].to_dicts()}
    assert counted["aggregator"]["refused_malformed_pkts"] == len(arrived)
    assert counted["aggregator"]["delivered_pkts"] >= 2 * 70, "packets of flows are not taken for others"
    assert rows["time_ns"].is_between(0, 100_000_000_000).all(), "times count from the start of the lab"


def test_a_class_that_does_not_fit_is_said_before_anything_is_built(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"NotAsync\.on_digest is not a coroutine"):
        plan_lab(request(tmp_path, "NotAsync"))


def test_packets_that_no_interface_takes_are_refused(tmp_path: Path) -> None:
    spec: Any = {
        "packets": [{"name": "probes", "host": "h1", "frames": [{"hex": "00", "zeros": 1_614}]}],
        "record": {},
    }
    lab: Any = SimpleNamespace(plan=plan_lab(request(tmp_path, "Silent")))
    with pytest.raises(UserError, match="packet 0 of probes has 1615 bytes") as caught:
        HostPackets(lab, spec, tmp_path)
    assert "14 to 1614 bytes" in str(caught.value)


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
