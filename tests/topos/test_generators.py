"""Generators: the numbers of T-incast, the dumbbell, and clear refusal of bad parameters.

Source: docs/algorithms/topologies.md#topologies.
"""

from collections import Counter
from typing import Any

import pytest

from topos import (
    GENERATORS,
    LinkChange,
    Paths,
    Topology,
    TopologyError,
    change_links,
    format_ipv4,
    generate,
    plan_addresses,
)


def test_star_is_the_incast_topology_of_the_paper() -> None:
    topology = generate("star", {"senders": 25, "queue_capacity_pkts": 100})
    assert topology.host_names == (*(f"h{index}" for index in range(1, 26)), "aggregator")
    assert topology.switch_names == ("s1",)
    assert topology.attachments["aggregator"][1].number == 26
    assert {link.rate_bps for link in topology.links} == {10_000_000_000}
    assert {link.queue_capacity_pkts for link in topology.links} == {100}
    # Sender to aggregator and back crosses four links: 100 us in total.
    assert 4 * topology.links[0].delay_ns == 100_000


def test_dumbbell_has_one_bottleneck_between_two_rows() -> None:
    topology = generate("dumbbell", {"pairs": 3, "bottleneck_rate_bps": 10**9, "rtt_ns": 60_000})
    port = topology.port_to("s1", "s2")
    assert port.number == 4
    assert topology.links[port.link_index].rate_bps == 10**9
    assert [topology.attachments[host][1].number for host in ("l1", "l3", "r1", "r3")] == [1, 3, 2, 4]
    assert 6 * topology.links[0].delay_ns == 60_000


def rtt_ns(topology: Topology, src: str, dst: str) -> int:
    """Base round-trip time between two hosts."""
    return 2 * Paths(topology).between(src, dst).delay_ns


def test_pairs_of_a_dumbbell_have_round_trip_times_of_their_own() -> None:
    """T-geo of docs/algorithms/topologies.md#topologies: 560, 280 and 140 ms over one bottleneck with 50 packets."""
    rtts = [560_000_000, 280_000_000, 140_000_000]
    topology = generate("dumbbell", {"pair_rtts_ns": rtts, "queue_capacity_pkts": 50, "bottleneck_rate_bps": 10**7})
    pairs = zip(topology.roles.senders, topology.roles.receivers, strict=True)
    assert [rtt_ns(topology, src, dst) for src, dst in pairs] == rtts
    middle = topology.links[topology.port_to("s1", "s2").link_index]
    assert (middle.rate_bps, middle.queue_capacity_pkts) == (10**7, 50)
    assert Paths(topology).longest_rtt_ns() >= rtts[0]


def test_a_parking_lot_has_flows_over_all_bottlenecks_and_over_one() -> None:
    params = {"bottlenecks": 3, "cross_pairs": 2, "bottleneck_rates_bps": [3 * 10**9, 10**9, 2 * 10**9]}
    topology = generate("parking_lot", params)
    pairs = list(zip(topology.roles.senders, topology.roles.receivers, strict=True))
    assert pairs[:2] == [("l1", "r1"), ("x1-1", "y1-1")]
    lengths = [len(Paths(topology).between(src, dst).links) for src, dst in pairs]
    assert lengths == [5, *[3] * 6]
    assert Paths(topology).between("l1", "r1").rate_bps == 10**9
    assert Paths(topology).between("x3-2", "y3-2").rate_bps == 2 * 10**9


def test_a_fat_tree_has_the_numbers_of_spec_15() -> None:
    topology = generate("fat_tree", {"k": 10})
    assert (len(topology.hosts), len(topology.switches), len(topology.links)) == (250, 125, 750)
    few = generate("fat_tree", {"k": 10, "hosts": 203})
    assert len(few.hosts) == 203
    # Pods 1 to 8 are full, pod 9 has three hosts, pod 10 none.
    assert [few.attachments[host][0] for host in ("h1", "h5", "h6", "h200", "h201", "h203")] == [
        "p1e1", "p1e1", "p1e2", "p8e5", "p9e1", "p9e1",
    ]  # fmt: skip
    assert all(few.ports[f"p10e{number}"] for number in range(1, 6))
    # Same edge, same pod, other pod: 4, 8 and 12 us by propagation
    # (docs/algorithms/topologies.md#topologies adds a packet's time to each).
    assert [rtt_ns(few, "h1", other) for other in ("h2", "h6", "h26")] == [4_000, 8_000, 12_000]


def test_a_leaf_spine_joins_every_leaf_to_every_spine() -> None:
    topology = generate("leaf_spine", {"leaves": 3, "spines": 2, "hosts_per_leaf": 4})
    homes = [topology.attachments[host][0] for host in ("h1", "h4", "h5", "h12")]
    assert homes == ["leaf1", "leaf1", "leaf2", "leaf3"]
    assert all(topology.port_to(f"leaf{leaf}", f"spine{spine}") for leaf in (1, 2, 3) for spine in (1, 2))


@pytest.mark.parametrize("groups", [None, 4])
def test_a_dragonfly_joins_each_pair_of_groups_once(groups: int | None) -> None:
    topology = generate("dragonfly", {"routers": 4, "hosts_per_router": 2, "global_links": 2, "groups": groups})
    count = groups or 9
    assert (len(topology.hosts), len(topology.switches)) == (count * 8, count * 4)
    # Kim and others: the balanced network of a = 4, p = h = 2 has routers of 7 ports.
    degrees = Counter(len(ports) for ports in topology.ports.values())
    assert max(degrees) == 7
    assert degrees == ({7: 36} if groups is None else degrees)
    between = Counter(
        tuple(sorted(end.split("r")[0] for end in (link.a, link.b)))
        for link in topology.links
        if link.delay_ns == 1_000
    )
    assert set(between.values()) == {1}
    assert len(between) == count * (count - 1) // 2
    assert Paths(topology).most_switches() <= 4, "to the router with the link, over it, and to the host's"


