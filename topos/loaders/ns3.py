"""Topologies in the text format of HPCC's ns-3 simulator (docs/algorithms/topologies.md#topologies, #t-hpcc).

    nodes switches links
    ids of the switches
    one link each: node node rate delay error_rate      (0 320 100Gbps 1000ns 0)

Words count, not lines, and what follows the last link is not read, as in that simulator. Node i is the host `h<i>` or
the switch `s<i>`; a switch's ports are numbered in the order of its links. The error rate is the chance that a packet
is lost.
"""

import re
from decimal import Decimal

from topos.errors import Problem, TopologyError, fail
from topos.graph import (
    MAX_DELAY_NS,
    MAX_HOSTS,
    MAX_LINKS,
    MAX_QUEUE_PKTS,
    MAX_RATE_BPS,
    MAX_SWITCHES,
    Host,
    Link,
    Roles,
    Switch,
    Topology,
)
from topos.loaders.words import Words, shown

MAX_TEXT_CHARS = 4 << 20
"""A line of 64 characters for each link that a topology may have, four times over."""

_PREFIXES = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BITS_PER_S = {f"{prefix}{unit}": Decimal(factor) for unit in ("bps", "b/s") for prefix, factor in _PREFIXES.items()}
_NANOSECONDS = {"s": Decimal(10**9), "ms": Decimal(10**6), "us": Decimal(10**3), "ns": Decimal(1)}
_QUANTITY = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,18})?)([A-Za-z/]{1,5})", re.ASCII)


def host_name(node: int) -> str:
    """Name of the host with this id."""
    return f"h{node}"


def switch_name(node: int) -> str:
    """Name of the switch with this id."""
    return f"s{node}"


def read_ns3_topology(text: str, place: str = "ns-3 topology", queue_capacity_pkts: int = MAX_QUEUE_PKTS) -> Topology:
    """The network that `text` describes; raises TopologyError with the line of the first fault.

    The format has no queue sizes: every queue gets `queue_capacity_pkts`, and the switches' buffer is the scenario's.
    """
    if len(text) > MAX_TEXT_CHARS:
        raise fail(
            place, f"the file has {len(text)} characters; the limit is {MAX_TEXT_CHARS}", "give a smaller network"
        )
    words = Words(text, lambda line, cause, remedy: fail(f"{place}:{line}", cause, remedy))
    nodes = words.whole("number of nodes", 1, MAX_HOSTS + MAX_SWITCHES)
    switch_count = words.whole("number of switches", 1, min(nodes, MAX_SWITCHES))
    link_count = words.whole("number of links", 0, MAX_LINKS)
    switches: dict[int, None] = {}
    for _ in range(switch_count):
        node = words.whole("switch", 0, nodes - 1)
        if node in switches:
            raise words.error(f"switch {node} is listed twice", "list each switch once")
        switches[node] = None
    names = [switch_name(node) if node in switches else host_name(node) for node in range(nodes)]
    links = tuple(_link(words, names, queue_capacity_pkts) for _ in range(link_count))
    hosts = tuple(Host(name=names[node]) for node in range(nodes) if node not in switches)
    everyone = tuple(host.name for host in hosts)
    try:
        return Topology(
            hosts, tuple(Switch(name=names[node]) for node in switches), links, Roles(everyone, everyone, None)
        )
    except TopologyError as error:
        problems = (Problem(f"{place}: {one.place}", one.cause, one.remedy) for one in error.problems)
        raise TopologyError(tuple(problems)) from None


def _link(words: Words, names: list[str], queue_capacity_pkts: int) -> Link:
    a, b = (names[words.whole("node", 0, len(names) - 1)] for _ in range(2))
    rate_bps = _quantity(words, "rate", _BITS_PER_S, 1, MAX_RATE_BPS)
    delay_ns = _quantity(words, "delay", _NANOSECONDS, 0, MAX_DELAY_NS)
    loss = float(words.number("error rate", 0, 1))
    if loss == 1.0:
        raise words.error("the error rate is 1", "give less than 1, or remove the link")
    return Link(
        a=a, b=b, rate_bps=rate_bps, delay_ns=delay_ns, queue_capacity_pkts=queue_capacity_pkts, loss=loss
    )  # fmt: skip


def _quantity(words: Words, what: str, units: dict[str, Decimal], least: int, most: int) -> int:
    """A number with its unit, in the base unit."""
    word = words.word(what)
    match = _QUANTITY.fullmatch(word)
    if match is None or match[2] not in units:
        raise words.error(f"the {what} is {shown(word)}", f"write a number and a unit; units: {', '.join(units)}")
    value = Decimal(match[1]) * units[match[2]]
    if value != value.to_integral_value() or not least <= value <= most:
        unit = "bit/s" if least else "ns"
        raise words.error(f"the {what} is {shown(word)}", f"give a whole number of {unit} from {least} to {most}")
    return int(value)
