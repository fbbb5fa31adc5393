"""The desired state: routes, groups, thresholds and codepoints of each switch, and the warnings of each port."""

from dataclasses import replace

import pytest

from controller import (
    EcnSettings,
    KRule,
    PlannerError,
    Profile,
    ThresholdRule,
    Thresholds,
    port_warnings,
    same_thresholds,
    thresholds_by_rule,
)
from controller.entities import (
    ActionCall,
    Entity,
    Entry,
    EntryKey,
    Exact,
    Group,
    GroupRef,
    Lpm,
    Member,
    MemberRef,
)
from controller.plan import SwitchProgram, level_cells
from controller.route_table import said_routes
from tests.controller import own_program as program
from tests.controller.planned import planned, roles
from topos import (
    Topology,
    TopologyError,
    format_ipv4,
    format_mac,
    generate,
    plan_addresses,
    topology_from_plain,
)

K33 = Thresholds(33, 65)


def leaf_spine() -> Topology:
    """Two leaves with two hosts each under three spines."""
    common = {"rate_bps": 10**10, "delay_ns": 1000, "queue_capacity_pkts": 150}
    pairs = [("h1", "a"), ("h2", "a"), ("h3", "b"), ("h4", "b")]
    pairs += [(leaf, spine) for leaf in "ab" for spine in ("p1", "p2", "p3")]
    return topology_from_plain(
        {
            "hosts": [{"name": f"h{index}"} for index in range(1, 5)],
            "switches": [{"name": name} for name in ("a", "b", "p1", "p2", "p3")],
            "links": [{"a": a, "b": b} | common for a, b in pairs],
        }
    )


def of_table(entities: tuple[Entity, ...], table: str) -> list[Entry]:
    return [entity for entity in entities if isinstance(entity, Entry) and entity.key.table == table]


def test_a_star_has_a_next_hop_a_route_and_thresholds_for_each_port() -> None:
    topology = generate("star", {"senders": 2})
    (plan,) = planned(topology, EcnSettings(Profile.GST, same_thresholds(topology, K33)))
    assert (plan.switch, plan.device_id, plan.ports) == ("s1", 1, {1: "h1", 2: "h2", 3: "aggregator"})
    members = [entity for entity in plan.entities if isinstance(entity, Member)]
    assert [member.key.member_id for member in members] == [1, 2, 3]
    assert members[2].action == ActionCall(program.SET_NEXT_HOP, (("dst_mac", 0x020000000003), ("port", 3)))
    routes = of_table(plan.entities, program.ROUTES)
    assert routes[2] == Entry(EntryKey(program.ROUTES, (Lpm(program.ROUTES_KEY, 0x0A000003, 32),)), MemberRef(3))
    assert len(routes) == 3
    thresholds = of_table(plan.entities, program.THRESHOLDS)
    assert [entry.key.match for entry in thresholds] == [(Exact("egress_port", port),) for port in (1, 2, 3)]
    assert {entry.action for entry in thresholds} == {ActionCall(program.SET_THRESHOLDS, (("k", 33), ("k_dc", 65)))}
    assert len(of_table(plan.entities, program.CODEPOINTS)) == 9
    assert not any(isinstance(entity, Group) for entity in plan.entities)
    assert plan.warnings == ()


def test_equal_paths_become_a_group_and_next_hops_are_the_neighbours() -> None:
    topology = leaf_spine()
    addresses = plan_addresses(topology)
    plans = {plan.switch: plan for plan in planned(topology, EcnSettings(Profile.SCE, {}))}
    leaf = plans["a"]
    groups = [entity for entity in leaf.entities if isinstance(entity, Group)]
    assert [(group.key.group_id, group.members) for group in groups] == [(1, ((3, 1), (4, 1), (5, 1)))]
    routes = {entry.key.match[0]: entry.action for entry in of_table(leaf.entities, program.ROUTES)}
    actions = {format_ipv4(prefix.value): action for prefix, action in routes.items() if isinstance(prefix, Lpm)}
    assert actions == {
        "10.0.0.1": MemberRef(1),
        "10.0.0.2": MemberRef(2),
        "10.0.0.3": GroupRef(1),
        "10.0.0.4": GroupRef(1),
    }
    macs = [dict(entity.action.args)["dst_mac"] for entity in leaf.entities if isinstance(entity, Member)]
    spine_ports = [addresses.port_mac(spine, 1) for spine in ("p1", "p2", "p3")]
    assert macs == [addresses.hosts["h1"].mac, addresses.hosts["h2"].mac, *spine_ports]
    assert format_mac(macs[2]) == "02:01:00:03:00:01"
    assert of_table(leaf.entities, program.THRESHOLDS) == [], "a port without thresholds never marks"


@pytest.mark.parametrize(("by_host", "entries"), [(False, (5, 4, 4)), (True, (16, 16, 16))])
def test_an_lpm_table_has_a_route_for_each_rack_and_pod(by_host: bool, entries: tuple[int, int, int]) -> None:
    # An edge: its two hosts, the other rack, pod 1, pods 2 and 3. An aggregation: two racks, then the same.
    # A core: four pods.
    topology = generate("fat_tree", {"k": 4, "addresses": "by_rack"})
    own = said_routes(roles("ecn_dual"))
    assert own is not None
    routes = SwitchProgram(roles("ecn_dual"), routes=replace(own, by_host=by_host))
    plans = planned(topology, None, program=routes)
    counted = {plan.switch: len(of_table(plan.entities, program.ROUTES)) for plan in plans}
    assert tuple(counted[name] for name in ("p1e1", "p1a1", "c1-1")) == entries


