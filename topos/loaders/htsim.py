"""Fat trees in the `.topo` format of htsim (docs/algorithms/topologies.md#t-topo).

    Nodes 8            hosts
    Tiers 3            or 2: leaves and spines
    Podsize 4          hosts of a pod
    Tier 0             top-of-rack switches; 1 aggregation, 2 core
    Downlink_speed_Gbps 200
    Downlink_Latency_ns 1000
    Radix_Down 2
    Radix_Up 2
    Oversubscribed 1   Radix_Down / Radix_Up
    Bundle 1           parallel links to each switch of the tier below
    Queue_Down 132800  bytes; Queue_Up likewise
    Switch_Latency_ns 0

Counts of switches follow from speeds, radices and oversubscription by that simulator's own arithmetic, and what it
refuses is refused here. Host i is `h<i>`; switches are `tor<i>`, `agg<i>` and `core<i>` by its numbers, and a switch's
ports are in the order in which it adds them. A switch's latency is shared out to its links, half to each, so that
every path has the latencies that it passes.
"""

import re
from dataclasses import dataclass, field
from typing import NoReturn

from topos.errors import Problem, TopologyError, fail
from topos.graph import MAX_DELAY_NS, MAX_HOSTS, MAX_LINKS, MAX_QUEUE_PKTS, Host, Link, Roles, Switch, Topology
from topos.loaders.words import shown

