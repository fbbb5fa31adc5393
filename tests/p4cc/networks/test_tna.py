"""Programs for Tofino in scenarios: what v1model's programs give, in the chip's units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from controller.entities import ActionCall, Entry
from controller.pipeline import load_pipeline
from p4cc.errors import UserError
from p4cc.planning.network import NetworkPlan, plan_case
from p4cc.planning.programs import compile_program
from p4cc.scenario.expand import expand
from p4cc.scenario.load import validate
from p4cc.scenario.yaml import read_document
from tests.controller.own_program import SET_THRESHOLDS
from tests.p4cc.scenarios import ROOT, Ran, run, scenario, write

if TYPE_CHECKING:
    from pathlib import Path

CELLS = 19
"""Of a packet of 1500 bytes."""

K_PKTS, K_DC_PKTS = 10, 30
GST = {"congestion_avoidance": {"name": "dctcp"}, "slow_start": {"name": "gst"}}
# No packet is short: 100 segments of 1436 bytes.
MARKING: dict[str, Any] = {
    "topology": {"kind": "star", "senders": 12, "queue_capacity_pkts": 150},
    "switch": {"thresholds": {"k_rule": "fixed", "k_pkts": K_PKTS, "k_dc_pkts": K_DC_PKTS}},
    "traffic": {"kind": "incast", "sru_bytes": 143_600, "start_jitter_ns": 10_000},
    "stop_ns": 100_000_000,
}
FABRIC: dict[str, Any] = {
    "topology": {"kind": "star", "senders": 6, "rate_bps": 100_000_000_000, "queue_capacity_pkts": 100_000},
    "switch": {"timestamp_unit": "ns", "qdepth_unit": "cells_80B", "ecn_profile": "rfc3168"},
    "traffic": {"kind": "incast", "sru_bytes": 1_000_000, "start_jitter_ns": 0},
    "transport": {"kind": "rdma"},
    "stop_ns": 20_000_000,
}


def pair(name: str, **sender: Any) -> list[dict[str, Any]]:
    """One sender on the program of each architecture."""
    return [{"name": arch, "program": f"p4src/{arch}/{name}.p4", **sender} for arch in ("v1model", "tna")]


def halves(ran: Ran) -> tuple[list[dict[str, Any]], ...]:
    """Rows of all runs by architecture, without what tells them apart or is the machine's."""
    apart = {"variant", "wall_s"}
    return tuple(
        [{key: value for key, value in row.items() if key not in apart} for row in ran.runs if row["variant"] == arch]
        for arch in ("v1model", "tna")
    )


@pytest.mark.parametrize(
    ("base", "program", "sender"),
    [
        (MARKING, "ecn_dual", GST),
        (FABRIC, "int_hpcc", {"rate_control": {"name": "hpcc"}}),
        (FABRIC, "int_fixed", {"rate_control": {"name": "hpcc"}, "transport": {"int_room": "hs_fixed"}}),
        (FABRIC, "ack_priority", {"rate_control": {"name": "timely"}}),
    ],
)
def test_runs_are_the_same_to_the_nanosecond(
    tmp_path: Path, base: dict[str, Any], program: str, sender: dict[str, Any]
) -> None:
    ran = run(tmp_path, scenario(**base, variants=pair(program, **sender), seeds=[1, 2]), use_cache=False)
    ours, theirs = halves(ran)
    assert len(ours) == 2
    assert all(row["flows_completed"] > 0 for row in ours)
    if program == "ecn_dual":
        assert all(row["marks_level1"] > 0 and row["marks_level2"] > 0 for row in ours)
    assert ours == theirs
    flows = [ran.table("flows").filter(variant=arch).drop("variant") for arch in ("v1model", "tna")]
    assert flows[0].height > 0
    assert flows[0].equals(flows[1])


