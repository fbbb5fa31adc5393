"""Memory that a run may take, from its network and its traffic: what a machine must have free for it.

The numbers are of measured runs (docs/explanation/cluster.md, "Memory"). Samples over time and captures are not
among them.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p4cc.planning.network import NetworkPlan

PROCESS_BYTES = 350 << 20
"""Of a worker with a small network."""
HOST_BYTES = 100_000
SWITCH_BYTES = 300_000
FLOW_BYTES = 3_000
"""With its row in the tables that are worked out."""
_STEP_BYTES = 64 << 20
"""Estimates are whole multiples of it, so that runs that hardly differ share tasks."""


def run_bytes(plan: NetworkPlan) -> int:
    """An estimate of what the process takes that makes a run of this plan."""
    hosts, switches = len(plan.topology.host_names), len(plan.topology.switch_names)
    found = PROCESS_BYTES + HOST_BYTES * hosts + SWITCH_BYTES * switches
    found += FLOW_BYTES * int(expected_flows(json.loads(plan.spec_json)))
    return -(-found // _STEP_BYTES) * _STEP_BYTES


def expected_flows(spec: Mapping[str, Any]) -> float:
    """Flows, requests and transfers of an engine's description; those that a seed draws by their mean."""
    stop_ns = spec["stop_ns"]
    found = float(len(spec["flows"]))
    found += sum(_times(one, stop_ns) * len(one["sources"]) for one in spec["arrivals"])
    found += sum(_times(one, stop_ns) * one["senders"] for one in spec["bursts"])
    found += sum(one["rounds"] * len(one["servers"]) for one in spec["rounds"])
    found += sum(one["iterations"] * 2 * len(one["ranks"]) ** 2 for one in spec["collectives"])
    for one in spec["pairs"]:
        offered_bytes = one["offered_bps"] * _spans_ns(one, stop_ns) / 8e9
        found += offered_bytes / max(1.0, _least_mean_bytes(one["matrix"]))
    return found


def _times(item: Mapping[str, Any], stop_ns: int) -> float:
    return _spans_ns(item, stop_ns) / max(1.0, item["mean_gap_ns"])


def _spans_ns(item: Mapping[str, Any], stop_ns: int) -> int:
    return max(0, min(item["end_ns"], stop_ns) - item["start_ns"])


def _least_mean_bytes(matrix: Mapping[str, Any]) -> float:
    """The smallest mean size of a flow among those of a matrix of pairs."""
    sizes = [one["size"] for one in matrix.get("classes", [])] + list(matrix.get("sizes", []))
    return min(map(_mean_bytes, sizes), default=1_000.0)


def _mean_bytes(size: Mapping[str, Any]) -> float:
    match size["kind"]:
        case "fixed":
            return float(size["bytes"])
        case "uniform":
            return (size["min_bytes"] + size["max_bytes"]) / 2
        case _:
            points = [(one["bytes"], one["share"]) for one in size["points"]]
            mean = sum((b + a) / 2 * (q - p) for (a, p), (b, q) in pairwise(points))
            return float(mean) or 1_000.0
