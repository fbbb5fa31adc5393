"""Topologies of htsim: the wiring that its `FatTreeTopology` makes, what it refuses, and that no text does else."""

import contextlib
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topos import Paths, Topology, TopologyError, generate, shortest_routes
from topos.graph import MAX_QUEUE_PKTS
from topos.loaders.htsim import read_htsim_topology

BUNDLES = """# three tiers, two links to each core switch
Nodes 8
Tiers 3
Podsize 4

Tier 0
Downlink_speed_Gbps 200
Radix_Down 2
Radix_Up 2
Downlink_Latency_ns 1000

Tier 1
Downlink_speed_Gbps 200
Radix_Down 2
Radix_Up 4
Downlink_Latency_ns 2000
Bundle 1

Tier 2
Downlink_speed_Gbps 100
Radix_Down 4
Downlink_Latency_ns 3000
Bundle 2
"""
LEAVES = """Nodes 32
Tiers 2
Podsize 32
Tier 0
Downlink_speed_Gbps 100
Radix_Down 8
Radix_Up 2
Downlink_Latency_ns 1000
Switch_Latency_ns 300
Oversubscribed 4
Queue_Up 41500
Tier 1
Downlink_speed_Gbps 100
Radix_Down 4
Downlink_Latency_ns 1000
Switch_Latency_ns 500
Queue_Down 41500
"""


def pairs(topology: Topology) -> Counter[tuple[str, str]]:
    return Counter((link.a, link.b) for link in topology.links)


def test_three_tiers_are_wired_as_there() -> None:
    """`core = podpos + agg_switches_per_pod * l`, for each link of a bundle."""
    topology = read_htsim_topology(BUNDLES)
    assert topology.host_names == tuple(f"h{number}" for number in range(8))
    assert topology.switch_names == (*(f"{tier}{n}" for tier in ("tor", "agg", "core") for n in range(4)),)
    hosts = {(f"tor{host // 2}", f"h{host}"): 1 for host in range(8)}
    pods = {(f"tor{tor}", f"agg{tor // 2 * 2 + agg}"): 1 for tor in range(4) for agg in range(2)}
    cores = {(f"agg{agg}", f"core{agg % 2 + 2 * group}"): 2 for agg in range(4) for group in range(2)}
    assert pairs(topology) == Counter({**hosts, **pods, **cores})
    by_upper = {link.b[:-1]: (link.rate_bps, link.delay_ns) for link in topology.links}
    assert by_upper == {"h": (200 * 10**9, 1_000), "agg": (200 * 10**9, 2_000), "core": (100 * 10**9, 3_000)}
    assert topology.pods == (("h0", "h1", "h2", "h3"), ("h4", "h5", "h6", "h7"))
    assert {link.queue_capacity_pkts for link in topology.links} == {MAX_QUEUE_PKTS}
    assert len(shortest_routes(topology)["agg0"]["h4"]) == 4, "two core switches with two links each"


def test_its_default_tree_is_ours() -> None:
    """`fat_tree_1024.topo` "is supposed to match the default auto-generated topology"; here the one of 16 hosts."""
    text = "Nodes 16\nTiers 3\nPodsize 4\n"
    for tier, down in enumerate((2, 2, 4)):
        up = "" if tier == 2 else "Radix_Up 2\n"
        text += f"Tier {tier}\nDownlink_speed_Gbps 100\nDownlink_Latency_ns 1000\nRadix_Down {down}\n{up}"
    theirs = Paths(read_htsim_topology(text))
    ours = Paths(generate("fat_tree", {"k": 4, "rate_bps": 10**11, "delay_ns": 1_000}))
    for a in range(16):
        for b in range(16):
            if a != b:
                mine = ours.between(f"h{a + 1}", f"h{b + 1}")
                assert theirs.between(f"h{a}", f"h{b}").rtt_ns(4_096) == mine.rtt_ns(4_096)


def test_two_tiers_with_latencies_of_switches_and_sizes_of_queues() -> None:
    topology = read_htsim_topology(LEAVES, packet_bytes=4_150, queue_capacity_pkts=77)
    assert pairs(topology) == Counter(
        {(f"tor{host // 8}", f"h{host}"): 1 for host in range(32)}
        | {(f"tor{tor}", f"agg{agg}"): 1 for tor in range(4) for agg in range(2)}
    )
    paths = Paths(topology)
    # There and back: four links of 1 us and three switches, or two links and one.
    assert paths.between("h0", "h31").rtt_ns(0) == 2 * (4_000 + 300 + 500 + 300)
    assert paths.between("h0", "h7").rtt_ns(0) == 2 * (2_000 + 300)
    # Ten packets, one of which is being sent there.
    assert {link.b[0]: link.queue_capacity_pkts for link in topology.links} == {"h": 77, "a": 9}
    assert len(topology.pods) == 4, "racks, as a leaf-spine network has no pods"


