"""The longest path of all pairs at once, against a walk along each."""

from dataclasses import replace
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from tests.topos.test_routes import build, connected
from topos import Paths, Roles, Topology

links = st.tuples(st.integers(0, 5_000), st.sampled_from([10**9, 10**10, 3 * 10**10]))


@st.composite
def uneven(draw: st.DrawFn) -> Topology:
    """A connected network whose links differ, and of whose hosts some send and some receive."""
    network = draw(connected())
    changed = [draw(links) for _ in network.links]
    names = network.host_names
    some = st.lists(st.sampled_from(names), unique=True).map(tuple)
    roles = Roles(senders=draw(some), receivers=draw(some))
    parts = (
        link.model_copy(update={"delay_ns": delay_ns, "rate_bps": rate_bps})
        for link, (delay_ns, rate_bps) in zip(network.links, changed, strict=True)
    )
    return replace(network, links=tuple(parts), roles=roles)


@given(uneven(), st.integers(0, 9_000))
def test_it_is_that_of_a_walk_along_each_path(network: Topology, packet_bytes: int) -> None:
    paths = Paths(network)
    senders = network.roles.senders or network.host_names
    receivers = network.roles.receivers or network.host_names
    walks = [paths.between(a, b) for a, b in product(senders, receivers) if a != b]
    assert paths.longest_rtt_ns(packet_bytes) == max((walk.rtt_ns(packet_bytes) for walk in walks), default=0)
    assert paths.most_switches() == max((len(walk.links) - 1 for walk in walks), default=0)


def test_no_two_hosts_talk() -> None:
    alone = build({"h1": "a"}, [], ["a"])
    assert (Paths(alone).longest_rtt_ns(), Paths(alone).most_switches()) == (0, 0)
