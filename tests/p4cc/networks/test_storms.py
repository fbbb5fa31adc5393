"""Storms of pauses, and the watchdog of switches: what stops, when it is detected, and what goes on again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from p4cc.errors import UserError
from tests.p4cc.scenarios import ROOT, run, scenario

if TYPE_CHECKING:
    from pathlib import Path

    from tests.p4cc.scenarios import Ran

LINE_BPS = 10_000_000_000
START_NS, END_NS, STOP_NS = 200_000, 1_200_000, 3_000_000
BUFFER_BYTES = 200_000
DETECTION_NS, RESTORATION_NS = 100_000, 150_000


def star(watchdog: dict[str, Any] | None, **storm: Any) -> dict[str, Any]:
    """h1 sends to the aggregator, whose card pauses the switch; h2 is idle."""
    buffer: dict[str, Any] = {"lossless_priorities": [3]}
    if watchdog is not None:
        buffer["watchdog"] = {"detection_ns": DETECTION_NS, "restoration_ns": RESTORATION_NS, **watchdog}
    return scenario(
        topology={"kind": "star", "senders": 2, "rate_bps": LINE_BPS, "rtt_ns": 4_000, "queue_capacity_pkts": 10_000},
        switch={"program": "p4src/v1model/ack_priority.p4", "ecn_profile": "rfc3168", "buffer": buffer},
        traffic=[
            {"kind": "bulk", "name": "stuck", "sources": ["h1"], "priority": 3, "size_bytes": None},
        ],
        transport={"kind": "rdma"},
        variants=[{"name": "fixed", "rate_control": {"name": "fixed", "rate_mbps": 5_000}}],
        storms=[{"host": "aggregator", "start_ns": START_NS, "end_ns": END_NS, **storm}],
        stop_ns=STOP_NS,
        record={"windows_interval_ns": None, "queues_interval_ns": None},
    )


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def events(results: Ran) -> list[tuple[str, int, int]]:
    rows = results.table("watchdog").rows(named=True)
    return [(row["event"], row["time_ns"], row["dropped_pkts"]) for row in rows]


def test_a_storm_stops_what_waits_for_it_and_loses_nothing(tmp_path: Path) -> None:
    # Its buffer is full soon, and the switch pauses the sender.
    data = star(None)
    data["switch"]["buffer"]["bytes"] = BUFFER_BYTES
    results = run(tmp_path, data)
    assert events(results) == []
    ports = results.table("port_queues")
    assert ports["dropped_queue_full"].sum() == 0
    paused = results.table("pauses")
    # From the frame's end at the far end of the link on, until the resume frame's.
    assert paused.filter(paused["node"] == "s1")["paused_ns"].max() == END_NS - START_NS
    whole = run(made(tmp_path / "calm"), {**data, "storms": []}).table("flows")["acked_bytes"][0]
    stopped = results.table("flows")["acked_bytes"][0]
    lost_bytes = whole * (END_NS - START_NS) / STOP_NS - BUFFER_BYTES
    assert whole - stopped > 0.9 * lost_bytes > 0


@pytest.mark.parametrize("quanta", [None, 1_000])
def test_the_watchdog_detects_and_restores_in_its_times(tmp_path: Path, quanta: int | None) -> None:
    storm = {} if quanta is None else {"pause_quanta": quanta}
    results = run(tmp_path, star({"action": "drop"}, **storm))
    (first, detected_ns, at_once), (last, restored_ns, in_all) = events(results)
    assert (first, last) == ("detected", "restored")
    # A pause frame of 64 bytes takes 51 ns, behind at most one packet, and the link 1,000 ns.
    assert START_NS + DETECTION_NS + 1_000 < detected_ns < START_NS + DETECTION_NS + 3_000
    assert END_NS + RESTORATION_NS + 1_000 < restored_ns < END_NS + RESTORATION_NS + 3_000
    assert 0 < at_once < in_all
    assert results.table("port_queues")["dropped_queue_full"].sum() == in_all


def test_forward_loses_nothing_and_sends_through_the_storm(tmp_path: Path) -> None:
    results = run(tmp_path, star({"action": "forward"}))
    assert [event for event, *_ in events(results)] == ["detected", "restored"]
    assert results.table("port_queues")["dropped_queue_full"].sum() == 0
    calm = run(made(tmp_path / "calm"), {**star(None), "storms": []}).table("flows")["acked_bytes"][0]
    # It is stopped until the storm is detected; the queue that had built up leaves at the line's rate.
    assert results.table("flows")["acked_bytes"][0] == pytest.approx(calm, rel=0.02)


def test_alert_only_tells(tmp_path: Path) -> None:
    results = run(tmp_path, star({"action": "alert"}))
    assert [(event, dropped) for event, _, dropped in events(results)] == [("detected", 0), ("restored", 0)]
    silent = run(made(tmp_path / "silent"), star(None))
    assert results.table("flows").equals(silent.table("flows"))


@pytest.mark.parametrize("time", ["detection_ns", "restoration_ns"])
def test_a_watchdog_without_a_time_is_refused_by_its_key(tmp_path: Path, time: str) -> None:
    with pytest.raises(UserError, match=rf"switch\.buffer\.watchdog\.{time}.*greater than or equal to 1"):
        run(tmp_path, star({time: 0}))


def test_a_storm_without_end_is_never_restored(tmp_path: Path) -> None:
    data = star({"action": "drop"})
    del data["storms"][0]["end_ns"]
    assert [event for event, *_ in events(run(tmp_path, data))] == ["detected"]


def test_an_empty_queue_is_in_no_storm(tmp_path: Path) -> None:
    data = star({"action": "drop"})
    data["storms"][0]["host"] = "h2"
    assert events(run(tmp_path, data)) == []


def test_the_watchdog_ends_a_deadlock(tmp_path: Path) -> None:
    data = yaml.safe_load((ROOT / "experiments/skew/ring_deadlock.yaml").read_text(encoding="utf-8"))
    stuck = run(made(tmp_path / "stuck"), data)
    data["switch"]["buffer"]["watchdog"] = {"detection_ns": 200_000, "restoration_ns": 200_000}
    freed = run(tmp_path, data)
    assert [one["outcome"] for one in stuck.runs] == ["deadlock"]
    assert len(freed.table("deadlocks")) == 0
    assert "restored" in {event for event, *_ in events(freed)}
    # The circle closes again and again, and each time the watchdog opens it.
    acked = [one.table("flows")["acked_bytes"].to_list() for one in (freed, stuck)]
    assert min(acked[0]) > 5 * max(acked[1])


def test_a_pause_that_is_on_its_way_when_the_link_goes_down_is_not_obeyed(tmp_path: Path) -> None:
    data = star(None, start_ns=399_500, end_ns=450_000)
    data["faults"] = [{"between": ["aggregator", "s1"], "down_ns": 400_000, "up_ns": 500_000}]
    pauses = run(tmp_path, data).table("pauses")
    assert pauses.filter(pauses["node"] == "s1")["paused_ns"].sum() == 0


def test_a_storm_goes_on_when_its_link_comes_up(tmp_path: Path) -> None:
    data = star({"action": "alert"}, start_ns=420_000, end_ns=2_000_000)
    data["faults"] = [
        {"between": ["aggregator", "s1"], "down_ns": 400_000, "up_ns": 500_000},
        {"between": ["aggregator", "s1"], "down_ns": 1_000_000, "up_ns": 1_100_000},
    ]
    results = run(tmp_path, data)
    pauses = results.table("pauses")
    # From 500 to 1,000 us, and from 1,100 to 2,000 us.
    assert pauses.filter(pauses["node"] == "s1")["paused_ns"].max() == pytest.approx(1_400_000, abs=4_000)
    assert [event for event, *_ in events(results)] == ["detected", "restored"]


@pytest.mark.parametrize("action", ["drop", "forward", "alert"])
@pytest.mark.parametrize("fault", [None, {"switch": "s1"}, {"between": ["aggregator", "s1"]}])
def test_threads_change_nothing(tmp_path: Path, action: str, fault: dict[str, Any] | None) -> None:
    data = star({"action": action}, pause_quanta=1_000)
    if fault is not None:
        data["faults"] = [{**fault, "down_ns": 700_000, "up_ns": 900_000}]
    one = run(made(tmp_path / "one"), data).bytes()
    assert run(made(tmp_path / "two"), data, threads=2, use_cache=False).bytes() == one


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"host": "h9"}, r'there is no host "h9"'),
        ({"end_ns": START_NS}, "end_ns must be after start_ns"),
        ({"pause_quanta": 127}, "pause_quanta"),
        ({"priority": 8}, "priority"),
    ],
)
def test_a_storm_that_cannot_be_is_refused(tmp_path: Path, changes: dict[str, Any], cause: str) -> None:
    with pytest.raises(UserError, match=cause):
        run(tmp_path, star(None, **changes))


def test_storms_of_one_priority_do_not_overlap(tmp_path: Path) -> None:
    data = star(None)
    data["storms"].append({"host": "aggregator", "start_ns": END_NS, "priority": 3})
    with pytest.raises(UserError, match=r"storms\[0\] of this host and priority has not ended"):
        run(tmp_path, data)
    data["storms"][1]["priority"] = 2
    assert events(run(tmp_path, data)) == []
