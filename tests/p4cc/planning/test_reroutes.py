"""Routes after faults of a host's links: what is written over time, next to a model that searches at every instant."""

from __future__ import annotations

from collections import deque
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from p4cc.planning.reroutes import plan_reroutes
from p4cc.scenario.faults import Fault
from topos import shortest_routes, topology_from_plain

if TYPE_CHECKING:
    from topos import Topology

LAST = 60


def network() -> Topology:
    """h1 on two leaves, h2 on three with two links to one of them, h3 on one; two spines."""
    pairs = [("h1", "l1"), ("h1", "l2"), ("h2", "l1"), ("h2", "l2"), ("h2", "l2"), ("h2", "l3"), ("h3", "l3")]
    pairs += [(leaf, spine) for leaf in ("l1", "l2", "l3") for spine in ("s1", "s2")]
    links: list[dict[str, Any]] = [
        {"a": a, "b": b, "rate_bps": 10**9, "delay_ns": 1_000, "queue_capacity_pkts": 10} for a, b in pairs
    ]
    names = ("l1", "l2", "l3", "s1", "s2")
    hosts = [{"name": name} for name in ("h1", "h2", "h3")]
    return topology_from_plain({"hosts": hosts, "switches": [{"name": name} for name in names], "links": links})


TOPOLOGY = network()


def modelled(host: str, down: set[str]) -> dict[str, tuple[int, ...]]:
    """By switch the ports on a shortest path to a host without its links to some switches; none without a path."""
    far = {switch: 0 for switch, _ in TOPOLOGY.interfaces[host] if switch not in down}
    waiting = deque(far)
    while waiting:
        here = waiting.popleft()
        for port in TOPOLOGY.ports[here]:
            if port.peer in TOPOLOGY.switch_names and port.peer not in far:
                far[port.peer] = far[here] + 1
                waiting.append(port.peer)
    found: dict[str, tuple[int, ...]] = {}
    for switch, ports in TOPOLOGY.ports.items():
        if far.get(switch) == 0:
            found[switch] = tuple(port.number for port in ports if port.peer == host)
        else:
            near = far.get(switch, 0) - 1
            found[switch] = tuple(port.number for port in ports if far.get(port.peer) == near)
    return found


def known_down(faults: list[Fault], host: str, now: int) -> set[str]:
    """The switches to which a host's links are known to be down: each fault counts `reroute_ns` late."""
    down: set[str] = set()
    for fault in faults:
        assert fault.between is not None
        if host not in fault.between or fault.reroute_ns is None:
            continue
        has_ended = fault.up_ns is not None and now >= fault.up_ns + fault.reroute_ns
        if now >= fault.down_ns + fault.reroute_ns and not has_ended:
            down |= {end for end in fault.between if end != host}
    return down


def check(faults: list[Fault]) -> int:
    """Compares the routes at every instant; returns how many entries are written."""
    routes = shortest_routes(TOPOLOGY)
    written = plan_reroutes(faults, TOPOLOGY, routes, by_capacity=False, place="test")
    assert [one.at_ns for one in written] == sorted(one.at_ns for one in written)
    for host in ("h1", "h2"):
        ours = {switch: tuple(routes[switch][host]) for switch in TOPOLOGY.switch_names}
        model = modelled(host, set())
        assert ours == model
        for now in range(2 * LAST + 1):
            down = known_down(faults, host, now)
            if down < {switch for switch, _ in TOPOLOGY.interfaces[host]}:
                # Where there is no way at all, the last one is kept.
                model |= {switch: ports for switch, ports in modelled(host, down).items() if ports}
            for one in written:
                if one.host == host and one.at_ns == now:
                    assert ours[one.switch] != one.ports, "only what differs is written"
                    ours[one.switch] = tuple(one.ports)
            assert ours == model, (host, now)
    return len(written)


def fault(between: tuple[str, str], down_ns: int, up_ns: int | None, reroute_ns: int | None) -> Fault:
    return Fault.model_validate({"between": between, "down_ns": down_ns, "up_ns": up_ns, "reroute_ns": reroute_ns})


@pytest.mark.parametrize(
    "faults",
    [
        [fault(("h1", "l1"), 10, 30, 1), fault(("h1", "l2"), 20, 40, 1)],
        [fault(("h1", "l1"), 10, 50, 1), fault(("l2", "h1"), 20, 40, 1)],
        [fault(("h1", "l1"), 1, 10, 100), fault(("h1", "l2"), 20, None, 1)],
        [fault(("h2", "l2"), 1, 10, 5), fault(("h2", "l2"), 6, 20, 2)],
        [fault(("h1", "l1"), 1, 10, 1), fault(("h1", "l1"), 10, 20, 1)],
    ],
    ids=("overlap", "within", "later news of the past", "twice the same", "down again at once"),
)
def test_routes_follow_all_faults_known_by_then(faults: list[Fault]) -> None:
    assert check(faults)


def test_drawn_faults_leave_the_routes_of_the_model() -> None:
    counts: list[int] = []
    for number in range(300):
        random = Random(f"reroutes {number}")
        faults: list[Fault] = []
        for _ in range(random.randint(1, 6)):
            host = random.choice(("h1", "h2"))
            switch = random.choice(sorted({switch for switch, _ in TOPOLOGY.interfaces[host]}))
            down_ns = random.randrange(LAST - 1)
            up_ns = random.choice((None, *[random.randint(down_ns + 1, LAST)] * 4))
            reroute_ns = random.choice((None, 0, 1, 1, 7, LAST))
            faults.append(fault((host, switch), down_ns, up_ns, reroute_ns))
        counts.append(check(faults))
    assert sum(counts) > 2_000
