"""Hosts with several links: addresses, routes to and from them, and what paths are like."""

import pytest

from topos import (
    LeafSpineParams,
    Link,
    Paths,
    RailParams,
    Topology,
    TopologyError,
    generate,
    plan_addresses,
    shortest_routes,
    topology_from_plain,
)
from topos.host_ways import HostWays, Way


def dual_tor(leaves: int = 4, hosts: int = 2) -> Topology:
    """Two racks of two leaves each."""
    params = LeafSpineParams(leaves=leaves, spines=2, hosts_per_leaf=hosts, dual_tor=True)
    return generate("leaf_spine", params.model_dump())


def rails(servers: int = 2) -> Topology:
    """Servers of four GPUs with a switch each, and two spines."""
    params = RailParams(units=1, servers_per_unit=servers, rails=4, spines=2, nvswitch_rate_bps=3_600_000_000_000)
    return generate("rail", params.model_dump())


def link(a: str, b: str, rate_bps: int = 10**9) -> dict[str, object]:
    return {"a": a, "b": b, "rate_bps": rate_bps, "delay_ns": 1_000, "queue_capacity_pkts": 100}


def custom(hosts: list[str], switches: list[str], links: list[dict[str, object]]) -> Topology:
    return topology_from_plain(
        {"hosts": [{"name": name} for name in hosts], "switches": [{"name": name} for name in switches], "links": links}
    )


def peers(topology: Topology, switch: str, ports: tuple[int, ...]) -> list[str]:
    return [topology.port(switch, port).peer for port in ports]


def test_both_leaves_of_a_host_have_it_and_spines_choose_between_them() -> None:
    topology = dual_tor()
    assert [switch for switch, _ in topology.interfaces["h3"]] == ["leaf3", "leaf4"]
    routes = shortest_routes(topology)
    assert peers(topology, "leaf3", routes["leaf3"]["h3"]) == ["h3"]
    assert peers(topology, "leaf4", routes["leaf4"]["h3"]) == ["h3"]
    assert peers(topology, "spine1", routes["spine1"]["h3"]) == ["leaf3", "leaf4"]
    assert peers(topology, "leaf1", routes["leaf1"]["h3"]) == ["spine1", "spine2"]


def test_a_host_has_one_address_and_a_gateway_at_each_link() -> None:
    topology = dual_tor()
    plan = plan_addresses(topology)
    host = plan.hosts["h1"]
    ports = {switch: port.number for switch, port in topology.interfaces["h1"]}
    assert host.gateway_mac == plan.port_mac("leaf1", ports["leaf1"])
    assert host.further_macs == (plan.port_mac("leaf2", ports["leaf2"]),)


def test_a_gpu_reaches_its_server_over_the_servers_switch_and_others_over_its_rail() -> None:
    topology = rails()
    ways = HostWays(topology)
    # Link 0 leads to the rail switch, link 1 to the server's. Over the rail, a neighbour is
    # three switches away.
    assert list(ways.of("h1")) == [Way(((1,), (0,)), ("h2", "h3", "h4")), Way(((0,),), ())]
    assert ways.groups("h1", "h6") == ((0,),)
    assert ways.rate_bps("h1") == 400_000_000_000
    routes = shortest_routes(topology)
    assert routes["nv1"]["h5"] == ()
    assert peers(topology, "nv1", routes["nv1"]["h2"]) == ["h2"]
    assert peers(topology, "u1r1", routes["u1r1"]["h2"]) == ["spine1", "spine2"]
    assert peers(topology, "u1r1", routes["u1r1"]["h5"]) == ["h5"]


@pytest.mark.parametrize("topology", [dual_tor(), rails(), rails(6)], ids=("dual ToR", "rails", "more rails"))
def test_ways_are_those_of_the_pairs_one_by_one(topology: Topology) -> None:
    ways = HostWays(topology)
    for src in topology.host_names:
        by_groups: dict[tuple[tuple[int, ...], ...], list[str]] = {}
        for dst in topology.host_names:
            if dst != src:
                by_groups.setdefault(ways.groups(src, dst), []).append(dst)
        usual = max(by_groups, key=lambda groups: len(by_groups[groups]))
        named = [Way(groups, tuple(hosts)) for groups, hosts in by_groups.items() if groups != usual]
        assert list(ways.of(src)) == [*named, Way(usual, ())]


def test_paths_take_the_link_that_leads_there() -> None:
    paths = Paths(rails())

    def route(src: str, dst: str) -> list[tuple[str, str]]:
        return [(one.a, one.b) for one in paths.between(src, dst).links]

    assert route("h1", "h2") == [("h1", "nv1"), ("h2", "nv1")]
    assert route("h1", "h5") == [("h1", "u1r1"), ("h5", "u1r1")]
    # 2 x 25 ns both ways, and 1,000 B twice at 3.6 Tb/s.
    assert paths.between("h1", "h2").rtt_ns(900) == 4 * 25 + 2 * 2
    # 2 x (100 + 500 + 500 + 100) ns and 1,000 B four times at 400 Gb/s: no two hosts are further apart.
    assert paths.longest_rtt_ns(1_000) == 2_400 + 4 * 20
    assert paths.most_switches() == 3


def test_the_fastest_of_a_hosts_links_counts_for_an_ideal_time() -> None:
    topology = custom(
        ["h1", "h2"],
        ["a", "b"],
        [link("h1", "a"), link("h1", "b", 4 * 10**9), link("h2", "a", 2 * 10**9), link("h2", "b", 8 * 10**9)],
    )
    rates = {path.rate_bps for path in Paths(topology).ways("h1", "h2")}
    assert rates == {10**9, 4 * 10**9}


def test_parallel_links_to_one_switch_are_routes_of_two_ports() -> None:
    topology = custom(["h1", "h2"], ["s1"], [link("h1", "s1"), link("h1", "s1"), link("h2", "s1")])
    assert shortest_routes(topology)["s1"]["h1"] == (1, 2)
    assert list(HostWays(topology).of("h1")) == [Way(((0, 1),), ())]
    assert HostWays(topology).rate_bps("h1") == 2 * 10**9


def test_longest_round_trips_are_those_of_the_pairs_one_by_one() -> None:
    for topology in (dual_tor(), rails(3)):
        paths = Paths(topology)
        names = topology.host_names
        slow = max(paths.between(src, dst).rtt_ns(1_500) for src in names for dst in names if src != dst)
        assert paths.longest_rtt_ns(1_500) == slow


def test_hosts_that_no_links_of_another_lead_to_are_named() -> None:
    links = [link("h1", "a"), link("h1", "b"), link("h2", "a"), link("h3", "b")]
    with pytest.raises(TopologyError, match=r"'h2'.*cannot reach host 'h3'"):
        shortest_routes(custom(["h1", "h2", "h3"], ["a", "b"], links))


def test_ports_and_links_stay_as_they_were_without_second_links() -> None:
    plain = generate("leaf_spine", LeafSpineParams(leaves=2, spines=2, hosts_per_leaf=2).model_dump())
    assert not plain.has_several_links
    assert all(isinstance(one, Link) for one in plain.links)
    assert {host: ends[0] for host, ends in plain.interfaces.items()} == plain.attachments
