"""The chip's tables in scenarios: the packet generator in virtual time, mirror sessions, RED by the chip's filter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from p4cc.errors import UserError
from p4cc.lab.plan import LabRequest, plan_lab
from tests.p4cc.scenarios import ROOT, Ran, run, scenario, write

if TYPE_CHECKING:
    from pathlib import Path

GENERATED = str(ROOT / "engine" / "filetests" / "cases" / "run" / "tna_pktgen.p4")
"""Sends what the generator makes out of port 2, which leads to h2."""
GENERATES = 68
"""The port of the first pipe that generates."""
APP: dict[str, Any] = {
    "switch": "s1",
    "bfrt": "pktgen.app_cfg",
    "key": {"app_id": 3},
    "action": "trigger_timer_periodic",
    "data": {
        "timer_nanosec": 100_000,
        "app_enable": True,
        "pkt_len": 60,
        "pkt_buffer_offset": 32,
        "batch_count_cfg": 0,
        "packets_per_batch_cfg": 1,
        "ipg": 1_000,
    },
}
PORT: dict[str, Any] = {
    "switch": "s*",
    "bfrt": "tf1.pktgen.port_cfg",
    "key": {"dev_port": GENERATES},
    "data": {"pktgen_enable": True},
}
BUFFER: dict[str, Any] = {
    "switch": "s1",
    "bfrt": "pktgen.pkt_buffer",
    "key": {"pkt_buffer_offset": 32, "pkt_buffer_size": 60},
    "data": {"buffer": "0x" + "ab" * 60},
}


def generating(*rows: dict[str, Any], program: str = GENERATED, **changes: Any) -> dict[str, Any]:
    """A star of two senders whose switch has these rows; one packet of a host's own, so that there is a run."""
    probe = {"kind": "packets", "name": "probe", "sources": "h1", "scapy": "Ether(type=0x88b5)", "count": 1}
    return scenario(
        **{
            "topology": {"kind": "star", "senders": 2, "queue_capacity_pkts": 100},
            "switch": {"program": program, "routes": "none", "entries": list(rows)},
            "traffic": [probe],
            "stop_ns": 350_000,
            "record": {
                "windows_interval_ns": None,
                "queues_interval_ns": None,
                "packets_received": {"hosts": ["h2"], "snap_bytes": 100},
            },
            **changes,
        }
    )


def received(ran: Ran) -> list[tuple[int, str]]:
    """When h2 got packets of the generator, and their bytes."""
    rows = ran.table("packets_received").select("time_ns", "bytes").rows()
    return [(at, text) for at, text in rows if "abab" in text]


def test_the_packet_generator_sends_in_virtual_time(tmp_path: Path) -> None:
    found = received(run(tmp_path, generating(PORT, BUFFER, APP), use_cache=False))
    # Application 3 of pipe 0, batch 0, packets 0 and 1 (6 B), and what stands in the buffer.
    heads = [f"03000000000{number}" for number in (0, 1)] * 3
    assert [text for _, text in found] == [head + "ab" * 60 for head in heads]
    starts = [at for at, _ in found]
    assert [at - starts[0] for at in starts] == [0, 1_000, 100_000, 101_000, 200_000, 201_000]
    assert 100_000 < starts[0] < 200_000


def test_mirror_sessions_and_groups_on_two_levels_are_taken(tmp_path: Path) -> None:
    port = "port(s1, h2)"
    session = {"$direction": "INGRESS", "$session_enable": True}
    mirror = {"$ucast_egress_port": port, "$ucast_egress_port_valid": True, **session}
    node = {"$MULTICAST_RID": 5, "$MULTICAST_LAG_ID": [], "$DEV_PORT": [port]}
    group = {"$MULTICAST_NODE_ID": [1], "$MULTICAST_NODE_L1_XID_VALID": [False], "$MULTICAST_NODE_L1_XID": [0]}
    rows = [
        {"switch": "s1", "bfrt": "$mirror.cfg", "key": {"$sid": 5}, "action": "$normal", "data": mirror},
        {"switch": "s1", "bfrt": "$pre.node", "key": {"$MULTICAST_NODE_ID": 1}, "data": node},
        {"switch": "s1", "bfrt": "$pre.mgid", "key": {"$MGID": 7}, "data": group},
    ]
    ran = run(tmp_path, generating(*rows), use_cache=False)
    assert ran.table("packets_received").height == 1, "the probe alone"