def test_a_dragonfly_has_no_more_groups_than_links_reach() -> None:
    with pytest.raises(TopologyError, match="10 groups exceed the 9 that global links can connect"):
        generate("dragonfly", {"routers": 4, "hosts_per_router": 2, "global_links": 2, "groups": 10})


def test_cards_of_one_number_meet_at_one_switch() -> None:
    topology = generate("rail", {"units": 2, "servers_per_unit": 3, "rails": 4, "spines": 2})
    assert (len(topology.hosts), len(topology.switches)) == (24, 10)
    homes = [topology.attachments[host][0] for host in ("h1", "h2", "h5", "h9", "h12", "h13", "h24")]
    assert homes == ["u1r1", "u1r2", "u1r1", "u1r1", "u1r4", "u2r1", "u2r4"]
    assert [len(Paths(topology).between("h1", other).links) for other in ("h5", "h2", "h13")] == [2, 4, 4]


@pytest.mark.parametrize(
    ("name", "params", "expected"),
    [
        (
            "fat_tree",
            {"k": 4},
            {"h1": "10.0.0.1", "h2": "10.0.0.2", "h3": "10.0.1.1", "h5": "10.1.0.1", "h16": "10.3.1.2"},
        ),
        ("leaf_spine", {"leaves": 3, "spines": 2, "hosts_per_leaf": 4}, {"h4": "10.0.0.4", "h5": "10.1.0.1"}),
        ("rail", {"units": 2, "servers_per_unit": 3, "rails": 4, "spines": 2}, {"h2": "10.0.1.1", "h5": "10.0.0.2"}),
        # Racks of 256 hosts ask for nine bits: one each for pods and racks then, packed.
        ("leaf_spine", {"leaves": 2, "spines": 1, "hosts_per_leaf": 256}, {"h256": "10.0.1.0", "h257": "10.0.2.1"}),
    ],
)
def test_addresses_by_rack(name: str, params: dict[str, Any], expected: dict[str, str]) -> None:
    plan = plan_addresses(generate(name, {**params, "addresses": "by_rack"}))
    assert {host: format_ipv4(plan.hosts[host].ipv4) for host in expected} == expected
    assert len({host.ipv4 for host in plan.hosts.values()}) == len(plan.hosts)


def test_single_links_can_differ() -> None:
    star = generate("star", {"senders": 12})
    changes = (LinkChange(a="h1?", rate_bps=10**9), LinkChange(a="s1", b="h12", delay_ns=7, loss=0.5))
    changed = change_links(star, changes)
    assert [link.rate_bps for link in changed.links if link.a in ("h1", "h10", "h12")] == [10**10, 10**9, 10**9]
    assert (changed.links[11].delay_ns, changed.links[11].loss) == (7, 0.5)
    assert changed.roles == star.roles
    with pytest.raises(TopologyError, match=r"link_changes\[0\]: no link connects 'h99' and '\*'"):
        change_links(star, [LinkChange(a="h99", rate_bps=1)])


def test_the_same_parameters_give_the_same_network() -> None:
    assert generate("star", {"senders": 7}) == generate("star", {"senders": "7"})


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        (
            "ring",
            {},
            "there is no such generator (use one of: dragonfly, dumbbell, fat_tree, leaf_spine, parking_lot, rail, "
            "star)",
        ),
        ("star", {}, "senders: field required (add the field)"),
        ("star", {"senders": 0}, "senders: input should be greater than or equal to 1, got 0"),
        ("star", {"senders": 3, "rate_bps": -1}, "rate_bps: input should be greater than 0, got -1"),
        ("star", {"senders": 3, "rtt": 1}, "rtt: extra inputs are not permitted (remove the field"),
        ("star", {"senders": 3, "rtt_ns": 100_001}, "rtt_ns: 100001 ns cannot be split evenly over 4 link traversals"),
        ("star", {"senders": 600}, "switches[0]: 's1' has 601 links"),
        ("dumbbell", {"pairs": 1, "rtt_ns": 7}, "give a multiple of 6, such as 6 or 12"),
        ("dumbbell", {}, "pairs is missing"),
        ("dumbbell", {"pairs": 2, "pair_rtts_ns": [4]}, "pairs is 2 but pair_rtts_ns has 1 values"),
        ("dumbbell", {"rtt_ns": 6, "pair_rtts_ns": [4]}, "both rtt_ns and pair_rtts_ns are given"),
        ("dumbbell", {"pair_rtts_ns": [8, 5]}, "pair_rtts_ns[1]: 5 ns is odd"),
        ("dumbbell", {"pair_rtts_ns": [8], "bottleneck_delay_ns": 5}, "bottleneck_delay_ns: twice 5 ns exceeds"),
        ("parking_lot", {"bottlenecks": 2, "bottleneck_rates_bps": [1]}, "bottleneck_rates_bps has 1 values for 2"),
        ("fat_tree", {"k": 3}, "k is 3, but a fat-tree needs an even number"),
        ("fat_tree", {"k": 4, "hosts": 17}, "17 hosts exceed the 16"),
        ("fat_tree", {"k": 4, "hosts": 1}, "the network has only one host"),
    ],
)
def test_bad_parameters_are_refused(name: str, params: dict[str, Any], message: str) -> None:
    with pytest.raises(TopologyError) as caught:
        generate(name, params)
    assert message in str(caught.value)


def test_every_generator_is_listed_in_order() -> None:
    assert list(GENERATORS) == sorted(GENERATORS)
