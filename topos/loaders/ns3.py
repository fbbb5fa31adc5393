"""Topologies in the text formats of HPCC's ns-3 simulator and its descendants (docs/algorithms/topologies.md#t-hpcc).

    nodes switches links
    ids of the switches
    one link each: node node rate delay error_rate      (0 320 100Gbps 1000ns 0)

Beyond the first line words count, not lines, and what follows the last link is not read, as in that simulator. Node i
is the host `h<i>` or the switch `s<i>`; a switch's ports are numbered in the order of its links. The error rate is the
chance that a packet is lost. A rate without a unit is in bit/s, as in ns-3.

The first line tells two descendants apart by its number of words: ns3-datacenter (PowerTCP, ABM) has four, with
the number of top-of-rack switches in third place, which neither of us reads; SimAI has five or six, `nodes
gpus_per_server nvswitches switches links type`, and lists its NVSwitches before the other switches. NVSwitches can be
left out with their links, and then what a server's GPUs send to each other takes the network.
"""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from topos.errors import Problem, TopologyError, fail
from topos.graph import (
    MAX_DELAY_NS,
    MAX_HOSTS,
    MAX_INTERFACES,
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
_BARE_BITS_PER_S = {"": Decimal(1), **_BITS_PER_S}
_NANOSECONDS = {"s": Decimal(10**9), "ms": Decimal(10**6), "us": Decimal(10**3), "ns": Decimal(1)}
_QUANTITY = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,18})?)([A-Za-z/]{0,5})", re.ASCII)


@dataclass(frozen=True)
class _Header:
    """The counts of the first line."""

    nodes: int
    switches: int
    links: int
    nvswitches: int = 0
    """The first of the switches."""


def host_name(node: int) -> str:
    """Name of the host with this id."""
    return f"h{node}"


def switch_name(node: int) -> str:
    """Name of the switch with this id."""
    return f"s{node}"


def read_ns3_topology(
    text: str,
    place: str = "ns-3 topology",
    queue_capacity_pkts: int = MAX_QUEUE_PKTS,
    *,
    without_nvswitches: bool = False,
) -> Topology:
    """The network that `text` describes; raises TopologyError with the line of the first fault.

    The format has no queue sizes: every queue gets `queue_capacity_pkts`, and the switches' buffer is the scenario's.
    `without_nvswitches` leaves out SimAI's NVSwitches and their links.
    """
    if len(text) > MAX_TEXT_CHARS:
        raise fail(
            place, f"the file has {len(text)} characters; the limit is {MAX_TEXT_CHARS}", "give a smaller network"
        )
    words = Words(text, lambda line, cause, remedy: fail(f"{place}:{line}", cause, remedy))
    simulator, read_header = _simulator(text)
    header = read_header(words)
    nodes = header.nodes
    switches: dict[int, None] = {}
    for _ in range(header.switches):
        node = words.whole("switch", 0, nodes - 1)
        if node in switches:
            raise words.error(f"switch {node} is listed twice", "list each switch once")
        switches[node] = None
    names = [switch_name(node) if node in switches else host_name(node) for node in range(nodes)]
    placed = [(_link(words, names, queue_capacity_pkts), words.line) for _ in range(header.links)]
    hosts = tuple(Host(name=names[node]) for node in range(nodes) if node not in switches)
    if without_nvswitches:
        nvswitches = {names[node] for node in list(switches)[: header.nvswitches]}
        placed = [(link, line) for link, line in placed if not {link.a, link.b} & nvswitches]
        switches = {node: None for node in switches if names[node] not in nvswitches}
    _check_hosts(hosts, placed, (place, simulator))
    links = tuple(link for link, _ in placed)
    everyone = tuple(host.name for host in hosts)
    try:
        return Topology(
            hosts, tuple(Switch(name=names[node]) for node in switches), links, Roles(everyone, everyone, None)
        )
    except TopologyError as error:
        problems = (Problem(f"{place}: {one.place}", one.cause, one.remedy) for one in error.problems)
        raise TopologyError(tuple(problems)) from None


def _simulator(text: str) -> tuple[str, Callable[[Words], _Header]]:
    """Whose file it is by the words of its first line, and what reads its counts."""
    first = next((line for line in text.splitlines() if line.strip()), "").split()
    counts = sum(word.isascii() and word.isdigit() for word in first)
    if len(first) == counts == 4:
        return "a topology of ns3-datacenter", _ns3_datacenter_header
    if counts == 5 and len(first) in (5, 6):
        return "a topology of SimAI", _simai_header
    return "a topology of HPCC's ns-3", _hpcc_header


def _nodes(words: Words) -> int:
    return words.whole("number of nodes", 1, MAX_HOSTS + MAX_SWITCHES)


def _hpcc_header(words: Words) -> _Header:
    nodes = _nodes(words)
    switches = words.whole("number of switches", 1, min(nodes, MAX_SWITCHES))
    return _Header(nodes, switches, words.whole("number of links", 0, MAX_LINKS))


def _ns3_datacenter_header(words: Words) -> _Header:
    nodes = _nodes(words)
    switches = words.whole("number of switches", 1, min(nodes, MAX_SWITCHES))
    words.whole("number of top-of-rack switches", 0, MAX_SWITCHES)
    return _Header(nodes, switches, words.whole("number of links", 0, MAX_LINKS))


def _simai_header(words: Words) -> _Header:
    nodes = _nodes(words)
    words.whole("number of GPUs per server", 1, MAX_HOSTS)
    nvswitches = words.whole("number of NVSwitches", 0, min(nodes, MAX_SWITCHES))
    switches = words.whole("number of switches", 0, min(nodes, MAX_SWITCHES) - nvswitches)
    links = words.whole("number of links", 0, MAX_LINKS)
    if not words.next_is_whole():
        words.word("type of the GPUs")
    if nvswitches + switches == 0:
        raise words.error("the file has no switch", "give the network between the servers")
    return _Header(nodes, nvswitches + switches, links, nvswitches)


def _check_hosts(hosts: tuple[Host, ...], links: list[tuple[Link, int]], origin: tuple[str, str]) -> None:
    """One error for all hosts whose number of links cannot be: the whole network is of another kind.

    Links come with their lines; `origin` is the file and whose it is.
    """
    degree = Counter(end for link, _ in links for end in (link.a, link.b))
    wrong = [host.name for host in hosts if not 1 <= degree[host.name] <= MAX_INTERFACES]
    if not wrong:
        return
    others = f"; {len(wrong)} hosts have none or too many" if wrong[1:] else ""
    place, simulator = origin
    lines = [line for link, line in links if wrong[0] in (link.a, link.b)]
    raise fail(
        f"{place}:{lines[MAX_INTERFACES]}" if lines else place,
        f"{wrong[0]!r} has {degree[wrong[0]]} links{others} ({simulator})",
        f"a host has 1 to {MAX_INTERFACES} links, to switches",
    )


def _link(words: Words, names: list[str], queue_capacity_pkts: int) -> Link:
    a, b = (names[words.whole("node", 0, len(names) - 1)] for _ in range(2))
    rate_bps = _quantity(words, "rate", _BARE_BITS_PER_S, 1, MAX_RATE_BPS)
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
        raise words.error(
            f"the {what} is {shown(word)}", f"write a number and a unit; units: {', '.join(filter(None, units))}"
        )
    value = Decimal(match[1]) * units[match[2]]
    if value != value.to_integral_value() or not least <= value <= most:
        unit = "bit/s" if least else "ns"
        raise words.error(f"the {what} is {shown(word)}", f"give a whole number of {unit} from {least} to {most}")
    return int(value)
