"""A sender on switches that cannot serve it is refused, or the run says so: by what is installed, not by names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from p4cc.errors import UserError
from tests.p4cc.scenarios import run, scenario

if TYPE_CHECKING:
    from pathlib import Path

DUAL, RED, PLAIN = (f"p4src/v1model/{name}.p4" for name in ("ecn_dual", "ecn_red", "ack_priority"))
NEVER = {"k_rule": "never"}


def on(program: str, sender: dict[str, Any], **switch: Any) -> dict[str, Any]:
    """A small incast of this sender on this program."""
    thresholds = {"k_rule": "fixed", "k_pkts": 20}
    data = scenario(
        variants=[{"name": "tried", **sender}],
        switch={"program": program, "thresholds": thresholds, "timestamp_unit": "ns", **switch},
    )
    if "rate_control" in sender:
        data["transport"] = {"kind": "rdma", "rto_ns": 2_000_000}
    return data


def window(name: str, slow_start: str = "standard") -> dict[str, Any]:
    return {"congestion_avoidance": {"name": name}, "slow_start": {"name": slow_start}}


def rate(name: str) -> dict[str, Any]:
    return {"rate_control": {"name": name}}


@pytest.mark.parametrize(
    ("data", "said", "remedy"),
    [
        (on(DUAL, rate("hpcc")), "adds none", "int_hpcc.p4"),
        (on(DUAL, rate("d3")), "needs its rate", "d3.p4"),
        (on(DUAL, rate("rcp")), "needs its rate", "rcp.p4"),
        (on(DUAL, rate("hpcc_pint")), "needs the utilisation of its path", "pint.p4"),
        (on(DUAL, rate("bolt")), "needs queue notifications", "bolt.p4"),
        (on(RED, window("dctcp", "gst")), "two marking thresholds", "ecn_dual.p4"),
        (on(PLAIN, window("dctcp")), "does not mark", "ecn_dual.p4"),
        (on(PLAIN, rate("dcqcn")), "does not mark", "ecn_red.p4"),
        (on(DUAL, window("dctcp"), thresholds=NEVER), "no port marks", "k_rule"),
    ],
)
def test_what_can_give_no_result_is_refused(tmp_path: Path, data: dict[str, Any], said: str, remedy: str) -> None:
    with pytest.raises(UserError, match=said) as refused:
        run(tmp_path, data)
    assert refused.value.place == "case tried"
    assert remedy in refused.value.remedy


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (on(RED, window("dctcp")), "marks randomly"),
        (on(DUAL, rate("dcqcn")), "every packet above a threshold"),
        (
            on(DUAL, window("dctcp"), ports=[{"switch": "s1", "to": "aggregator", "k_rule": "never"}]),
            "port from s1 to aggregator, never marks",
        ),
    ],
)
def test_what_is_an_experiment_is_a_warning(tmp_path: Path, data: dict[str, Any], said: str) -> None:
    assert any(said in warning for warning in run(tmp_path, data).outcome.warnings)


@pytest.mark.parametrize(
    ("changes", "warned"),
    [
        ({"transport": {"kind": "rdma"}}, True),
        ({"transport": {"kind": "rdma", "rto_ns": 2_000_000}}, False),
        ({"transport": {"kind": "rdma"}, "traffic": {"kind": "incast", "sru_bytes": 20_000, "priority": 3}}, False),
    ],
)
def test_what_is_lost_for_good_is_a_warning(tmp_path: Path, changes: dict[str, Any], *, warned: bool) -> None:
    data = on(PLAIN, rate("timely"), buffer={"bytes": 4_000_000, "lossless_priorities": [3]}) | changes
    warnings = run(tmp_path, data).outcome.warnings
    assert any("timely sends at priority 0, which no switch pauses (PFC)" in one for one in warnings) == warned


@pytest.mark.parametrize(
    "data",
    [
        on(DUAL, window("dctcp", "gst")),
        on(DUAL, window("reno")),
        on(PLAIN, window("reno")),
        on(RED, rate("dcqcn")),
        on(PLAIN, rate("timely")),
        on("p4src/v1model/int_hpcc.p4", rate("hpcc"), qdepth_unit="cells_80B"),
    ],
)
def test_what_fits_is_run_without_a_word(tmp_path: Path, data: dict[str, Any]) -> None:
    assert not any("tried" in warning for warning in run(tmp_path, data).outcome.warnings)
