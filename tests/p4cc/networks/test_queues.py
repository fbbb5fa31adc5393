"""Order and rates of queues: turns by weight, levels, token buckets, from the scenario to what hosts receive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from p4cc.lab.switches import PortShape, queue_options
from p4cc.planning.fabric import scheduler_of
from p4cc.scenario.schema import SwitchSettings
from tests.p4cc.scenarios import run, scenario

if TYPE_CHECKING:
    from pathlib import Path

LINE_BPS = 10_000_000_000
STOP_NS = 4_000_000


def classes(scheduler: dict[str, Any] | None, **changes: Any) -> dict[str, Any]:
    """Three senders that never slow down, each in a class of its own, into one lossless port of 10 Gb/s."""
    switch: dict[str, Any] = {
        "program": "p4src/v1model/ack_priority.p4",
        "ecn_profile": "rfc3168",
        "buffer": {"bytes": 1 << 21, "lossless_priorities": [1, 2, 3]},
    }
    if scheduler is not None:
        switch["schedulers"] = [{"to": "h1", "queues": [{"queue": 1, "rate_bps": 1_000}]}, scheduler]
    star = {"kind": "star", "senders": 3, "rate_bps": LINE_BPS, "rtt_ns": 4_000, "queue_capacity_pkts": 10_000}
    names = ("h1", "h2", "h3")
    return scenario(
        topology=star,
        switch=switch,
        traffic=[
            {"kind": "bulk", "name": f"class{at}", "sources": [host], "priority": at, "size_bytes": None}
            for at, host in enumerate(names, start=1)
        ],
        transport={"kind": "rdma"},
        variants=[{"name": "PFC only", "rate_control": {"name": "timely", "beta": 0}}],
        stop_ns=STOP_NS,
        record={"windows_interval_ns": None, "queues_interval_ns": None},
        **changes,
    )


def shares(folder: Path, scheduler: dict[str, Any] | None, **changes: Any) -> list[float]:
    """Share of the port's line of each class, in bytes on the link."""
    flows = run(folder, classes(scheduler, **changes)).table("flows").sort("class")
    payload_bps = flows.select(pl.col("acked_bytes") * 8e9 / STOP_NS)["acked_bytes"].to_list()
    return [bps * 1_064 / 1_000 / LINE_BPS for bps in payload_bps]


def level(*queues: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Queues of one level."""
    return {"queues": [{"level": 1, **queue} for queue in queues], **more}


@pytest.mark.parametrize("unit", ["bytes", "packets"])
def test_queues_of_a_level_share_by_weight(tmp_path: Path, unit: str) -> None:
    weights = ({"queue": 1}, {"queue": 2, "weight": 3}, {"queue": 3, "weight": 6})
    got = shares(tmp_path, level(*weights, unit=unit))
    assert got == pytest.approx([0.1, 0.3, 0.6], rel=0.03)


def test_levels_are_strict_and_may_differ_from_numbers(tmp_path: Path) -> None:
    assert shares(tmp_path, None) == pytest.approx([0, 0, 1], abs=0.02), "7 first, by default"
    got = shares(tmp_path, {"queues": [{"queue": 1, "level": 6}]})
    assert got == pytest.approx([1, 0, 0], abs=0.02)


def test_a_shaped_queue_leaves_the_rest_to_others(tmp_path: Path) -> None:
    got = shares(
        tmp_path, {"queues": [{"queue": 3, "rate_bps": LINE_BPS // 4}, {"queue": 2, "rate_bps": LINE_BPS // 2}]}
    )
    assert got == pytest.approx([0.25, 0.5, 0.25], rel=0.03)


def test_a_link_that_waits_for_a_rate_alone_wakes_up(tmp_path: Path) -> None:
    queues = [{"queue": queue, "rate_bps": LINE_BPS // 10, "burst_bytes": 3_000} for queue in (1, 2, 3)]
    assert shares(tmp_path, {"queues": queues}) == pytest.approx([0.1, 0.1, 0.1], rel=0.03)


def test_threads_and_batches_change_nothing(tmp_path: Path) -> None:
    queues = [{"queue": 1, "level": 1}, {"queue": 2, "level": 1, "rate_bps": LINE_BPS // 5}, {"queue": 3, "level": 1}]
    data = classes({"queues": queues})
    data["topology"] = {"kind": "dumbbell", "pairs": 3, "access_rate_bps": LINE_BPS, "bottleneck_rate_bps": LINE_BPS}
    for traffic in data["traffic"]:
        del traffic["sources"]
    one = run(tmp_path, data).bytes()
    assert run(tmp_path, data, threads=2, use_cache=False).bytes() == one


def test_a_lab_s_switch_gets_the_same_words() -> None:
    switch = SwitchSettings.model_validate(
        {"schedulers": [level({"queue": 2, "weight": 3}, {"queue": 4, "rate_bps": 8_000}, unit="packets", to="h*")]}
    )
    assert scheduler_of(switch, "s1", "s2") is None
    port = PortShape(number=7, interface="x", scheduler=scheduler_of(switch, "s1", "h1"))
    assert queue_options((port, PortShape(number=8, interface="y"))) == [
        *("--turns", "7@packets", "--quantum-bytes", "7@1538"),
        *("--queue", "7@2:level=1,weight=3", "--queue", "7@4:level=1,weight=1,rate-bps=8000,burst-bytes=0"),
    ]


@pytest.mark.parametrize(
    ("queues", "why"),
    [
        ([{"queue": 1}, {"queue": 1}], "a queue comes twice"),
        ([{"queue": 1, "burst_bytes": 9}], "burst_bytes has no effect without rate_bps"),
        ([{"queue": 1, "weight": 0}], "greater than or equal to 1"),
        ([], "at least 1 item"),
    ],
)
def test_a_queue_that_cannot_be_is_refused(queues: list[dict[str, int]], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        SwitchSettings.model_validate({"schedulers": [{"queues": queues}]})