@pytest.mark.parametrize(
    ("change", "line", "cause"),
    [
        (("Nodes 8", "Nodes 0"), 2, "nodes is '0'"),
        (("Nodes 8", "Nodes 8 9"), 2, "'Nodes 8 9' is not a key and its value"),
        (("Nodes 8", "Nodes 99999"), 2, "nodes is '99999'"),
        (("Nodes 8\n", ""), None, "the header has no nodes"),
        (("Tiers 3", "Tiers 4"), 3, "tiers is '4'"),
        (("Tiers 3", "Tiers 2"), 19, "there is no tier 2"),
        (("Podsize 4", "Podsize 3"), 4, "8 hosts cannot be pods of 3"),
        (("Podsize 4", "Podsize 4\nPodsize 4"), 5, "podsize is given twice"),
        (("Podsize 4", "Hosts 4"), 4, "'Hosts' is not a key of the header"),
        (("Tier 1", "Tier 0"), 12, "tier 0 is described twice"),
        (("Tier 2", "Tier 7"), 19, "tier is '7'"),
        (("Bundle 1", "Bundles 1"), 17, "'Bundles' is not a key of a tier"),
        (("Radix_Down 2\nRadix_Up 2\n", "Radix_Down 2\n"), 6, "tier 0 has no radix_up"),
        (("Radix_Down 2\nRadix_Up 2", "Radix_Down 2\nRadix_Up 1"), 9, "are not an oversubscription of 1"),
        (("Radix_Down 2\nRadix_Up 2", "Radix_Down 3\nRadix_Up 3"), 8, "top-of-rack switches in a pod is 4/3"),
        (("Radix_Down 2\nRadix_Up 4", "Radix_Down 4\nRadix_Up 4"), 9, "does not fit 1 switches above it"),
        (("Radix_Down 2\nRadix_Up 4", "Radix_Down 2\nRadix_Up 2"), 15, "does not fit 2 core switches with 2 links"),
        (("Bundle 2", "Bundle 3"), 23, "a radix of 4 in tier 2 is not a multiple of bundles of 3 links"),
        (("Downlink_Latency_ns 1000", "Bundle 2\nDownlink_Latency_ns 1000"), 10, "hosts have bundles of 2 links"),
        (("Bundle 2", "Radix_Up 2"), 23, "tier 2 has no links upwards, but radix_up"),
        (("Bundle 2", "Bundle 2\nQueue_Down 9000"), 24, "Queue_Down of tier 2 is not Queue_Up of tier 1"),
        (("Radix_Down 2\nRadix_Up 4", "Radix_Up 4"), 12, "tier 1 has no radix_down"),
    ],
)
def test_faults_are_named_by_line(change: tuple[str, str], line: int | None, cause: str) -> None:
    text = BUNDLES.replace(*change, 1)
    assert text != BUNDLES
    with pytest.raises(TopologyError) as caught:
        read_htsim_topology(text, "x.topo")
    (problem,) = caught.value.problems
    assert problem.place == ("x.topo" if line is None else f"x.topo:{line}"), str(problem)
    assert cause in problem.cause


def test_two_tiers_are_one_pod_and_limits_hold() -> None:
    with pytest.raises(TopologyError, match="32 hosts cannot be one pod of 16"):
        read_htsim_topology(LEAVES.replace("Podsize 32", "Podsize 16"))
    with pytest.raises(TopologyError, match="the limit is"):
        read_htsim_topology(" " * (1 << 17))


WORDS = ("Nodes", "Tiers", "Podsize", "Tier", "Radix_Up", "Radix_Down", "Bundle", "Oversubscribed", "Queue_Up")
NUMBERS = ("0", "1", "2", "4", "8", "16", "512", "-1", "9" * 30, "\u0661")
LINE = st.tuples(st.sampled_from(WORDS), st.sampled_from(NUMBERS))
CHANGES = st.lists(st.tuples(st.integers(1, 21), LINE.map(" ".join)), max_size=4)


@given(CHANGES)
def test_no_change_gives_anything_but_a_network_or_a_message(changes: list[tuple[int, str]]) -> None:
    lines: list[str] = [*BUNDLES.splitlines()]
    for place, line in changes:
        lines[place] = line
    with contextlib.suppress(TopologyError):
        topology = read_htsim_topology("\n".join(lines))
        assert sum(map(len, topology.pods)) == len(topology.hosts)


@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 3), st.integers(1, 3), st.integers(1, 4))
def test_a_tree_has_the_links_that_radices_say(down: int, aggs: int, bundle: int, over: int, tors: int) -> None:
    """Any leaf-spine network whose arithmetic works out has all its links, and each leaf the radix it was given."""
    up = aggs * bundle
    down *= up * over
    text = f"Nodes {tors * down}\nTiers 2\nPodsize {tors * down}\nTier 0\nDownlink_speed_Gbps 10\nRadix_Down {down}\n"
    text += f"Radix_Up {up}\nOversubscribed {down // up}\nDownlink_Latency_ns 1\nTier 1\nDownlink_speed_Gbps 10\n"
    text += f"Radix_Down {tors * bundle}\nBundle {bundle}\nDownlink_Latency_ns 1\n"
    topology = read_htsim_topology(text)
    assert all(len(topology.ports[f"tor{tor}"]) == down + up for tor in range(tors))
    assert all(len(topology.ports[f"agg{agg}"]) == tors * bundle for agg in range(aggs))