def test_rows_are_part_of_what_tells_runs_apart(tmp_path: Path) -> None:
    for timer_ns, packets in ((100_000, 6), (200_000, 2), (100_000, 6)):
        app = {**APP, "data": {**APP["data"], "timer_nanosec": timer_ns}}
        assert len(received(run(tmp_path, generating(PORT, BUFFER, app)))) == packets


@pytest.mark.parametrize(
    ("row", "program", "says"),
    [
        ({**APP, "bfrt": "pktgen.app"}, GENERATED, "tf1.pktgen.app_cfg"),
        ({**APP, "key": {"app": 3}}, GENERATED, "app_id"),
        ({**APP, "key": {"app_id": 9}}, GENERATED, "no application 9, only 0 to 7"),
        ({**APP, "key": {"app_id": [1, 2]}}, GENERATED, "exact takes one value"),
        ({**APP, "action": "trigger_never"}, GENERATED, "trigger_timer_periodic"),
        ({**APP, "data": {"length": 3}}, GENERATED, "pkt_len"),
        ({**APP, "data": {"pkt_len": "long"}}, GENERATED, "entries[1]"),
        ({**APP, "data": {"pkt_len": 70_000}}, GENERATED, "needs 17 bits"),
        ({**APP, "data": {"app_enable": 1}}, GENERATED, "bool"),
        ({**BUFFER, "data": {"buffer": "0xzz"}}, GENERATED, "not hexadecimal digits"),
        ({**BUFFER, "key": {"pkt_buffer_offset": 32, "pkt_buffer_size": 61}}, GENERATED, "60 bytes"),
        (APP, "p4src/v1model/ecn_dual.p4", "does not support BF Runtime"),
        ({**APP, "switch": "x*"}, GENERATED, "no switch matches"),
    ],
)
def test_rows_that_cannot_be_written_are_named(tmp_path: Path, row: dict[str, Any], program: str, says: str) -> None:
    with pytest.raises(UserError) as refused:
        run(tmp_path, generating(BUFFER, row, program=program), use_cache=False)
    told = f"{refused.value.place}: {refused.value}; {refused.value.remedy}"
    assert says in told
    assert "switch.entries[" in told


def test_labs_say_that_they_have_no_such_rows(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="labs write nothing over BF Runtime"):
        plan_lab(LabRequest(str(write(tmp_path, generating(PORT)))))


def test_a_switch_that_comes_back_would_lack_its_rows(tmp_path: Path) -> None:
    fault = {"switch": "s1", "down_ns": 100_000, "up_ns": 200_000}
    with pytest.raises(UserError, match="lose what was written to it over BF Runtime") as refused:
        run(tmp_path, generating(PORT, faults=[fault]), use_cache=False)
    assert "faults[0]" in str(refused.value.place)


def test_the_filter_of_the_chip_marks_by_the_curve_of_the_scenario(tmp_path: Path) -> None:
    """Beside a program that has RED's curve in steps of a table: equal but for the steps and the dice."""
    fabric = {
        "topology": {"kind": "star", "senders": 6, "rate_bps": 100_000_000_000, "queue_capacity_pkts": 100_000},
        "switch": {"timestamp_unit": "ns", "qdepth_unit": "cells_80B", "ecn_profile": "rfc3168"},
        "traffic": {"kind": "incast", "sru_bytes": 1_000_000, "start_jitter_ns": 0},
        "transport": {"kind": "rdma"},
        "stop_ns": 20_000_000,
    }
    sender = {"rate_control": {"name": "dcqcn"}}
    programs = [{"name": name, "program": f"p4src/tna/{name}.p4", **sender} for name in ("ecn_red", "ecn_wred")]
    ran = run(tmp_path, scenario(**fabric, variants=programs, seeds=[1, 2]), use_cache=False)
    marks = {row["variant"]: row["marks_level2"] + row["marks_level1"] for row in ran.runs}
    assert marks["ecn_wred"] > 100
    assert 0.7 < marks["ecn_wred"] / marks["ecn_red"] < 1.4
