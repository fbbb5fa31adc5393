"""Addresses and routes: the fixed plan, shortest paths only, every equal path, and an independent check by search."""

from collections.abc import Iterable
from itertools import permutations
from math import gcd
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topos import (
    Host,
    Link,
    Switch,
    Topology,
    TopologyError,
    format_ipv4,
    format_mac,
    generate,
    plan_addresses,
    topology_from_plain,
)
from topos.routes import MAX_WEIGHTS, shortest_routes, weights_of


def build(hosts: dict[str, str], switch_links: Iterable[tuple[str, str]], switches: Iterable[str]) -> Topology:
    """Hosts by the switch they hang on, and links among switches; all links alike."""

    def link(a: str, b: str) -> Link:
        return Link(a=a, b=b, rate_bps=10**9, delay_ns=1000, queue_capacity_pkts=100)

    links = (*(link(host, switch) for host, switch in hosts.items()), *(link(a, b) for a, b in switch_links))
    return Topology(tuple(Host(name=name) for name in hosts), tuple(Switch(name=name) for name in switches), links)


def test_addresses_follow_from_the_order() -> None:
    plan = plan_addresses(generate("dumbbell", {"pairs": 2}))
    assert [format_ipv4(host.ipv4) for host in plan.hosts.values()] == ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"]
    assert format_mac(plan.hosts["l1"].mac) == "02:00:00:00:00:01"
    assert format_mac(plan.hosts["l2"].gateway_mac) == "02:01:00:01:00:02"
    assert format_mac(plan.hosts["r1"].gateway_mac) == "02:01:00:02:00:02"
    assert plan.device_ids == {"s1": 1, "s2": 2}
    with pytest.raises(TopologyError, match="is not part of this address plan"):
        plan.port_mac("s3", 1)


def test_no_two_interfaces_share_an_address() -> None:
    topology = generate("star", {"senders": 400})
    plan = plan_addresses(topology)
    macs = [host.mac for host in plan.hosts.values()]
    macs += [plan.port_mac("s1", port.number) for port in topology.ports["s1"]]
    assert len(set(macs)) == len(macs)
    assert len({host.ipv4 for host in plan.hosts.values()}) == 401
    assert all(mac >> 40 & 3 == 2 for mac in macs), "locally administered unicast"


def test_star_routes_lead_to_each_host() -> None:
    topology = generate("star", {"senders": 3})
    assert shortest_routes(topology) == {"s1": {"h1": (1,), "h2": (2,), "h3": (3,), "aggregator": (4,)}}


def test_equal_paths_form_a_set_and_longer_ones_do_not() -> None:
    spines = ["p1", "p2", "p3"]
    links = [(leaf, spine) for spine in spines for leaf in ("a", "b")] + [("a", "x"), ("x", "y"), ("y", "b")]
    routes = shortest_routes(build({"h1": "a", "h2": "b"}, links, ["a", "b", *spines, "x", "y"]))
    assert routes["a"] == {"h1": (1,), "h2": (2, 3, 4)}
    assert routes["p2"] == {"h1": (1,), "h2": (2,)}
    # From x to b: two links by y, three by a.
    assert routes["x"] == {"h1": (1,), "h2": (2,)}


def test_one_way_links_are_used_in_their_direction_only() -> None:
    wire: dict[str, Any] = {"rate_bps": 1_000_000, "delay_ns": 0, "queue_capacity_pkts": 9}
    ends = [("h1", "a", False), ("h2", "b", False), ("h3", "c", False), ("a", "b", True), ("b", "c", True)]
    plain = {
        "hosts": [{"name": name} for name in ("h1", "h2", "h3")],
        "switches": [{"name": name} for name in ("a", "b", "c")],
        "links": [{"a": a, "b": b, "one_way": one, **wire} for a, b, one in [*ends, ("c", "a", True)]],
    }
    # Around the ring: a's port 2 leads to b, its port 3 from c.
    ring = {"a": {"h1": (1,), "h2": (2,), "h3": (2,)}, "b": {"h1": (3,), "h2": (1,), "h3": (3,)}}
    routes = shortest_routes(topology_from_plain(plain))
    assert {name: routes[name] for name in ("a", "b")} == ring
    with pytest.raises(TopologyError) as caught:
        shortest_routes(topology_from_plain({**plain, "links": plain["links"][:-1]}))
    (problem,) = caught.value.problems
    more = "nor do 2 other pairs of a switch and a host have a path"
    assert (problem.place, problem.cause) == ("switch 'b'", f"cannot reach host 'h1', {more}")


