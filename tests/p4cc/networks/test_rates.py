"""Switches that set rates, through the whole path: controller, `d3.p4` and `rcp.p4`, senders that ask, results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from controller.pipeline import load_pipeline
from p4cc.errors import UserError
from p4cc.planning.network import plan_case
from p4cc.planning.programs import compile_program
from p4cc.scenario.expand import expand
from p4cc.scenario.load import validate
from p4cc.scenario.yaml import read_document
from tests.p4cc.scenarios import Ran, run, scenario, write

D3 = {"name": "D3", "program": "p4src/v1model/d3.p4", "rate_control": {"name": "d3"}}
FOLLOWS: dict[str, Any] = {**D3, "name": "D3-estimate", "d3": {"estimate": {}}}
RCP = {"name": "RCP", "program": "p4src/v1model/rcp.p4", "rate_control": {"name": "rcp"}}
RENO = {"name": "Reno", "congestion_avoidance": {"name": "reno"}}
PACED = {"kind": "rdma", "mss_bytes": 1436, "rto_ns": 2_000_000}


def mixed(**changes: Any) -> dict[str, Any]:
    """Flows with deadlines beside one without end, on 1 Gb/s; `changes` replace whole sections."""
    return scenario(
        **{
            "topology": {
                "kind": "star",
                "senders": 4,
                "rate_bps": 1_000_000_000,
                "rtt_ns": 200_000,
                "queue_capacity_pkts": 50,
            },
            "switch": {
                "program": "p4src/v1model/ecn_dual.p4",
                "thresholds": {"k_rule": "never"},
                "timestamp_unit": "ns",
                "qdepth_unit": "cells_80B",
            },
            "traffic": [
                {"kind": "bulk", "name": "long", "sources": ["h1"]},
                {
                    "kind": "incast",
                    "name": "short",
                    "sources": ["h2", "h3", "h4"],
                    "sru_bytes": 100_000,
                    "start_ns": 20_000_000,
                    "deadline": {"offset_ns": 4_000_000},
                },
            ],
            "variants": [D3, FOLLOWS, RCP, RENO],
            "paced": PACED,
            "record": {"windows_interval_ns": None, "queues_interval_ns": 20_000},
            "stop_ns": 60_000_000,
            **changes,
        }
    )


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """One run of paced and window senders, each on its own program."""
    return run(tmp_path_factory.mktemp("rates"), mixed(), use_cache=False)


def test_deadlines_are_met_where_rates_are_allotted_for_them(ran: Ran) -> None:
    share = {row["variant"]: row["short.in_time_share"] for row in ran.runs}
    # 300 kB with headers take 2.5 ms of the link; with a quarter of it each flow would take 3.4 ms.
    assert share["D3"] == 1.0
    assert all(row["flows_completed"] == 3 for row in ran.runs)


def test_queues_stay_short_where_rates_are_allotted(ran: Ran) -> None:
    peak = {row["variant"]: row["peak_queue_pkts"] for row in ran.runs}
    assert peak["D3"] <= 10
    assert peak["Reno"] == 50, "the long flow fills the buffer"
    long = {row["variant"]: row["long.goodput_bps"] for row in ran.runs}
    assert 0.7e9 < long["D3"] < 1e9
    assert long["D3-estimate"] < long["D3"], "any queue lowers the estimate"


def planned(folder: Path, data: dict[str, Any], program: str = "p4src/v1model/ecn_dual.p4") -> None:
    """Plans the first case with this program in place of its own."""
    path = write(folder, data)
    document = read_document(path)
    checked = validate(document, document.plain())
    case = expand(document.plain(), checked, lambda data, origins: validate(document, data, origins))[0]
    compiled = compile_program(Path(program))
    schema = load_pipeline(compiled.p4info_bytes(), compiled.device_config()).schema
    plan_case(case, path, lambda _: schema)


def test_who_waits_for_rates_needs_a_program_that_gives_them(tmp_path: Path) -> None:
    with pytest.raises(UserError) as raised:
        planned(tmp_path, mixed(variants=[D3, RENO]))
    assert "d3 needs its rate from switches" in str(raised.value)
    assert "p4src/v1model/d3.p4" in str(raised.value)


def test_two_transports_need_two_kinds(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="paced"):
        planned(tmp_path, mixed(transport=PACED, variants=[D3]))
    with pytest.raises(UserError, match=r"rate_control|congestion_avoidance"):
        planned(tmp_path, mixed(paced=None))


def test_grants_clamped_to_what_is_left_keep_the_queue_shorter(tmp_path: Path) -> None:
    """A new flow's grant beside flows that have all of the link: as published there is more than the link carries."""
    joining = [
        {"kind": "bulk", "name": host, "sources": [host], "start_ns": at * 5_000_000}
        for at, host in enumerate(("h1", "h2", "h3", "h4"))
    ]
    variants = [{**D3, "name": rule, "d3": {"grants": rule}} for rule in ("published", "clamped")]
    out = run(tmp_path, mixed(traffic=joining, variants=variants, stop_ns=30_000_000))
    peak = {row["variant"]: row["peak_queue_pkts"] for row in out.runs}
    assert peak["published"] > peak["clamped"]


