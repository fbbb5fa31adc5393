"""What transports do in the networks of scenarios: rare ACKs, windows that are not used, repeated timeouts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from p4cc.errors import UserError
from tests.p4cc.scenarios import Ran, run, scenario

STAR = {"kind": "star", "senders": 4, "rate_bps": 100_000_000_000, "rtt_ns": 8_000, "queue_capacity_pkts": 100_000}
RED = {
    "program": "p4src/v1model/ecn_red.p4",
    "ecn_profile": "rfc3168",
    "timestamp_unit": "ns",
    "qdepth_unit": "bytes_80B",
    "buffer": {"bytes": 32 << 20, "lossless_priorities": [3]},
}
INT = "p4src/v1model/int_hpcc.p4"


def ran(folder: Path, data: dict[str, Any]) -> Ran:
    """The scenario's results, in a folder that may not be there yet."""
    folder.mkdir(exist_ok=True)
    return run(folder, data)


def paced(ack_every: int, recovery: str, *variants: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Four paced flows into one port without a timeout, whose receivers answer rarely."""
    return scenario(
        topology=STAR,
        switch=RED,
        traffic={"kind": "incast", "sru_bytes": 300_000, "priority": 3, "start_jitter_ns": 0},
        transport={"kind": "rdma", "ack_every": ack_every, "recovery": recovery},
        variants=list(variants),
        stop_ns=20_000_000,
        **changes,
    )


@pytest.mark.parametrize("recovery", ["go_back_n", "selective_repeat"])
@pytest.mark.parametrize("ack_every", [16, 1_024])
def test_rare_acks_hold_no_flow_up(tmp_path: Path, ack_every: int, recovery: str) -> None:
    variants = (
        {"name": "HPCC", "program": INT, "rate_control": {"name": "hpcc"}},
        {"name": "PowerTCP", "program": INT, "rate_control": {"name": "powertcp"}},
        {"name": "DCQCN+win", "rate_control": {"name": "dcqcn", "window": "vwin"}},
        {"name": "Swift", "rate_control": {"name": "swift"}},
    )
    rare = ran(tmp_path / "rare", paced(ack_every, recovery, *variants))
    for one in rare.runs:
        assert (one["flows_completed"], one["timeouts"], one["drops"]) == (4, 0, 0), one["variant"]


def small_answers(validation: str) -> dict[str, Any]:
    """A connection of answers of eleven segments, request by request."""
    return scenario(
        topology={"kind": "star", "senders": 2, "rate_bps": 10_000_000_000, "rtt_ns": 20_000},
        switch={"thresholds": {"k_rule": "fixed", "k_pkts": 20, "k_dc_pkts": 65}},
        traffic={"kind": "rounds", "servers": ["h1"], "sru_bytes": 15_000, "rounds": 200},
        transport={"iw": 10, "rwnd": 10_000, "rto_min_ns": 5_000_000, "window_validation": validation},
        variants=[{"name": "DCTCP", "congestion_avoidance": {"name": "dctcp"}}],
        record={"windows_interval_ns": 100_000, "queues_interval_ns": None},
    )


@pytest.mark.parametrize(
    ("validation", "low", "high"), [("rfc7661", 10, 23), ("rfc5681", 1_000, 3_000), ("none", 1_000, 3_000)]
)
def test_a_window_grows_while_it_is_used(tmp_path: Path, validation: str, low: int, high: int) -> None:
    windows = ran(tmp_path, small_answers(validation)).table("windows")
    assert low <= max(windows["cwnd_segments"]) <= high


def test_windows_that_are_used_are_not_held_back(tmp_path: Path) -> None:
    bulk = {"kind": "bulk", "size_bytes": 2_000_000}
    transport = {"iw": 2, "rwnd": 4_000, "recovery": "sack", "rto_min_ns": 5_000_000}
    by_rule = [
        ran(
            tmp_path / rule,
            scenario(
                traffic=bulk,
                transport={**transport, "window_validation": rule},
                record={"windows_interval_ns": 10_000, "queues_interval_ns": None},
            ),
        ).bytes()
        for rule in ("rfc7661", "none")
    ]
    assert by_rule[0] == by_rule[1]


def test_a_threshold_outlives_repeated_timeouts(tmp_path: Path) -> None:
    """The link is down for several timeouts: `ssthresh` is half of what was in flight, not 2 (RFC 5681, 3.1)."""
    senders = ({"name": "reno"}, {"name": "cubic"}, {"name": "dctcp"})
    data = scenario(
        topology={
            "kind": "star",
            "senders": 1,
            "rate_bps": 1_000_000_000,
            "rtt_ns": 2_000_000,
            "queue_capacity_pkts": 1_000,
        },
        traffic={"kind": "bulk", "size_bytes": None},
        faults=[{"between": ["s1", "aggregator"], "down_ns": 300_000_000, "up_ns": 1_200_000_000}],
        transport={"iw": 10, "rwnd": 200, "recovery": "sack", "rto_min_ns": 200_000_000, "rto_init_ns": 200_000_000},
        variants=[{"name": one["name"], "congestion_avoidance": one} for one in senders],
        stop_ns=2_500_000_000,
        record={"windows_interval_ns": 10_000_000, "queues_interval_ns": None},
    )
    found = ran(tmp_path, data)
    for one in found.runs:
        assert one["timeouts"] > 1, one["variant"]
    windows = found.table("windows")
    for name in (one["name"] for one in senders):
        of = windows.filter((windows["variant"] == name) & (windows["time_ns"] > 950_000_000))
        assert min(of["ssthresh_segments"].drop_nulls()) > 50, name


def test_dcqcn_as_published_wants_few_notifications(tmp_path: Path) -> None:
    form = {"name": "paper", "rate_control": {"name": "dcqcn", "form": "paper"}}
    with pytest.raises(UserError, match=r"notification.*cuts with every notification") as refused:
        ran(tmp_path, paced(1, "go_back_n", form))
    assert "give packet" in str(refused.value)
    as_packets = {**form, "transport": {"notification": "packet"}}
    assert ran(tmp_path, paced(1, "go_back_n", as_packets)).runs[0]["flows_completed"] == 4


def test_delayed_acks_cause_no_timeout(tmp_path: Path) -> None:
    transport = {"iw": 1, "rto_min_ns": 2_000_000, "rto_init_ns": 2_000_000, "ack_every": 64}
    (one,) = ran(tmp_path, scenario(transport=transport)).runs
    assert (one["timeouts"], one["flows_completed"]) == (0, 4)


def test_state_is_recorded_of_classes_alone(tmp_path: Path) -> None:
    data = scenario(record={"windows_interval_ns": 10_000, "state": ["alpha"], "queues_interval_ns": None})
    with pytest.raises(UserError, match=r"record\.state: record\.state needs an algorithm in Python") as refused:
        ran(tmp_path, data)
    assert "table windows" in str(refused.value)
    (tmp_path / "mine.py").write_text(MINE.format(name="cwnd"), encoding="utf-8")
    own = {"name": "own", "congestion_avoidance": {"python": "mine.py:Mine"}}
    reno = {"name": "Reno", "congestion_avoidance": {"name": "reno"}}
    data["record"]["state"] = ["acks", "asks"]
    warnings = "\n".join(ran(tmp_path, {**data, "variants": [own, reno]}).outcome.warnings)
    assert "record.state names asks, but no method of own sets it" in warnings
    assert "Reno has no attributes for record.state" in warnings


MINE = """
import p4cc

class Mine(p4cc.WindowAlgorithm):
    acks = 0

    def on_ack(self, ack):
        self.acks += 1
        self.{name} = self.cwnd + 1 / self.cwnd
"""


@pytest.mark.parametrize(
    ("name", "meant"), [("cnwd", "cwnd"), ("cwn", "cwnd"), ("sstresh", "ssthresh"), ("aplha", "alpha")]
)
def test_a_misspelt_attribute_is_refused_with_its_line(tmp_path: Path, name: str, meant: str) -> None:
    (tmp_path / "mine.py").write_text(MINE.format(name=name), encoding="utf-8")
    own = {"name": "own", "congestion_avoidance": {"python": "mine.py:Mine"}}
    with pytest.raises(UserError) as refused:
        ran(tmp_path, scenario(variants=[own]))
    said = str(refused.value)
    assert "mine.py:9: Mine.on_ack sets " + name in said
    assert f"write {meant}" in said


@pytest.mark.parametrize(
    "line",
    [
        "self.cwnds = self.cwnd; self.last = self.cwnds",
        "self.window = 3",
        "self.cwnd = 3.0",
        "self.counted = 1.0",
    ],
)
def test_other_names_are_the_user_s(tmp_path: Path, line: str) -> None:
    text = (
        MINE.format(name="cwnd").replace("    acks = 0", "    acks = 0\n    counted: float").rstrip()
        + f"\n        {line}\n"
    )
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    own = {"name": "own", "congestion_avoidance": {"python": "mine.py:Mine"}}
    assert ran(tmp_path, scenario(variants=[own])).runs[0]["flows_completed"] == 4
