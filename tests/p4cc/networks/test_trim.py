"""Trimming (docs/algorithms/trimming.md): what finds its queue full reaches its receiver as a header, if asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from p4cc.errors import UserError
from p4cc.lab.switches import Bmv2, Launch, OwnSwitch, Remarks, SwitchSetup
from tests.p4cc.scenarios import Ran, run, scenario
from topos.lab import LabSwitch

if TYPE_CHECKING:
    from pathlib import Path

TRIM, UNAWARE = "v1model/trim", "v1model/ack_priority"
TOFINO = "tna/trim"
SENDERS, PACKETS, RATE_BPS, RTT_NS = 3, 200, 10_000_000_000, 4_000
LEAST_NS = SENDERS * PACKETS * 1_064 * 8e9 / RATE_BPS
"""What the line of the receiver needs for all packets once."""


def overload(
    folder: Path, program: str, *, deflects: bool, recovery: str = "selective_repeat", **switch_settings: Any
) -> Ran:
    """Three senders at the line's rate into one port with a queue of eight packets; nothing times out."""
    star = {"kind": "star", "senders": SENDERS, "rate_bps": RATE_BPS, "rtt_ns": RTT_NS, "queue_capacity_pkts": 8}
    switch: dict[str, Any] = {"program": f"p4src/{program}.p4", "ecn_profile": "rfc3168", **switch_settings}
    if deflects:
        switch["deflect_on_drop"] = True
    counters = {"names": ["trimmed_packets"]} if program != UNAWARE else None
    data = scenario(
        topology=star,
        switch=switch,
        traffic={"kind": "bulk", "sources": ["h1", "h2", "h3"], "size_bytes": PACKETS * 1_000},
        transport={"kind": "rdma", "recovery": recovery},
        variants=[{"name": "fixed", "rate_control": {"name": "fixed", "rate_mbps": RATE_BPS // 1_000_000}}],
        stop_ns=10_000_000,
        record={"windows_interval_ns": None, "queues_interval_ns": None, "counters": counters},
    )
    return run(folder, data)


def dropped(ran: Ran) -> int:
    return int(ran.table("port_queues")["dropped_queue_full"].sum())


def trimmed(ran: Ran) -> int:
    """By the program's own counter, which is the only one that is recorded."""
    counted = ran.table("program_counters")
    return int(counted.group_by("switch", "index").agg(pl.col("packets").max())["packets"].sum() or 0)


def test_what_was_trimmed_is_sent_again_at_once(tmp_path: Path) -> None:
    ran = overload(tmp_path, TRIM, deflects=True)
    flows = ran.table("flows")
    # No header is lost, so each is a retransmission, and the line is never idle for want of data.
    assert dropped(ran) == 0
    assert trimmed(ran) == flows["retransmitted_pkts"].sum() > PACKETS
    headers_ns = trimmed(ran) * 64 * 8e9 / RATE_BPS
    finish_ns = float(flows["finish_ns"].max())  # pyright: ignore[reportArgumentType]
    assert LEAST_NS < finish_ns < LEAST_NS + headers_ns + 3 * RTT_NS


def test_without_trimming_the_end_of_a_flow_stays_lost(tmp_path: Path) -> None:
    ran = overload(tmp_path, TRIM, deflects=False)
    assert (trimmed(ran), dropped(ran) > PACKETS) == (0, True)
    assert ran.table("flows")["finish_ns"].null_count() > 0


def test_go_back_n_reads_headers_too(tmp_path: Path) -> None:
    ran = overload(tmp_path, TRIM, deflects=True, recovery="go_back_n")
    assert trimmed(ran) > 0
    assert ran.table("flows")["fast_retransmits"].sum() > 0


def test_a_program_that_knows_no_deflection_runs_as_without(tmp_path: Path) -> None:
    bytes_of: dict[bool, dict[str, bytes]] = {}
    for deflects in (False, True):
        folder = tmp_path / str(deflects)
        folder.mkdir()
        ran = overload(folder, UNAWARE, deflects=deflects)
        assert dropped(ran) > PACKETS
        bytes_of[deflects] = ran.bytes()
    assert bytes_of[False] == bytes_of[True]


@pytest.mark.parametrize("recovery", ["selective_repeat", "go_back_n"])
def test_tofino_2_trims_the_same_packets(tmp_path: Path, recovery: str) -> None:
    runs: dict[str, Ran] = {}
    for program in (TRIM, TOFINO):
        folder = tmp_path / program
        folder.mkdir(parents=True)
        runs[program] = overload(folder, program, deflects=True, recovery=recovery)
    v1model, tofino = runs.values()
    assert trimmed(v1model) > 0
    for name in ("flows", "port_queues"):
        assert v1model.table(name).equals(tofino.table(name)), name
    # Counters of Tofino count the frame check sequence, too.
    counted = v1model.table("program_counters").with_columns(pl.col("bytes") + 4 * pl.col("packets"))
    assert counted.equals(tofino.table("program_counters"))


def test_a_control_plane_names_the_port_that_leads_back(tmp_path: Path) -> None:
    """Port 6 of pipe 0, which no link is at: the chip's port group 0 has 16 queues for each of 8 ports."""
    place = {"mirror_drop_pg_id": 0, "mirror_drop_pg_queue": 6 * 16}
    trims: dict[str, int] = {}
    for name, data in {
        "named": place,
        "off": {"mirror_drop_enable": False, **place},
        "elsewhere": {"mirror_drop_pg_id": 1, "mirror_drop_pg_queue": 0},
    }.items():
        folder = tmp_path / name
        folder.mkdir()
        row = {"switch": "s1", "bfrt": "tf2.tm.pipe.cfg", "default": True, "data": data}
        ran = overload(folder, TOFINO, deflects=False, entries=[row])
        trims[name] = trimmed(ran)
        assert (dropped(ran) > 0) == (name == "off")
    assert trims["named"] > PACKETS
    # A port that no loop is at loses what it gets.
    assert (trims["off"], trims["elsewhere"]) == (0, 0)


def test_other_architectures_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"deflect_on_drop.*is for tna, and only v1model and t2na"):
        overload(tmp_path, "tna/ack_priority", deflects=True)


def test_a_link_at_the_port_that_leads_back_is_refused(tmp_path: Path) -> None:
    data = scenario(
        topology={"kind": "star", "senders": 130},
        switch={"program": f"p4src/{TOFINO}.p4", "deflect_on_drop": True},
        traffic={"kind": "incast", "sru_bytes": 1_000},
        transport={"kind": "rdma"},
        variants=[{"name": "fixed", "rate_control": {"name": "fixed", "rate_mbps": 1_000}}],
        stop_ns=1_000_000,
    )
    with pytest.raises(UserError, match="port 128 of s1 has a link"):
        run(tmp_path, data)


def test_labs_pass_the_option_on(tmp_path: Path) -> None:
    launch = Launch(LabSwitch("s1", 1, 9_559, 9_090), (), SwitchSetup(deflect_on_drop=True), tmp_path, None)
    remarks = Remarks()
    assert "--deflect-on-drop" in OwnSwitch().command(launch, remarks)
    assert not remarks.said
    assert "--deflect-on-drop" not in Bmv2().command(launch, remarks)
    assert any("nothing is trimmed" in text for text in remarks.said)
