"""Links that fail, and packets that recirculate without end, from the scenario to what is said of the run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from p4cc.errors import UserError
from tests.p4cc.scenarios import ROOT, run, scenario

#: h1 - s1 - (s2 | s3) - s4 - h2.
DIAMOND: dict[str, Any] = {
    "kind": "custom",
    "hosts": [{"name": "h1"}, {"name": "h2"}],
    "switches": [{"name": name} for name in ("s1", "s2", "s3", "s4")],
    "links": [
        {"a": a, "b": b, "rate_bps": 1_000_000_000, "delay_ns": 10_000, "queue_capacity_pkts": 200}
        for a, b in (("h1", "s1"), ("s1", "s2"), ("s1", "s3"), ("s2", "s4"), ("s3", "s4"), ("s4", "h2"))
    ],
}


def two_ways(**changes: Any) -> dict[str, Any]:
    """Sixteen flows over the two ways of the diamond."""
    traffic = {"kind": "bulk", "sources": ["h1"], "destinations": ["h2"], "size_bytes": 200_000, "flows_per_pair": 16}
    return scenario(topology=DIAMOND, traffic=traffic, switch={"program": "p4src/v1model/ack_priority.p4"}, **changes)


def test_flows_leave_a_way_that_fails(tmp_path: Path) -> None:
    faults = [{"between": [end, "s2"], "down_ns": 1_000_000} for end in ("s1", "s4")]
    ran = run(tmp_path, two_ways(faults=faults))
    (summary,) = ran.runs
    assert summary["flows_completed"] == 16
    assert summary["link_losses"] > 0


@pytest.mark.parametrize(
    ("room", "program", "least_bps", "most_bps"),
    [("push", "int_hpcc", 8e8, 1e9), ("hs_fixed", "int_fixed", 0, 1.1e7)],
)
def test_hpcc_sees_a_way_of_equal_length(
    tmp_path: Path, room: str, program: str, least_bps: float, most_bps: float
) -> None:
    """The other way's ports have sent nothing yet: less than s3's, so the difference wraps and looks like 134 MB.

    A sender that takes it for one port's falls to R_min, as HPCC's simulator does, whose header has no path id
    (docs/algorithms/int.md#path-id).
    """
    base = scenario(
        topology=DIAMOND,
        traffic={"kind": "bulk", "sources": ["h1"], "destinations": ["h2"], "size_bytes": 1_000_000},
        switch={"program": f"p4src/v1model/{program}.p4", "qdepth_unit": "bytes_80B", "timestamp_unit": "ns"},
        transport={"kind": "rdma", "int_room": room, "rto_ns": 1_000_000},
        variants=[{"name": "HPCC", "rate_control": {"name": "hpcc", "r_min_mbps": 10}}],
        faults=[{"between": [end, "s3"], "down_ns": 3_000_000} for end in ("s1", "s4")],
        record={"windows_interval_ns": 5_000},
    )
    ran = run(tmp_path, base)
    (summary,) = ran.runs
    assert summary["flows_completed"] == 1
    after = ran.table("windows").filter(pl.col("time_ns") > 3_000_000)["rate_bps"].to_list()
    assert least_bps <= min(after) <= most_bps


RESTART = {"switch": "s1", "down_ns": 100_000, "up_ns": 400_000, "install_delay_ns": 100_000}


def test_a_switch_that_restarts_is_installed_again(tmp_path: Path) -> None:
    calm = run(tmp_path, scenario()).table("counters").select("port", "k_pkts", "k_dc_pkts")
    for delay_ns in (100_000, 5_000_000):
        faults = [{**RESTART, "install_delay_ns": delay_ns}]
        ran = run(tmp_path, scenario(faults=faults))
        (summary,) = ran.runs
        assert summary["flows_completed"] == 4
        assert "control_calls" not in summary
        assert min(ran.table("flows")["finish_ns"].to_list()) > 400_000 + delay_ns
        assert ran.table("counters").select(calm.columns).equals(calm)
        dropped = ran.table("port_queues")["dropped_no_pipeline"].sum()
        assert (dropped > 0) == (delay_ns > 2_000_000), "senders try again every 2 ms"
        kept = ran.bytes()
        assert run(tmp_path, scenario(faults=faults), use_cache=False, threads=2).bytes() == kept


@pytest.mark.parametrize("fault", [{"up_ns": None, "install_delay_ns": 0}, {"install_delay_ns": 3_000_000_000}])
def test_a_switch_that_never_is_installed_again_drops_all(tmp_path: Path, fault: dict[str, Any]) -> None:
    ran = run(tmp_path, scenario(faults=[{**RESTART, **fault}], stop_ns=50_000_000))
    (summary,) = ran.runs
    assert summary["flows_completed"] == 0
    assert ran.table("counters").is_empty()


def test_flows_leave_a_switch_that_restarts_and_come_back(tmp_path: Path) -> None:
    faults = [{"switch": "s2", "down_ns": 1_000_000, "up_ns": 3_000_000}]
    ran = run(tmp_path, two_ways(faults=faults, record={"queues_interval_ns": 100_000}))
    assert ran.runs[0]["flows_completed"] == 16
    queues = ran.table("port_queues").filter(pl.col("switch") == "s2")
    assert queues["enqueued_pkts"].sum() > 0


def test_a_fault_of_no_link_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no link between"):
        run(tmp_path, two_ways(faults=[{"between": ["s1", "s4"], "down_ns": 1}]))


def test_a_limit_that_packets_reach_is_named(tmp_path: Path) -> None:
    text = (ROOT / "p4src/v1model/ack_priority.p4").read_text(encoding="utf-8")
    text = text.replace('"../', f'"{ROOT}/p4src/').replace(
        "apply {}", "apply { recirculate_preserving_field_list(0); }"
    )
    (tmp_path / "again.p4").write_text(text, encoding="utf-8")
    settings = {"program": "again.p4", "pass_limit": 50}
    ran = run(tmp_path, scenario(switch=settings, stop_ns=20_000_000))
    (summary,) = ran.runs
    assert summary["pass_limit_drops"] > 0
    assert summary["flows_completed"] == 0
    (note,) = (warning for warning in ran.outcome.warnings if "copies and passes" in warning)
    assert "again.p4" in note
    assert "limit of 50" in note


def test_assertions_that_do_not_hold_are_counted_and_named(tmp_path: Path) -> None:
    text = (ROOT / "p4src/v1model/ack_priority.p4").read_text(encoding="utf-8")
    text = text.replace('"../', f'"{ROOT}/p4src/').replace("apply {}", "apply { assert(false); }")
    (tmp_path / "wrong.p4").write_text(text, encoding="utf-8")
    line = 1 + next(at for at, line in enumerate(text.splitlines()) if "assert(" in line)
    ran = run(tmp_path, scenario(switch={"program": "wrong.p4"}, stop_ns=20_000_000))
    (summary,) = ran.runs
    assert summary["assertions_failed"] > 0
    assert summary["flows_completed"] > 0, "packets are processed further"
    assert f"wrong.p4:{line} (" in summary["assertion_places"]
    (note,) = (warning for warning in ran.outcome.warnings if "did not hold" in warning)
    assert f"wrong.p4:{line}" in note
