"""Thresholds by rule: a port of a scenario is told what `p4cc controller plan` says of its link."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.command_line import p4cc
from tests.p4cc.scenarios import run, scenario

if TYPE_CHECKING:
    from pathlib import Path

RATES = {"host_rate_bps": 10_000_000_000, "fabric_rate_bps": 100_000_000_000}
BUFFER_PKTS, RTT_NS = 1_000, 20_000


def planned(rate_bps: int, rule: str) -> tuple[int, int]:
    """K and K_dc of a link as the command line says them."""
    words = ["controller", "plan", f"--rate-bps={rate_bps}", f"--buffer-pkts={BUFFER_PKTS}", f"--rtt-ns={RTT_NS}"]
    said = p4cc(*words, "--packet-bytes=1464", f"--k-rule={rule}", "--json")
    plan = json.loads(said.stdout)
    return plan["k_pkts"], plan["k_dc_pkts"]


@pytest.mark.parametrize("rule", ["proportional", "quarter_buffer"])
def test_thresholds_by_the_rate_of_each_port(tmp_path: Path, rule: str) -> None:
    topology: dict[str, Any] = {"kind": "leaf_spine", "leaves": 2, "spines": 1, "hosts_per_leaf": 2, **RATES}
    thresholds = {"k_rule": rule, "k_dc_pkts": None, "rtt_ns": RTT_NS}
    data = scenario(
        topology={**topology, "queue_capacity_pkts": BUFFER_PKTS},
        switch={"program": "p4src/v1model/ecn_dual.p4", "thresholds": thresholds},
        traffic={"kind": "incast", "sru_bytes": 1_000, "destination": "h1"},
        transport={"recovery": "newreno", "mss_bytes": 1_436, "rto_min_ns": 2_000_000, "rto_init_ns": 2_000_000},
    )
    ports = run(tmp_path, data).table("counters")
    for rate_bps, peers in ((10_000_000_000, ("h1", "h4")), (100_000_000_000, ("spine1",))):
        found = ports.filter(ports["peer"].is_in(list(peers))).select("k_pkts", "k_dc_pkts").unique().rows()
        assert found == [planned(rate_bps, rule)], (rate_bps, ports["peer"].unique().to_list())
    assert ports["k_dc_pkts"].n_unique() == 2
