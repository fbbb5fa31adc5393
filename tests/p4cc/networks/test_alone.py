"""A flow alone in a network: its slowdown is 1, whatever the network; flows that never start have no times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.p4cc.scenarios import run, scenario
from topos import generate

if TYPE_CHECKING:
    from pathlib import Path

QUEUE_PKTS = 400_000
RATES_BPS = st.integers(10**7, 1_600 * 10**9)
DELAYS_NS = st.sampled_from((0, 1, 10, 1_000, 10_000, 1_000_000))
SHAPES = st.one_of(
    st.fixed_dictionaries(
        {
            "kind": st.just("star"),
            "senders": st.just(1),
            "rate_bps": RATES_BPS,
            "rtt_ns": DELAYS_NS.map(lambda delay_ns: 4 * delay_ns),
            "framing_bytes": st.sampled_from((0, 24, 38)),
        }
    ),
    st.fixed_dictionaries(
        {
            "kind": st.just("dumbbell"),
            "pairs": st.just(1),
            "access_rate_bps": RATES_BPS,
            "bottleneck_rate_bps": RATES_BPS,
            "rtt_ns": DELAYS_NS.map(lambda delay_ns: 6 * delay_ns),
        }
    ),
    st.fixed_dictionaries(
        {
            "kind": st.just("parking_lot"),
            "bottlenecks": st.integers(1, 3),
            "access_rate_bps": RATES_BPS,
            "bottleneck_rate_bps": RATES_BPS,
            "access_delay_ns": DELAYS_NS,
            "bottleneck_delay_ns": DELAYS_NS,
        }
    ),
    st.fixed_dictionaries({"kind": st.just("fat_tree"), "k": st.just(4), "rate_bps": RATES_BPS, "delay_ns": DELAYS_NS}),
)


def alone(shape: dict[str, Any], mss_bytes: int, size_bytes: int, *, paced: bool) -> dict[str, Any]:
    """One flow between the first and the last host, at the rate of its link from the start on."""
    topology = {**shape, "queue_capacity_pkts": QUEUE_PKTS}
    hosts = generate(shape["kind"], {name: one for name, one in topology.items() if name != "kind"}).host_names
    sender = {"rate_control": {"name": "fixed", "r_min_mbps": 0.001}}
    minute_ns = 60 * 10**9
    windows = {"iw": 1_000, "rwnd": 65_536, "rto_min_ns": minute_ns, "rto_max_ns": minute_ns}
    return scenario(
        topology=topology,
        switch={"program": "p4src/v1model/ecn_dual.p4", "thresholds": {"k_rule": "never"}},
        traffic={"kind": "bulk", "sources": [hosts[0]], "destinations": [hosts[-1]], "size_bytes": size_bytes},
        transport={"mss_bytes": mss_bytes, **({"kind": "rdma"} if paced else windows)},
        variants=[{"name": "one", **(sender if paced else {"congestion_avoidance": {"name": "reno"}})}],
        stop_ns=minute_ns,
    )


@settings(max_examples=30, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(shape=SHAPES, mss_bytes=st.integers(256, 9_000), size_bytes=st.integers(1, 2_000_000), paced=st.booleans())
@example(
    shape={"kind": "star", "senders": 1, "rate_bps": 10**9, "rtt_ns": 4}, mss_bytes=9_000, size_bytes=331, paced=False
)
@example(
    shape={"kind": "star", "senders": 1, "rate_bps": 16 * 10**11, "rtt_ns": 0}, mss_bytes=256, size_bytes=1, paced=True
)
def test_an_undisturbed_flow_has_a_slowdown_of_one(
    tmp_path: Path, shape: dict[str, Any], mss_bytes: int, size_bytes: int, *, paced: bool
) -> None:
    # A window of its size from the start on.
    size_bytes = min(size_bytes, 1_000 * mss_bytes)
    (flow,) = run(tmp_path, alone(shape, mss_bytes, size_bytes, paced=paced)).table("flows").iter_rows(named=True)
    # Whole nanoseconds, of which the ideal is not rounded.
    assert flow["fct_ns"] == pytest.approx(flow["ideal_fct_ns"], abs=1.0)
    assert flow["slowdown"] == flow["fct_ns"] / flow["ideal_fct_ns"]


def test_hpccs_formula_is_there_by_its_name(tmp_path: Path) -> None:
    """331 B in a packet of up to 9,000 B: a packet's time on two links, and the flow with its headers once more."""
    data = alone({"kind": "star", "senders": 1, "rate_bps": 10**9, "rtt_ns": 4}, 9_000, 331, paced=False)
    flows = run(tmp_path, data | {"record": {"ideal_fct": "hpcc_ns3"}}).table("flows")
    assert flows["ideal_fct_ns"].to_list() == [4 + 2 * 8 * 9_064 + 8 * 395]


def test_a_flow_that_never_started_has_no_start(tmp_path: Path) -> None:
    data = scenario(traffic={"kind": "incast", "sru_bytes": 1_000, "start_ns": 1_000_000}, stop_ns=1_000)
    flows = run(tmp_path, data).table("flows")
    assert flows.select("start_ns", "finish_ns", "fct_ns", "slowdown").null_count().row(0) == (4, 4, 4, 4)


def test_completion_times_are_the_difference_of_finish_and_start(tmp_path: Path) -> None:
    """Answers start at fractions of a nanosecond, when a request has come."""
    topology = {"kind": "star", "senders": 5, "rate_bps": 3 * 10**9 + 7}
    traffic = {"kind": "rounds", "sru_bytes": 5_000, "rounds": 3}
    flows = run(tmp_path, scenario(topology=topology, traffic=traffic)).table("flows").drop_nulls("fct_ns")
    assert flows.height > 0
    assert (flows["finish_ns"] - flows["start_ns"]).to_list() == flows["fct_ns"].to_list()
