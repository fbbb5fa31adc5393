"""The graph model: what it accepts, how ports count, and that each fault names place, cause and remedy."""

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topos import Port, Topology, TopologyError, plan_addresses, shortest_routes, topology_from_plain
from topos.graph import MAX_HOSTS, MAX_PORTS_PER_SWITCH


def link(a: str, b: str, **fields: Any) -> dict[str, Any]:
    return {"a": a, "b": b, "rate_bps": 10**10, "delay_ns": 25_000, "queue_capacity_pkts": 150} | fields


def plain(hosts: list[str], switches: list[str], links: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "hosts": [{"name": name} for name in hosts],
        "switches": [{"name": name} for name in switches],
        "links": links,
    }


def two_hosts() -> dict[str, Any]:
    return plain(["h1", "h2"], ["s1"], [link("h1", "s1"), link("s1", "h2", loss=0.25, framing_bytes=38)])


def places(data: object) -> list[str]:
    with pytest.raises(TopologyError) as caught:
        topology_from_plain(data)
    assert all(problem.cause and problem.remedy for problem in caught.value.problems)
    return [problem.place for problem in caught.value.problems]


def test_plain_data_survives_a_round_trip() -> None:
    topology = topology_from_plain(two_hosts())
    assert topology_from_plain(topology.to_plain()) == topology
    assert topology.links[1].loss == 0.25
    assert topology.links[0].framing_bytes == 0


def test_ports_count_from_one_in_link_order() -> None:
    links = [link("s1", "s2"), link("h1", "s2"), link("h2", "s1"), link("s3", "s1")]
    topology = topology_from_plain(plain(["h1", "h2"], ["s1", "s2", "s3"], links))
    assert [(port.number, port.peer) for port in topology.ports["s1"]] == [(1, "s2"), (2, "h2"), (3, "s3")]
    assert [(port.number, port.peer) for port in topology.ports["s2"]] == [(1, "s1"), (2, "h1")]
    assert topology.attachments == {
        "h1": ("s2", Port(number=2, link_index=1, peer="h1")),
        "h2": ("s1", Port(number=2, link_index=2, peer="h2")),
    }
    assert topology.port_to("s3", "s1").number == 1
    with pytest.raises(TopologyError, match="no link leads to 'h1'"):
        topology.port_to("s1", "h1")


@pytest.mark.parametrize(
    ("field", "value", "cause"),
    [
        ("rate_bps", -1, "greater than 0"),
        ("rate_bps", 0, "greater than 0"),
        ("rate_bps", 10**14, "less than or equal"),
        ("rate_bps", "fast", "valid integer"),
        ("rate_bps", 1.5, "valid integer"),
        ("delay_ns", -5, "greater than or equal to 0"),
        ("queue_capacity_pkts", 0, "greater than 0"),
        ("queue_capacity_pkts", 1 << 19, "less than or equal"),
        ("loss", 1.0, "less than 1"),
        ("loss", -0.1, "greater than or equal to 0"),
        ("framing_bytes", 1000, "less than or equal"),
        ("a", "1h", "match pattern"),
        ("speed", 3, "extra inputs"),
    ],
)
def test_a_bad_field_is_named_with_its_place(field: str, value: object, cause: str) -> None:
    data = two_hosts()
    data["links"][1][field] = value
    with pytest.raises(TopologyError) as caught:
        topology_from_plain(data)
    assert str(caught.value).startswith(f"topology: links[1].{field}: ")
    assert cause in str(caught.value)


def test_a_missing_field_is_named() -> None:
    data = two_hosts()
    del data["links"][0]["rate_bps"]
    del data["switches"]
    assert sorted(places(data)) == ["links[0].rate_bps", "switches"]


@pytest.mark.parametrize("data", [None, [], "star", 3, {"hosts": 1, "switches": [], "links": []}])
def test_what_is_no_description_is_refused(data: object) -> None:
    assert places(data)


@pytest.mark.parametrize(
    ("hosts", "switches", "links", "place", "cause"),
    [
        (["h1"], [], [], "switches", "the list is empty"),
        (["h1", "h1"], ["s1"], [link("h1", "s1")], "hosts[1].name", "already the name of hosts[0]"),
        (["x"], ["x"], [link("x", "x")], "switches[0].name", "already the name of hosts[0]"),
        (["h1"], ["s1"], [link("h1", "s9")], "links[0].b", "there is no host or switch 's9'"),
        (["h1"], ["s1"], [link("s1", "s1")], "links[0]", "to itself"),
        (["h1", "h2"], ["s1"], [link("h1", "h2")], "links[0]", "directly"),
        (["h1"], ["s1"], [link("h1", "s1")] * 65, "hosts[0]", "'h1' has 65 links"),
        (["h1", "h2"], ["s1"], [link("h1", "s1")], "hosts[1]", "has 0 links"),
    ],
)
def test_a_fault_of_the_graph_is_named(
    hosts: list[str], switches: list[str], links: list[dict[str, Any]], place: str, cause: str
) -> None:
    with pytest.raises(TopologyError) as caught:
        topology_from_plain(plain(hosts, switches, links))
    found = [problem for problem in caught.value.problems if problem.place == place]
    assert len(found) == 1
    assert cause in found[0].cause


