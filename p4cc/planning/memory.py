"""Memory that a machine must have free for a run, from its network and its traffic.

The numbers are of measured runs (docs/explanation/cluster.md, "Memory"). Samples over time and captures are not
among them.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from p4cc import spec
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
    """An estimate of the memory of a process that makes a run of this plan."""
    hosts, switches = len(plan.topology.host_names), len(plan.topology.switch_names)
    found = PROCESS_BYTES + HOST_BYTES * hosts + SWITCH_BYTES * switches
    found += FLOW_BYTES * int(expected_flows(json.loads(plan.spec_json)))
    return -(-found // _STEP_BYTES) * _STEP_BYTES


def expected_flows(network: spec.NetworkSpec) -> float:
    """Flows, requests and transfers of an engine's description; those that a seed draws by their mean."""
    stop_ns = network["stop_ns"]
    found = float(len(network.get("flows", [])))
    for one in network.get("arrivals", []):
        drawn = _times(one, stop_ns) * len(one["sources"])
        quantity = one.get("quantity")
        found += drawn if quantity is None else min(drawn, _flows_of(quantity, one["size"]))
    found += sum(_flows_of(one["quantity"], one["size"]) for one in network.get("closed_loops", []))
    found += sum(_times(one, stop_ns) * one["senders"] for one in network.get("bursts", []))
    found += sum(one["rounds"] * len(one["servers"]) for one in network.get("rounds", []))
    found += sum(one.get("iterations", 1) * 2 * len(one["ranks"]) ** 2 for one in network.get("collectives", []))
    found += sum(len(one["operations"]) for one in network.get("jobs", []))
    for one in network.get("pairs", []):
        offered_bytes = one["offered_bps"] * _spans_ns(one, stop_ns) / 8e9
        found += offered_bytes / max(1.0, _least_mean_bytes(one["matrix"]))
    return found


def _flows_of(quantity: spec.QuantitySpec, size: spec.SizeSpec) -> float:
    return quantity["flows"] if quantity["kind"] == "flows" else quantity["bytes"] / max(1.0, _mean_bytes(size))


def _times(item: spec.ArrivalsSpec | spec.BurstsSpec, stop_ns: int) -> float:
    return _spans_ns(item, stop_ns) / max(1.0, item["mean_gap_ns"])


def _spans_ns(item: spec.ArrivalsSpec | spec.BurstsSpec | spec.PairsSpec, stop_ns: int) -> int:
    return max(0, min(item["end_ns"], stop_ns) - item.get("start_ns", 0))


def _least_mean_bytes(matrix: spec.MatrixSpec) -> float:
    """The smallest mean size of a flow among those of a matrix of pairs."""
    sizes = matrix["sizes"] if matrix["kind"] == "given" else [one["size"] for one in matrix["classes"]]
    return min(map(_mean_bytes, sizes), default=1_000.0)


def _mean_bytes(size: spec.SizeSpec) -> float:
    if size["kind"] == "fixed":
        return float(size["bytes"])
    if size["kind"] == "uniform":
        return (size["min_bytes"] + size["max_bytes"]) / 2
    points = [(one["bytes"], one["share"]) for one in size["points"]]
    mean = sum((b + a) / 2 * (q - p) for (a, p), (b, q) in pairwise(points))
    return float(mean) or 1_000.0