def test_paths_never_lead_through_a_host() -> None:
    with pytest.raises(TopologyError) as caught:
        shortest_routes(build({"h1": "a", "h2": "b"}, [], ["a", "b"]))
    assert [problem.place for problem in caught.value.problems] == ["switch 'b'"]
    assert "cannot reach host 'h1'" in str(caught.value)


@st.composite
def connected(draw: st.DrawFn) -> Topology:
    """A connected network of up to eight switches and four hosts."""
    count = draw(st.integers(1, 8))
    names = [f"s{index}" for index in range(count)]
    tree = [(names[draw(st.integers(0, index - 1))], names[index]) for index in range(1, count)]
    rest = [(a, b) for at, a in enumerate(names) for b in names[at + 1 :] if (a, b) not in tree]
    extra = draw(st.lists(st.sampled_from(rest), unique=True)) if rest else []
    homes = draw(st.lists(st.sampled_from(names), min_size=1, max_size=4))
    return build({f"h{index}": home for index, home in enumerate(homes)}, [*tree, *extra], names)


def all_distances(topology: Topology) -> dict[tuple[str, str], float]:
    """Links between all pairs of switches, by Floyd and Warshall: an oracle that shares nothing with the search."""
    names = topology.switch_names
    far = {(a, b): 0.0 if a == b else float("inf") for a in names for b in names}
    for link in topology.links:
        if link.a in names and link.b in names:
            far[link.a, link.b] = far[link.b, link.a] = 1.0
    for middle in names:
        for a in names:
            for b in names:
                far[a, b] = min(far[a, b], far[a, middle] + far[middle, b])
    return far


@given(connected())
def test_routes_hold_exactly_the_ports_on_shortest_paths(topology: Topology) -> None:
    far = all_distances(topology)
    routes = shortest_routes(topology)
    for switch in topology.switch_names:
        assert tuple(routes[switch]) == topology.host_names
        for host, (home, home_port) in topology.attachments.items():
            nearer = tuple(
                port.number
                for port in topology.ports[switch]
                if port.peer in topology.ports and far[port.peer, home] == far[switch, home] - 1
            )
            assert routes[switch][host] == ((home_port.number,) if switch == home else nearer)


def _uneven(rates_bps: dict[tuple[str, str], int]) -> Topology:
    """Two leaves with a host each, spines `t1` and `t2`; links of 10 Gb/s but for those given."""
    fabric = [("h1", "s1"), ("h2", "s2"), *((leaf, spine) for leaf in ("s1", "s2") for spine in ("t1", "t2"))]
    links = [
        Link(a=a, b=b, rate_bps=rates_bps.get((a, b), 10**10), delay_ns=1000, queue_capacity_pkts=100)
        for a, b in fabric
    ]
    nodes = tuple(Switch(name=name) for name in ("s1", "s2", "t1", "t2"))
    return Topology((Host(name="h1"), Host(name="h2")), nodes, tuple(links))


@pytest.mark.parametrize(
    ("rates_bps", "ports"),
    [
        ({}, (2, 3)),
        # The far half of a path is slow: only its capacity tells.
        ({("s2", "t1"): 2_500_000_000}, (2, 3, 3, 3, 3)),
        ({("s1", "t2"): 40_000_000_000, ("s2", "t2"): 30_000_000_000}, (2, 3, 3, 3)),
        # Shares that need more than 32 entries are rounded.
        ({("s2", "t1"): 9_999_999_967}, (*(2,) * 15, *(3,) * 16)),
        ({("s2", "t1"): 250_000_000}, (2, *(3,) * 31)),
    ],
)
def test_weights_follow_the_capacity_behind_each_port(
    rates_bps: dict[tuple[str, str], int], ports: tuple[int, ...]
) -> None:
    topology = _uneven(rates_bps)
    assert shortest_routes(topology, by_capacity=True)["s1"]["h2"] == ports
    assert shortest_routes(topology)["s1"]["h2"] == (2, 3)


@given(st.lists(st.integers(0, 10**13), min_size=1, max_size=60).filter(any))
def test_weights_are_small_and_near_their_shares(rates: list[int]) -> None:
    weights = weights_of(rates)
    assert [weight > 0 for weight in weights] == [rate > 0 for rate in rates]
    assert sum(weights) <= max(MAX_WEIGHTS, sum(rate > 0 for rate in rates))
    whole = [rate // gcd(*rates) for rate in rates]
    if sum(whole) <= MAX_WEIGHTS:
        assert weights == whole
    for one, other in permutations(zip(rates, weights, strict=True), 2):
        assert one[0] <= other[0] or one[1] >= other[1] - 1, "a faster way has no less"