def test_all_faults_are_reported_together() -> None:
    links = [link("h1", "s9"), link("h8", "s1"), link("s1", "s1")]
    assert places(plain(["h1", "h1"], ["s1"], links)) == ["hosts[1].name", "links[0].b", "links[1].a", "links[2]"]


def test_counts_are_bounded() -> None:
    many = [f"h{index}" for index in range(MAX_HOSTS + 1)]
    assert "hosts" in places(plain(many, ["s1"], []))
    crowd = many[: MAX_PORTS_PER_SWITCH + 1]
    assert places(plain(crowd, ["s1"], [link(name, "s1") for name in crowd])) == ["switches[0]"]
    fits = crowd[:-1]
    topology = topology_from_plain(plain(fits, ["s1"], [link(name, "s1") for name in fits]))
    assert topology.ports["s1"][-1].number == MAX_PORTS_PER_SWITCH


def test_a_long_value_does_not_swamp_the_message() -> None:
    data = two_hosts()
    data["hosts"][0]["name"] = "x" * 10_000
    with pytest.raises(TopologyError) as caught:
        topology_from_plain(data)
    assert len(str(caught.value)) < 600


def test_a_topology_cannot_be_built_wrong_in_code_either() -> None:
    good = topology_from_plain(two_hosts())
    with pytest.raises(TopologyError, match="there is no host or switch 'h2'"):
        Topology(good.hosts[:1], good.switches, good.links)


SCALARS = st.none() | st.booleans() | st.integers(-3, 5) | st.floats() | st.sampled_from(["h1", "s1", "", "x y"])
LINK_FIELDS = st.sampled_from(["a", "b", "rate_bps", "delay_ns", "queue_capacity_pkts", "loss", "other"])
PARTS = st.lists(SCALARS | st.dictionaries(st.just("name") | LINK_FIELDS, SCALARS, max_size=7), max_size=4)


@given(SCALARS | st.dictionaries(st.sampled_from(["hosts", "switches", "links", "other"]), PARTS | SCALARS))
def test_no_data_at_all_raises_anything_else(data: object) -> None:
    with contextlib.suppress(TopologyError):
        topology = topology_from_plain(data)
        assert topology_from_plain(topology.to_plain()) == topology


def test_ports_that_are_given_stand_and_others_take_the_lowest_left() -> None:
    links = [link("h1", "s1"), link("s1", "h2", a_port=1), link("h3", "s1", b_port=3), link("h4", "s1")]
    topology = topology_from_plain(plain(["h1", "h2", "h3", "h4"], ["s1"], links))
    assert [(port.number, port.peer) for port in topology.ports["s1"]] == [(1, "h2"), (2, "h1"), (3, "h3"), (4, "h4")]
    assert topology.port("s1", 3).peer == "h3"
    assert topology_from_plain(topology.to_plain()) == topology


def test_faults_of_ports_and_addresses_are_named() -> None:
    ends = [link("h1", "s1", b_port=4), link("s1", "h2", a_port=4), link("h3", "s1", a_port=1)]
    assert places(plain(["h1", "h2", "h3"], ["s1"], ends)) == ["links[1].a_port", "links[2].a_port"]
    data = two_hosts()
    data["hosts"] = [
        {"name": "h1", "ipv4": "10.0.0.9/24", "mac": "08:00:00:00:00:01"},
        {"name": "h2", "ipv4": "10.0.0.9", "mac": "08:00:00:00:00:01"},
    ]
    assert places(data) == ["hosts[1].ipv4", "hosts[1].mac"]
    data["hosts"] = [{"name": "h1", "ipv4": "10.0.0.900"}, {"name": "h2", "mac": "h2"}]
    assert places(data) == ["hosts[1].mac"]
    data["hosts"] = [{"name": "h1", "ipv4": "10.0.0.900"}, {"name": "h2"}]
    assert places(data) == ["hosts[0].ipv4"]


def test_an_address_that_is_given_may_not_be_a_planned_one() -> None:
    data = two_hosts()
    data["hosts"][0]["ipv4"] = "10.0.0.2/8"
    with pytest.raises(TopologyError, match="give every host its ipv4"):
        plan_addresses(topology_from_plain(data))


def test_parallel_links_have_ports_of_their_own() -> None:
    links = [link("h1", "s1"), link("s1", "s2"), link("s2", "s1", b_port=7), link("s2", "h2"), link("s1", "s3")]
    topology = topology_from_plain(plain(["h1", "h2"], ["s1", "s2", "s3"], links))
    assert topology.port_numbers == ((None, 1), (2, 1), (2, 7), (3, None), (3, 1))
    named = [(port.number, topology.far_end("s1", port)) for port in topology.ports["s1"]]
    assert named == [(1, "h1"), (2, "s2:1"), (3, "s3"), (7, "s2:2")]
    assert shortest_routes(topology)["s1"]["h2"] == (2, 7)
    assert topology.port_to("s1", "s2").number == 2, "the lowest"


@pytest.mark.parametrize(
    ("second", "differs"),
    [(link("s2", "s1", rate_bps=10**9), "rate_bps"), (link("s2", "s1", one_way=True), "direction")],
)
def test_parallel_links_are_of_one_kind(second: dict[str, Any], differs: str) -> None:
    links = [link("h1", "s1"), link("s1", "s2"), second]
    with pytest.raises(TopologyError, match=f"already connects 's2' and 's1', with another {differs}"):
        topology_from_plain(plain(["h1"], ["s1", "s2"], links))
