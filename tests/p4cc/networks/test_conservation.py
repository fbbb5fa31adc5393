"""A few of the drawn scenarios; `python tests/p4cc/networks/conservation.py 5000` tries as many as one likes."""

from __future__ import annotations

import os
import time
from collections import Counter

import pytest

from p4cc.algorithms import registry
from tests.p4cc.networks.conservation import Worker, findings
from tests.p4cc.networks.drawn import drawn

FIRST, COUNT = 0, 60


@pytest.mark.parametrize("number", range(FIRST, FIRST + COUNT, 10))
def test_what_holds_in_every_run_holds(number: int) -> None:
    found = [line for one in range(number, number + 10) for line in findings(one)]
    assert not found, "\n".join(found)


def test_a_number_is_one_scenario_and_all_kinds_come() -> None:
    assert drawn(7) == drawn(7)
    seen: Counter[str] = Counter()
    for number in range(1_500):
        scenario = drawn(number)
        (variant,) = scenario["variants"]
        kinds = ("rate_control", "congestion_avoidance", "slow_start", "receiver")
        seen.update(variant[kind]["name"] for kind in kinds if kind in variant)
        seen.update((scenario["topology"]["kind"], scenario["switch"]["program"]))
        seen.update(item["kind"] for item in scenario["traffic"])
        seen.update(key for key in ("buffer", "ecmp_weights", "schedulers") if key in scenario["switch"])
        schedulers = scenario["switch"].get("schedulers", [])
        seen.update(key for one in schedulers for queue in one["queues"] for key in queue)
        seen.update(one.get("unit", "bytes") for one in schedulers)
        links = Counter((link["a"], link["b"]) for link in scenario["topology"].get("links", []))
        seen.update(["parallel links"] if max(links.values(), default=1) > 1 else [])
        seen.update(["several classes"] if len(scenario["traffic"]) > 1 else [])
        seen.update(["faults"] if scenario["faults"] else [])
    wanted = {"ecmp_weights", "rate_bps", "burst_bytes", "level", "weight", "packets", "bytes", "parallel links"}
    assert {row.name for row in registry()} | wanted | {"several classes"} <= set(seen)
    assert min(seen.values()) >= 10, seen


def _is_late_at_one(number: int) -> list[str]:
    while number == 1:
        time.process_time()
    if number == 2:
        os._exit(3)
    return [f"{number}: tried"]


def test_a_scenario_without_end_is_named_and_the_next_is_tried() -> None:
    worker = Worker(_is_late_at_one, 0.5)
    try:
        found = [worker.findings(number) for number in range(4)]
    finally:
        worker.close()
    late, ended = "1: not finished after 0.5 s of processor time", "2: ended its process: 3"
    assert found == [["0: tried"], [late], [ended], ["3: tried"]]