def test_lost_requests_do_not_take_a_port_s_rate_for_good(tmp_path: Path) -> None:
    """A lost answer leaves a grant in the counters until the epoch after next, and a flow asks each 10 us."""
    topology = {"kind": "star", "senders": 4, "rate_bps": 40_000_000_000, "rtt_ns": 8_000, "loss": 0.02}
    topology["queue_capacity_pkts"] = 50
    traffic = [{"kind": "incast", "sru_bytes": 5_000_000}]
    paced = {**PACED, "mss_bytes": 8_000, "rto_ns": 400_000}
    out = run(tmp_path, mixed(topology=topology, traffic=traffic, paced=paced, variants=[D3], stop_ns=1_000_000_000))
    assert out.runs[0]["flows_completed"] == 4


@pytest.mark.parametrize(("changes", "deadline_ns"), [(False, 40_000_000), (True, 3_500_000)])
def test_a_deadline_that_changes_is_the_flow_s(tmp_path: Path, changes: bool, deadline_ns: int) -> None:
    change = {"change": {"after_ns": 200_000, "offset_ns": 3_500_000}} if changes else {}
    short = {
        "kind": "incast",
        "name": "short",
        "sources": ["h2"],
        "sru_bytes": 300_000,
        "deadline": {"offset_ns": 40_000_000, **change},
    }
    out = run(tmp_path, mixed(traffic=[{"kind": "bulk", "name": "long", "sources": ["h1"]}, short], variants=[D3]))
    (row,) = [one for one in out.table("flows").to_dicts() if one["class"] == "short"]
    assert row["deadline_ns"] == deadline_ns
    # 300 kB take 2.5 ms of the link and 5 ms of half of it: switches hear of the nearer deadline.
    assert (row["fct_ns"] <= 3_500_000) == changes


def test_theta_powertcp_settles_by_default(tmp_path: Path) -> None:
    """docs/algorithms/powertcp.md#choice-theta-least-current: as printed the queue swings by 200 packets."""
    steady = {"name": "default", "rate_control": {"name": "theta_powertcp"}}
    printed = {"name": "printed", "rate_control": {"name": "theta_powertcp", "least_current": 0}}
    topology = {"kind": "star", "senders": 10, "rate_bps": 25 * 10**9, "rtt_ns": 8_000, "queue_capacity_pkts": 100_000}
    data = scenario(
        topology=topology,
        switch={"program": "p4src/v1model/ecn_red.p4", "ecn_profile": "rfc3168", "buffer": {"bytes": 12_000_000}},
        traffic={"kind": "bulk", "size_bytes": None, "priority": 3},
        transport={"kind": "rdma"},
        variants=[steady, printed],
        stop_ns=4_000_000,
        record={"windows_interval_ns": None, "queues_interval_ns": 2_000},
    )
    queues = run(tmp_path, data).table("queues")
    late = queues.filter((pl.col("peer") == "aggregator") & (pl.col("time_ns") > 2_000_000))
    swing: dict[Any, int] = {}
    for (variant,), of in late.group_by("variant"):
        depths: list[int] = of["depth_pkts"].to_list()
        swing[variant] = max(depths) - min(depths)
    assert swing["default"] < 50 < swing["printed"]
