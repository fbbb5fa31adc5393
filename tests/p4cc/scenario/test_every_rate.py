"""Defaults at every line rate and round trip: what is planned is sane, and senders fill the link."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from p4cc.commands.init import TEMPLATES
from p4cc.planning.network import NetworkPlan
from p4cc.running.prepared import prepare
from p4cc.running.request import RunRequest
from tests.p4cc.scenarios import run, scenario

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RATES_BPS = (10**7, 10**9, 10**10, 25 * 10**9, 10**11, 4 * 10**11, 16 * 10**11)
RTTS_NS = (2_400, 12_000, 120_000, 1_200_000, 99_999_600)
DCTCP = {"name": "DCTCP", "congestion_avoidance": {"name": "dctcp"}}
GST = {"name": "GST", "congestion_avoidance": {"name": "dctcp"}, "slow_start": {"name": "gst"}}


def changes(template: str, rate_bps: int, rtt_ns: int) -> list[str]:
    """A template's network at another rate and round trip."""
    fields = {
        "dumbbell": {"access_rate_bps": rate_bps, "bottleneck_rate_bps": rate_bps, "rtt_ns": rtt_ns},
        "fat-tree": {"rate_bps": rate_bps, "delay_ns": rtt_ns // 12},
        "leaf-spine": {
            "host_rate_bps": rate_bps,
            "fabric_rate_bps": 4 * rate_bps,
            "host_delay_ns": rtt_ns // 8,
            "fabric_delay_ns": rtt_ns // 8,
        },
    }.get(template, {"rate_bps": rate_bps, "rtt_ns": rtt_ns})
    return [f"topology.{name}={value}" for name, value in fields.items()]


def plans(path: Path, overrides: list[str]) -> Iterator[NetworkPlan]:
    prepared = prepare(RunRequest(scenario=path, overrides=tuple(overrides), quiet=True))
    programs = prepared.programs()
    for case in prepared.cases:
        yield programs.plan(case).plan


@pytest.mark.parametrize("template", ["incast", "dumbbell", "leaf-spine", "fat-tree", "lab"])
def test_every_template_is_planned_at_every_rate_and_round_trip(template: str) -> None:
    path = TEMPLATES / f"{template}.yaml"
    for rate_bps in RATES_BPS:
        for rtt_ns in RTTS_NS:
            small = ["sweep={}", "seeds=[1]"]
            for plan in plans(path, [*changes(template, rate_bps, rtt_ns), *small]):
                spec = json.loads(plan.spec_json)
                for sender in spec["algorithms"].values():
                    assert sender["rwnd"] >= 32
                    assert sender["rwnd"] * sender["mss_bytes"] < 1 << 30
                thresholds = [call for switch in plan.switches for call in thresholds_of(switch.entities)]
                queues = [port["queue_capacity_pkts"] for switch in spec["switches"] for port in switch["ports"]]
                for k, k_dc in thresholds:
                    assert 1 <= k < k_dc < max(queues)
                short = max(queues) == (1 << 19) - 1
                assert short or not [one for one in plan.warnings if "DCTCP's bound" in one], plan.warnings


def thresholds_of(entities: Any) -> Iterator[tuple[int, int]]:
    for entity in entities:
        args: dict[str, int] = dict(getattr(getattr(entity, "action", None), "args", ()))
        if {"k", "k_dc"} <= args.keys():
            yield args["k"], args["k_dc"]


ROUNDS = [
    (rate_bps, rtt_ns, 40) for rate_bps in (10**9, 10**10, 25 * 10**9, 10**11) for rtt_ns in (2_400, 20_000, 100_000)
]
"""Line rates, round trips, and how many of these pass before goodput counts."""

SLOW_AND_FAST = [
    (10**7, 2_400, 40),
    (10**7, 100_000, 40),
    (10**7, 1_000_000, 40),
    (10**7, 10_000_000, 40),
    (10**9, 1_000_000, 40),
    # Half of what is in flight is lost at once, and two flows win back a packet in each round trip.
    (10**9, 10_000_000, 400),
    (10**10, 1_000_000, 400),
    # A full queue lasts longer than many a round trip.
    (4 * 10**11, 2_400, 400),
    (4 * 10**11, 20_000, 40),
    (16 * 10**11, 2_400, 40),
    (16 * 10**11, 20_000, 40),
]


@pytest.mark.parametrize(("rate_bps", "rtt_ns", "rounds"), [*ROUNDS, *SLOW_AND_FAST])
def test_long_flows_fill_the_link(tmp_path: Path, rate_bps: int, rtt_ns: int, rounds: int) -> None:
    """Nothing is said but who sends to whom; the first few hundred packets of slow start are not counted."""
    round_ns = rtt_ns + 40 * 12_000 * 10**9 // rate_bps
    late_ns, end_ns = rounds * round_ns, (rounds + 50) * round_ns
    data = scenario(
        topology={"kind": "star", "senders": 2, "rate_bps": rate_bps, "rtt_ns": rtt_ns},
        switch={"program": "p4src/v1model/ecn_dual.p4"},
        traffic={"kind": "bulk", "size_bytes": None},
        transport={"recovery": "sack", "iw": 10},
        variants=[DCTCP, GST],
        stop_ns=end_ns,
        measure=[{"name": "late", "start_ns": late_ns, "end_ns": end_ns}],
    )
    ran = run(tmp_path, data)
    for row in ran.runs:
        # Payload of packets of 1500 B.
        assert row["goodput_bps_late"] > 0.9 * rate_bps * 1_436 / 1_500, row["variant"]
        assert row["drops"] == 0 or row["variant"] == "DCTCP"


def test_samples_follow_the_round_trip(tmp_path: Path) -> None:
    """Flows of 30 us, of which samples each 100 us would show nothing."""
    topology = {"kind": "star", "senders": 1, "rtt_ns": 4_000, "rate_bps": 10**11}
    data: dict[str, Any] = scenario(topology=topology, traffic={"kind": "incast", "sru_bytes": 200_000})
    data["record"] = {}
    ran = run(tmp_path, data)
    assert ran.runs[0]["finish_ns"] < 60_000
    assert ran.table("windows").height > 5