MAX_TEXT_CHARS = 1 << 16
_MAX_GBPS = 16_000
_MAX_RADIX = 512
_WHOLE = re.compile(r"[0-9]{1,18}", re.ASCII)
_HEADER = {"nodes": (1, MAX_HOSTS), "tiers": (2, 3), "podsize": (1, MAX_HOSTS)}
_TIER = {
    "downlink_speed_gbps": (1, _MAX_GBPS),
    "downlink_latency_ns": (1, MAX_DELAY_NS // 4),
    "switch_latency_ns": (0, MAX_DELAY_NS // 4),
    "radix_down": (1, _MAX_RADIX),
    "radix_up": (1, _MAX_RADIX),
    "queue_down": (1, 1 << 40),
    "queue_up": (1, 1 << 40),
    "oversubscribed": (1, _MAX_RADIX),
    "bundle": (1, _MAX_RADIX),
}
"""Keys of a tier with the least and the largest value."""
_UPWARDS = ("radix_up", "queue_up")


@dataclass
class _File:
    """Keys of the header, and of each tier, with their lines."""

    place: str
    header: dict[str, int] = field(default_factory=dict[str, int])
    tiers: dict[int, dict[str, int]] = field(default_factory=dict[int, dict[str, int]])
    lines: dict[tuple[int | None, str], int] = field(default_factory=dict[tuple[int | None, str], int])

    def error(self, line: int | None, cause: str, remedy: str) -> NoReturn:
        """Raises the error of a line, or of the whole file."""
        raise fail(self.place if line is None else f"{self.place}:{line}", cause, remedy)

    def get(self, tier: int, key: str, default: int | None = None) -> int:
        """The value of a tier's key; raises TopologyError where there is none and no default."""
        value = self.tiers[tier].get(key, default)
        if value is None:
            self.error(self.lines[tier, "tier"], f"tier {tier} has no {key}", f"add {key} NUMBER below Tier {tier}")
        return value

    def ratio(self, above: int, below: int, what: str, tier: int, key: str) -> int:
        """`above / below`, which must be whole; raises TopologyError at a key of a tier."""
        if above % below or above == 0:
            line = self.lines.get((tier, key), self.lines[tier, "tier"])
            self.error(line, f"the number of {what} is {above}/{below}", "correct radices, speeds or oversubscription")
        return above // below


@dataclass(frozen=True)
class _Tree:
    """Numbers of switches."""

    pods: int
    tors_per_pod: int
    aggs_per_pod: int
    cores: int


def host_name(number: int) -> str:
    """Name of a host by its number in connection matrices."""
    return f"h{number}"


def read_htsim_topology(
    text: str, place: str = "htsim topology", queue_capacity_pkts: int = MAX_QUEUE_PKTS, packet_bytes: int = 4_150
) -> Topology:
    """The network that `text` describes; raises TopologyError with the line of the first fault.

    Tiers without queue sizes get `queue_capacity_pkts`, which that simulator takes from its command line (`-q`). Sizes
    in the file are in bytes and include the packet being sent; `packet_bytes` turns them into packets.
    """
    if len(text) > MAX_TEXT_CHARS:
        cause = f"the file has {len(text)} characters; the limit is {MAX_TEXT_CHARS}"
        raise fail(place, cause, "give a .topo file, which has some 30 lines")
    file = _read(text, place)
    tree = _counts(file)
    links = _links(file, tree, _Queues(file, queue_capacity_pkts, packet_bytes))
    hosts = tuple(Host(name=host_name(number)) for number in range(file.header["nodes"]))
    counts = {
        "tor": tree.pods * tree.tors_per_pod,
        "agg": tree.pods * tree.aggs_per_pod,
        "core": tree.cores,
    }
    switches = tuple(Switch(name=f"{tier}{number}") for tier, count in counts.items() for number in range(count))
    everyone = tuple(host.name for host in hosts)
    size = file.header["podsize"]
    pods = tuple(everyone[first : first + size] for first in range(0, len(everyone), size))
    # A leaf-spine network is one pod to that simulator; racks are more telling.
    roles = Roles(everyone, everyone, None, pods if file.header["tiers"] == 3 else ())
    try:
        return Topology(hosts, switches, links, roles)
    except TopologyError as error:
        problems = (Problem(f"{place}: {one.place}", one.cause, one.remedy) for one in error.problems)
        raise TopologyError(tuple(problems)) from None


def _read(text: str, place: str) -> _File:
    file = _File(place)
    tier: int | None = None
    for line, content in enumerate(text.splitlines(), start=1):
        words = content.split("#", 1)[0].split()
        if not words:
            continue
        key = words[0].lower()
        if len(words) != 2:
            file.error(line, f"{shown(' '.join(words))} is not a key and its value", "write KEY NUMBER")
        value = int(words[1]) if _WHOLE.fullmatch(words[1]) else -1
        if key == "tier":
            tier = _range(file, line, key, words[1], value, (0, 2))
            if tier in file.tiers:
                file.error(line, f"tier {tier} is described twice", "remove one of the two")
            file.tiers[tier] = {}
            file.lines[tier, key] = line
            continue
        keys, values = (_HEADER, file.header) if tier is None else (_TIER, file.tiers[tier])
        if key not in keys:
            where = "of the header" if tier is None else "of a tier"
            file.error(line, f"{shown(words[0])} is not a key {where}", f"keys: {', '.join(keys)}")
        if key in values:
            file.error(line, f"{key} is given twice", "remove one of the two")
        if tier == 2 and key in _UPWARDS:
            file.error(line, f"tier 2 has no links upwards, but {key}", f"remove {key}")
        values[key] = _range(file, line, key, words[1], value, keys[key])
        file.lines[tier, key] = line
    _check_header(file)
    return file


def _check_header(file: _File) -> None:
    """All keys of the header, as many tiers as it promises, and no uplinks from the last one."""
    for key in _HEADER:
        if key not in file.header:
            file.error(None, f"the header has no {key}", f"write {key.capitalize()} NUMBER before the first tier")
    tiers = file.header["tiers"]
    if missing := [tier for tier in range(tiers) if tier not in file.tiers]:
        file.error(file.lines[None, "tiers"], f"tier {missing[0]} is not described", f"add Tier {missing[0]}")
    if above := [tier for tier in file.tiers if tier >= tiers]:
        line = file.lines[above[0], "tier"]
        file.error(line, f"there is no tier {above[0]}: tiers are numbered from 0, and Tiers is {tiers}", "remove it")


def _range(file: _File, line: int, key: str, word: str, value: int, bounds: tuple[int, int]) -> int:
    least, most = bounds
    if not least <= value <= most:
        file.error(line, f"{key} is {shown(word)}", f"give a whole number from {least} to {most}")
    return value


def _counts(file: _File) -> _Tree:
    """Numbers of switches as `FatTreeTopology::set_custom_params` computes them; raises TopologyError."""
    nodes, tiers, podsize = (file.header[key] for key in ("nodes", "tiers", "podsize"))
    pods = nodes // podsize
    if nodes % podsize or (tiers == 2 and pods != 1):
        cause = f"{nodes} hosts cannot be {'one pod' if tiers == 2 else 'pods'} of {podsize}"
        file.error(file.lines[None, "podsize"], cause, "two tiers are one pod; with three, Podsize divides Nodes")
    if (bundle := file.get(0, "bundle", 1)) != 1:
        file.error(file.lines[0, "bundle"], f"hosts have bundles of {bundle} links", "a host has one link")
    _check_bundles(file, tiers)
    down = file.get(0, "radix_down")
    tors_per_pod = file.ratio(podsize, down, "top-of-rack switches in a pod", 0, "radix_down")
    up, oversubscribed = file.get(0, "radix_up"), file.get(0, "oversubscribed", 1)
    if down // up != oversubscribed:
        line = file.lines.get((0, "oversubscribed"), file.lines[0, "radix_up"])
        cause = f"Radix_Down {down} and Radix_Up {up} are not an oversubscription of {oversubscribed}"
        file.error(line, cause, f"write Oversubscribed {down // up}, or change the radices")
    speeds = [file.get(tier, "downlink_speed_gbps") for tier in range(tiers)]
    uplinks = file.ratio(nodes * speeds[0], speeds[1] * oversubscribed, "links of tier 0 upwards", 0, "oversubscribed")
    agg_down = file.get(1, "radix_down")
    aggs_per_pod = file.ratio(uplinks, pods * agg_down, "aggregation switches in a pod", 1, "radix_down")
    if (needed := aggs_per_pod * file.get(1, "bundle", 1)) != up:
        links = f"{aggs_per_pod} switches above it with {needed // aggs_per_pod} links each"
        cause = f"Radix_Up {up} of tier 0 does not fit {links}"
        file.error(file.lines[0, "radix_up"], cause, "correct Radix_Up, or Bundle and Radix_Down of tier 1")
    cores = _cores(file, uplinks, speeds, aggs_per_pod) if tiers == 3 else 0
    return _Tree(pods, tors_per_pod, aggs_per_pod, cores)


def _cores(file: _File, tor_uplinks: int, speeds: list[int], aggs_per_pod: int) -> int:
    oversubscribed = file.get(1, "oversubscribed", 1)
    uplinks = file.ratio(
        tor_uplinks * speeds[1], speeds[2] * oversubscribed, "links of tier 1 upwards", 1, "oversubscribed"
    )
    cores = file.ratio(uplinks, file.get(2, "radix_down"), "core switches", 2, "radix_down")
    groups = file.ratio(cores, aggs_per_pod, "core switches per aggregation switch of a pod", 2, "radix_down")
    up = file.get(1, "radix_up")
    if (needed := groups * file.get(2, "bundle", 1)) != up:
        cause = f"Radix_Up {up} of tier 1 does not fit {groups} core switches with {needed // groups} links each"
        file.error(file.lines[1, "radix_up"], cause, "correct Radix_Up, or Bundle and Radix_Down of tier 2")
    return cores


def _check_bundles(file: _File, tiers: int) -> None:
    for tier in range(1, tiers):
        bundle = file.get(tier, "bundle", 1)
        for radix, at in ((file.get(tier, "radix_down"), tier), (file.get(tier - 1, "radix_up"), tier - 1)):
            if radix % bundle:
                cause = f"a radix of {radix} in tier {at} is not a multiple of bundles of {bundle} links"
                file.error(file.lines[tier, "bundle"], cause, "correct Bundle or the radix")


@dataclass(frozen=True)
class _Queues:
    """Capacities of queues in packets."""

    file: _File
    usual_pkts: int
    packet_bytes: int

    def between(self, upper: int) -> int:
        """Of links between a tier and the one below it (hosts below tier 0); raises TopologyError."""
        down = self.file.tiers[upper].get("queue_down")
        if upper == 0:
            return self.usual_pkts if down is None else self._pkts(down)
        up = self.file.tiers[upper - 1].get("queue_up")
        if up != down:
            line = self.file.lines.get((upper, "queue_down")) or self.file.lines[upper - 1, "queue_up"]
            cause = f"Queue_Down of tier {upper} is not Queue_Up of tier {upper - 1}"
            self.file.error(line, cause, "give both or none, and the same value: a link has one for both directions")
        return self.usual_pkts if down is None else self._pkts(down)

    def _pkts(self, size_bytes: int) -> int:
        # That simulator counts the packet being sent, p4cc does not.
        return min(max(1, size_bytes // self.packet_bytes - 1), MAX_QUEUE_PKTS)


def _links(file: _File, tree: _Tree, queues: _Queues) -> tuple[Link, ...]:
    """Links in that simulator's order: of hosts, of tier 0 upwards, of tier 1 upwards."""
    nodes = file.header["nodes"]
    tors, aggs = tree.pods * tree.tors_per_pod, tree.pods * tree.aggs_per_pod
    groups = tree.cores // tree.aggs_per_pod
    bundles = [file.get(tier, "bundle", 1) for tier in range(1, file.header["tiers"])]
    if (count := nodes + tors * tree.aggs_per_pod * bundles[0] + aggs * groups * bundles[-1]) > MAX_LINKS:
        file.error(None, f"the network has {count} links; the limit is {MAX_LINKS}", "give a smaller network")
    down = file.get(0, "radix_down")
    ends = [(f"tor{host // down}", host_name(host)) for host in range(nodes)]
    links = _tier_links(file, queues, 0, ends)
    ends = [
        (f"tor{tor}", f"agg{tor // tree.tors_per_pod * tree.aggs_per_pod + agg}")
        for tor in range(tors)
        for agg in range(tree.aggs_per_pod)
        for _ in range(bundles[0])
    ]
    links += _tier_links(file, queues, 1, ends)
    if tree.cores:
        ends = [
            (f"agg{agg}", f"core{agg % tree.aggs_per_pod + tree.aggs_per_pod * group}")
            for agg in range(aggs)
            for group in range(groups)
            for _ in range(bundles[1])
        ]
        links += _tier_links(file, queues, 2, ends)
    return tuple(links)


def _tier_links(file: _File, queues: _Queues, upper: int, ends: list[tuple[str, str]]) -> list[Link]:
    """Links between a tier and the one below it."""
    latency_ns = file.get(upper, "switch_latency_ns", 0)
    if upper > 0:
        latency_ns += file.get(upper - 1, "switch_latency_ns", 0)
    delay_ns = file.get(upper, "downlink_latency_ns") + latency_ns // 2
    rate_bps = file.get(upper, "downlink_speed_gbps") * 10**9
    capacity = queues.between(upper)
    return [Link(a=a, b=b, rate_bps=rate_bps, delay_ns=delay_ns, queue_capacity_pkts=capacity) for a, b in ends]
