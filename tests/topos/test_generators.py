"""Generators: the numbers of T-incast (spec 15), the dumbbell, and clear refusal of bad parameters."""

from typing import Any

import pytest

from topos import GENERATORS, TopologyError, generate


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


def test_the_same_parameters_give_the_same_network() -> None:
    assert generate("star", {"senders": 7}) == generate("star", {"senders": "7"})


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("ring", {}, "topology 'ring': no generator has this name (use one of: dumbbell, star)"),
        ("star", {}, "senders: field required (add it)"),
        ("star", {"senders": 0}, "senders: input should be greater than or equal to 1, got 0"),
        ("star", {"senders": 3, "rate_bps": -1}, "rate_bps: input should be greater than 0, got -1"),
        ("star", {"senders": 3, "rtt": 1}, "rtt: extra inputs are not permitted (remove it"),
        ("star", {"senders": 3, "rtt_ns": 100_001}, "rtt_ns: 100001 ns cannot be split evenly over 4 link traversals"),
        ("star", {"senders": 600}, "switches[0]: 's1' has 601 links"),
        ("dumbbell", {"pairs": 1, "rtt_ns": 7}, "give a multiple of 6, such as 6 or 12"),
    ],
)
def test_bad_parameters_are_refused(name: str, params: dict[str, Any], message: str) -> None:
    with pytest.raises(TopologyError) as caught:
        generate(name, params)
    assert message in str(caught.value)


def test_every_generator_is_listed_in_order() -> None:
    assert list(GENERATORS) == sorted(GENERATORS)