def test_the_plan_is_a_function_of_its_inputs() -> None:
    ecn = EcnSettings(Profile.GST, same_thresholds(leaf_spine(), K33))
    assert planned(leaf_spine(), ecn) == planned(leaf_spine(), ecn)


def test_marks_that_vanish_are_planned_with_a_warning_for_each_port() -> None:
    topology = generate("star", {"senders": 1, "queue_capacity_pkts": 150})
    (plan,) = planned(topology, EcnSettings(Profile.GST, same_thresholds(topology, Thresholds(150, 150))))
    assert len(of_table(plan.entities, program.THRESHOLDS)) == 2
    assert [warning.place.split(":")[1] for warning in plan.warnings] == ["1 to h1", "2 to aggregator"]
    assert all("no packet is ever marked" in warning.text for warning in plan.warnings)


@pytest.mark.parametrize(("senders", "named"), [(1, "to h1, port"), (26, "to h2 and 25 other ports: ")])
def test_a_warning_about_many_ports_is_one_line(senders: int, named: str) -> None:
    topology = generate("star", {"senders": senders, "queue_capacity_pkts": 150})
    plans = planned(topology, EcnSettings(Profile.GST, same_thresholds(topology, Thresholds(150, 150))))
    (line,) = port_warnings(plans)
    assert named in line
    assert line.endswith("no packet is ever marked, and senders grow until the queue overflows")


def test_a_port_that_does_not_exist_is_refused() -> None:
    with pytest.raises(TopologyError, match="no link leads to 'h9'"):
        planned(generate("star", {"senders": 1}), EcnSettings(Profile.GST, {("s1", "h9"): K33}))


@pytest.mark.parametrize(("buffer_pkts", "k"), [(100, 8), (150, 33)])
def test_the_rule_gives_the_papers_thresholds_at_every_port(buffer_pkts: int, k: int) -> None:
    topology = generate("star", {"senders": 3, "queue_capacity_pkts": buffer_pkts})
    found = thresholds_by_rule(topology, ThresholdRule(KRule.HALVE_ONCE, rtt_ns=100_000), packet_bytes=1500)
    assert found == same_thresholds(topology, Thresholds(k, 65))


def test_each_port_is_planned_with_its_own_link() -> None:
    topology = generate("dumbbell", {"pairs": 1, "bottleneck_rate_bps": 10**9, "queue_capacity_pkts": 150})
    found = thresholds_by_rule(topology, ThresholdRule(KRule.HALVE_ONCE, rtt_ns=100_000), packet_bytes=1500)
    assert found["s1", "l1"].k_pkts == 33
    assert found["s1", "s2"].k_pkts == found["s2", "s1"].k_pkts == 70


def test_what_is_not_given_follows_from_the_network() -> None:
    """Leaves at 10 Gb/s, spines at 40: K_dc by rate, and the network's own round-trip time."""
    shape = {"leaves": 2, "spines": 2, "hosts_per_leaf": 2, "queue_capacity_pkts": 1000}
    found = thresholds_by_rule(generate("leaf_spine", shape), ThresholdRule(), packet_bytes=1500)
    assert found["leaf1", "h1"] == Thresholds(25, 65)
    assert found["leaf1", "spine1"] == found["spine2", "leaf2"] == Thresholds(100, 260)


def test_a_port_for_which_the_rule_has_no_answer_is_named() -> None:
    topology = generate("star", {"senders": 1, "queue_capacity_pkts": 50})
    with pytest.raises(PlannerError, match=r"port s1:1 to h1: buffer_pkts: k_rule halve_once gives K = -16\.7"):
        thresholds_by_rule(topology, ThresholdRule(KRule.HALVE_ONCE, rtt_ns=100_000), packet_bytes=1500)


def test_counter_cells_are_port_and_level_side_by_side() -> None:
    assert level_cells([1, 5]) == {4: (1, 0), 5: (1, 1), 6: (1, 2), 20: (5, 0), 21: (5, 1), 22: (5, 2)}


def test_switches_with_a_choice_get_seeds_of_their_own() -> None:
    """docs/algorithms/README.md#p4-needs, docs/algorithms/topologies.md#topologies:
    the hash is seeded by switch; a switch without a choice needs no seed."""
    plans = planned(leaf_spine(), EcnSettings(Profile.GST, {}))
    seeds = {plan.switch: of_table(plan.entities, program.ECMP_SEEDS) for plan in plans}
    assert {switch: len(entries) for switch, entries in seeds.items()} == {"a": 1, "b": 1, "p1": 0, "p2": 0, "p3": 0}
    factors = [seeds[leaf][0].action for leaf in "ab"]
    assert factors[0] != factors[1]
    others = planned(leaf_spine(), EcnSettings(Profile.GST, {}), ecmp_seed=1)
    assert of_table(others[0].entities, program.ECMP_SEEDS)[0].action not in factors