def planned(folder: Path, data: dict[str, Any], program: str) -> NetworkPlan:
    """The plan of the first case with this program on every switch."""
    path = write(folder, data)
    document = read_document(path)
    checked = validate(document, document.plain())
    case = expand(document.plain(), checked, lambda data, origins: validate(document, data, origins))[0]
    compiled = compile_program(ROOT / program)
    schema = load_pipeline(compiled.p4info_bytes(), compiled.device_config()).schema
    return plan_case(case, path, lambda _: schema)


def installed(plan: NetworkPlan) -> set[tuple[int, int]]:
    """Thresholds that the switches get."""
    calls = [one.action for switch in plan.switches for one in switch.entities if isinstance(one, Entry)]
    found = [dict(call.args) for call in calls if isinstance(call, ActionCall) and call.name == SET_THRESHOLDS]
    return {(args["k"], args["k_dc"]) for args in found}


@pytest.mark.parametrize(
    ("arch", "unit", "wanted"),
    [
        ("v1model", "packets", (K_PKTS, K_DC_PKTS)),
        ("tna", "packets", (K_PKTS * CELLS, K_DC_PKTS * CELLS)),
        # Said in cells, they are cells.
        ("tna", "cells_80B", (K_PKTS, K_DC_PKTS)),
    ],
)
def test_thresholds_in_packets_are_cells_on_the_chip(
    tmp_path: Path, arch: str, unit: str, wanted: tuple[int, int]
) -> None:
    switch = {**MARKING["switch"], "qdepth_unit": unit}
    plan = planned(tmp_path, scenario(**{**MARKING, "switch": switch}), f"p4src/{arch}/ecn_dual.p4")
    assert installed(plan) == {wanted}
    # What is shown of them is packets again.
    (cells,) = {tuple(one.cells.values())[:1] for one in plan.switches}
    assert cells == ((CELLS,) if wanted[0] > K_PKTS else ())


def test_red_in_steps_marks_as_the_curve_does(tmp_path: Path) -> None:
    variants = pair("ecn_red", rate_control={"name": "dcqcn"})
    traffic = {"kind": "incast", "sru_bytes": 4_000_000, "start_jitter_ns": 0}
    ran = run(tmp_path, scenario(**{**FABRIC, "traffic": traffic}, variants=variants, seeds=[1, 2, 3]), use_cache=False)
    ours, theirs = ([row["marks_level2"] for row in rows] for rows in halves(ran))
    assert min(ours) > 500
    # Other random numbers, and a step's middle in place of each depth.
    assert sum(theirs) == pytest.approx(sum(ours), rel=0.1)


def test_rates_of_a_controller_come_near_those_of_switches(tmp_path: Path) -> None:
    ran = run(tmp_path, rates(), use_cache=False)
    fct_ns = {row["variant"]: row["fct_mean_ns"] for row in ran.runs}
    assert fct_ns["RCP on Tofino"] == pytest.approx(fct_ns["RCP"], rel=0.05)
    assert fct_ns["D3 on Tofino"] == pytest.approx(fct_ns["D3"], rel=0.1)
    assert all(row["short.in_time_share"] == 1.0 for row in ran.runs if row["variant"].startswith("D3"))


def rates() -> dict[str, Any]:
    """The experiment's scenario, one seed."""
    path = ROOT / "experiments/tofino/rates.yaml"
    data: dict[str, Any] = read_document(path).plain()
    data["switch"]["controller"] = f"{path.parent / 'rates.py'}:Rates"
    return {**data, "seeds": [1]}


def test_a_network_of_two_clocks_is_refused_where_hosts_read_times(tmp_path: Path) -> None:
    data = scenario(
        topology={"kind": "leaf_spine", "leaves": 2, "spines": 1, "hosts_per_leaf": 2},
        switch={
            "program": "p4src/v1model/int_hpcc.p4",
            "programs": [{"switch": "spine*", "program": "p4src/tna/int_hpcc.p4"}],
        },
        traffic={"kind": "bulk", "sources": ["h1"], "destinations": ["h3"]},
        transport={"kind": "rdma"},
        variants=[{"name": "HPCC", "rate_control": {"name": "hpcc"}}],
    )
    with pytest.raises(UserError, match="some switches count in nanoseconds"):
        run(tmp_path, data)
