"""Scenarios with values that nobody meant: a network comes of it, or an error that names place, cause and remedy."""

from __future__ import annotations

import json
import tempfile
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hypothesis import given, settings
from hypothesis import strategies as st

from p4cc.errors import UserError
from p4cc.running.networks import build_network, fork_network
from p4cc.running.prepared import prepare
from p4cc.running.request import RunRequest
from tests.p4cc.scenarios import RENO, scenario

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p4cc.scenario.base import Location

VALUES: list[Any] = [
    *(None, True, False, "", " ", "\0", "\ud7ff", "é", "x" * 5_000, "../..", "/", "*", "h*", "nan", "inf"),
    *(0, 1, -1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64, 10**40, -(2**63)),
    *(0.0, -0.0, 0.5, 1.5, -1e-9, 5e-324, 1e308, 1e-300, 1e18),
    *("1e9", "0x10", "10G", "1e30s", "8us", "1.5MB", "0ns", "-3ns", "100%", "1e-30%", "65pkt", "1e99999ms"),
    *([], {}, [[]], [{}], [0], [""], {"": 0}, {"kind": "x"}, {"kind": None}, [1, 2, 3], {"name": "reno"}),
]
SCENARIOS: list[dict[str, Any]] = [
    scenario(stop_ns=100_000),
    scenario(
        stop_ns=100_000,
        topology={"kind": "leaf_spine", "leaves": 2, "spines": 2, "hosts_per_leaf": 2, "host_rate_bps": "10G"},
        traffic=[
            {"kind": "poisson", "load": 0.5, "size": {"kind": "fixed", "bytes": 1_000}, "end_ns": 50_000},
            {"kind": "bulk", "sources": "h1", "destinations": "h2"},
        ],
        record={"windows_interval_ns": 1_000, "queues_interval_ns": 1_000, "goodput_interval_ns": 10_000},
        measure=[{"name": "early", "end_ns": 90_000}],
        sweep={"transport.rwnd": [10, 20]},
        faults=[{"between": ["leaf1", "spine1"], "down_ns": 10, "up_ns": 20}],
    ),
    scenario(
        stop_ns=100_000,
        transport={"kind": "rdma"},
        switch={"program": "p4src/v1model/int_hpcc.p4", "timestamp_unit": "ns"},
        variants=[{"name": "HPCC", "rate_control": {"name": "hpcc"}}],
    ),
    scenario(stop_ns=100_000, variants=[{**RENO, "transport": {"rwnd": 40}}]),
]


def leaves(node: Any, above: Location = ()) -> Iterator[Location]:
    """The places of all values."""
    if above:
        yield above
    children: list[tuple[Any, Any]] = []
    if isinstance(node, dict):
        children = list(cast("dict[str, Any]", node).items())
    elif isinstance(node, list):
        children = list(enumerate(cast("list[Any]", node)))
    for step, child in children:
        yield from leaves(child, (*above, step))


@st.composite
def changed(draw: st.DrawFn) -> dict[str, Any]:
    """A scenario with up to two other values."""
    data = json.loads(json.dumps(draw(st.sampled_from(SCENARIOS))))
    for _ in range(draw(st.integers(1, 2))):
        place = draw(st.sampled_from(list(leaves(data))))
        node: Any = data
        for step in place[:-1]:
            node = node[step]
        # A copy: the second change may be one inside it.
        value = deepcopy(draw(st.sampled_from(VALUES)))
        if isinstance(node, dict) and draw(st.integers(0, 5)) == 0:
            cast("dict[str, Any]", node)[draw(st.sampled_from(["kind", "name", "seeds", "start_ns", "x"]))] = value
        else:
            node[place[-1]] = value
    return data


def outcome_of(data: dict[str, Any], folder: Path) -> str:
    """How far it comes: to a network with its flows, or to an error."""
    path = folder / "scenario.yaml"
    path.write_text(json.dumps(data), encoding="utf-8")
    try:
        prepared = prepare(RunRequest(path))
        for case in prepared.cases[:1]:
            network = build_network(prepared.programs().plan(case).plan, case.label())
            fork_network(network, case.scenario.seeds[0], case.label())
    except UserError as error:
        text = str(error)
        assert text.strip()
        assert ":" in text, "a place and a cause"
        return text
    return "a network"


@settings(max_examples=60, derandomize=True, deadline=None)
@given(changed())
def test_no_value_of_a_scenario_is_a_traceback(data: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert outcome_of(data, Path(folder))
