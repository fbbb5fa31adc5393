"""Thresholds of ports: the readings of the papers' rules side by side, the one that a rule picks, and its entry.

K_dc follows DCTCP's settings by rate and does not fall below DCTCP's bound where the buffer allows that. K is a share
of K_dc, or follows from a reading of the GST paper's bound (docs/algorithms/slow-start.md#gst-model), which as printed
halves the window twice and comes out negative for the paper's own numbers. Those readings leave less room the more
packets the pipe holds, so a faster link gets a smaller K by them; `proportional` grows with the rate. Warnings are
data: thresholds at which marks vanish are allowed, but never silently.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor

from controller.ecn import THRESHOLDS
from controller.entities import Entry
from controller.errors import PlannerError
from controller.features import PortName
from controller.model import MAX_TIME_NS, Bottleneck, argmax_window_pkts
from controller.roles import DEPTH, Row, TablePart
from topos import Paths, Port, Topology

# DCTCP's settings (SIGCOMM 2010): 20 packets at 1 Gb/s, 65 at 10 Gb/s; the
# latter is the GST paper's too (docs/algorithms/slow-start.md#gst-parameters).
_K_DC_AT_1G_PKTS = 20
_K_DC_AT_10G_PKTS = 65
_GIGABIT_BPS = 1_000_000_000
# DCTCP's bound, K > C RTT / 7 (SIGCOMM 2010): below it the queue runs empty after a cut.
_BOUND_DIVISOR = 7
# The GST paper's smallest buffer is 100 packets, with K_dc 65 (docs/algorithms/slow-start.md#gst-
# parameters).
MOST_OF_BUFFER = Fraction(65, 100)
# The GST paper's best K of 5, 25 and 45 packets, with K_dc 65
# (docs/algorithms/slow-start.md#gst-parameters, figure 6).
K_SHARE = Fraction(25, 65)
# What a buffer keeps free above K_dc for bursts, at least a packet, where DCTCP's bound asks for
# more (our own).
_FREE_ABOVE = Fraction(1, 8)
# Width of `queue_depth_t` in the P4 programs.
MAX_THRESHOLD_PKTS = (1 << 19) - 1


class KRule(StrEnum):
    """How K is chosen."""

    PROPORTIONAL = "proportional"
    HALVE_ONCE = "halve_once"
    FIXED = "fixed"
    QUARTER_BUFFER = "quarter_buffer"


@dataclass(frozen=True)
class ThresholdRule:
    """How K and K_dc of ports are chosen. Its defaults are those of scenarios and of `p4cc controller` alike."""

    k_rule: KRule = KRule.PROPORTIONAL
    k_pkts: int | None = None
    """K with `fixed`, and only with it."""
    k_dc_pkts: int | None = None
    """In place of `choose_k_dc`."""
    rtt_ns: int | None = None
    """In place of the network's longest round trip."""


@dataclass(frozen=True)
class Reading:
    """One reading of a rule for a threshold: its name, formula, value in packets, and whether it can be taken."""

    name: str
    formula: str
    value_pkts: float
    usable: bool


@dataclass(frozen=True)
class Thresholds:
    """Thresholds of a port, in packets with the arriving one: level 1 above `k_pkts`, level 2 above `k_dc_pkts`."""

    k_pkts: int
    k_dc_pkts: int

    def __post_init__(self) -> None:
        """Raise PlannerError for a threshold that the switch's 19-bit depth cannot hold."""
        for name, value in (("k_pkts", self.k_pkts), ("k_dc_pkts", self.k_dc_pkts)):
            if not 0 <= value <= MAX_THRESHOLD_PKTS:
                cause = f"{value} is not between 0 and {MAX_THRESHOLD_PKTS}"
                raise PlannerError(name, cause, "give a queue length in packets")


@dataclass(frozen=True)
class KdcReadings:
    """Candidates for K_dc of a port, in packets (see `choose_k_dc`)."""

    bound_pkts: int
    """The least above C RTT / 7."""
    by_rate_pkts: int
    """DCTCP's own settings: on the straight line between 1 and 10 Gb/s, in proportion to the rate above."""
    most_pkts: int
    """The share of the buffer that K_dc has in the GST paper's smallest one."""
    end_pkts: int
    """All of the buffer but an eighth, the most that K_dc becomes for the bound."""

    @property
    def taken(self) -> str:
        """Which of them decides: `by_rate`, `buffer_share`, `bound` or `buffer_end`."""
        if self.bound_pkts > min(self.by_rate_pkts, self.most_pkts):
            return "bound" if self.bound_pkts <= self.end_pkts else "buffer_end"
        return "by_rate" if self.by_rate_pkts <= self.most_pkts else "buffer_share"


@lru_cache(maxsize=1_024)
def k_dc_readings(at: Bottleneck) -> KdcReadings:
    """The readings of K_dc for one port; most ports of a network are alike."""
    gigabits = Fraction(at.rate_bps, _GIGABIT_BPS)
    if gigabits >= 10:
        by_rate = _K_DC_AT_10G_PKTS * gigabits / 10
    else:
        step = Fraction(_K_DC_AT_10G_PKTS - _K_DC_AT_1G_PKTS, 9)
        by_rate = _K_DC_AT_1G_PKTS + step * max(gigabits - 1, Fraction(0))
    bound = floor(at.bdp_ratio / _BOUND_DIVISOR) + 1
    end = max(1, at.buffer_pkts - max(1, floor(_FREE_ABOVE * at.buffer_pkts)))
    return KdcReadings(bound, floor(by_rate), floor(MOST_OF_BUFFER * at.buffer_pkts), end)


def choose_k_dc(at: Bottleneck) -> int:
    """K_dc by rate, at most a share of the buffer, and not below DCTCP's bound; it never falls as the rate grows.

    Where the buffer ends before the bound, all of it but an eighth: `bound_warning` says so.
    """
    readings = k_dc_readings(at)
    return max(min(readings.bound_pkts, readings.end_pkts), min(readings.by_rate_pkts, readings.most_pkts))


@lru_cache(maxsize=1_024)
def bound_warning(at: Bottleneck, k_dc_pkts: int | None = None) -> str | None:
    """A warning if the buffer ends before DCTCP's bound; none if `k_dc_pkts` sets K_dc."""
    readings = k_dc_readings(at)
    bound_pkts = readings.bound_pkts
    if k_dc_pkts is not None or bound_pkts <= readings.end_pkts:
        return None
    enough_pkts = ceil(bound_pkts / (1 - _FREE_ABOVE))
    return (
        f"DCTCP's bound requires K_dc of {bound_pkts} packets (a seventh of the {at.bdp_pkts:.1f} in flight), but "
        f"the queue has room for {at.buffer_pkts}: K_dc is set to {choose_k_dc(at)}, and the link may run idle "
        f"after a window cut; a queue of {enough_pkts} packets is enough (queue_capacity_pkts)"
    )


@lru_cache(maxsize=1_024)
def choose_thresholds(at: Bottleneck, rule: ThresholdRule | None = None) -> Thresholds:
    """K and K_dc by a rule, by default the usual one; raises PlannerError if it gives no threshold."""
    rule = rule or ThresholdRule()
    k_dc = choose_k_dc(at) if rule.k_dc_pkts is None else rule.k_dc_pkts
    return Thresholds(choose_k(at, rule.k_rule, rule.k_pkts, k_dc), k_dc)


def choose_k(at: Bottleneck, rule: KRule, fixed_k_pkts: int | None, k_dc_pkts: int) -> int:
    """K by the rule, rounded down because the rules are upper bounds; raises PlannerError where it gives none."""
    if (rule is KRule.FIXED) != (fixed_k_pkts is not None):
        cause = "k_rule fixed requires a value" if rule is KRule.FIXED else f"k_rule {rule.value} accepts no value"
        raise PlannerError("k_pkts", cause, "give k_pkts and k_rule fixed together, or neither")
    if fixed_k_pkts is not None:
        return fixed_k_pkts
    values = {
        # A share of a packet is a packet: a threshold of 0 would mark all.
        KRule.PROPORTIONAL: max(K_SHARE * k_dc_pkts, Fraction(min(k_dc_pkts, 1))),
        KRule.HALVE_ONCE: (at.buffer_pkts - at.bdp_ratio) / 2,
        KRule.QUARTER_BUFFER: Fraction(at.buffer_pkts, 4),
    }
    k = values[rule]
    if k < 1:
        raise PlannerError(
            "buffer_pkts",
            f"k_rule {rule.value} gives K = {float(k):.1f} for a buffer of {at.buffer_pkts} packets, "
            f"a bandwidth-delay product of {at.bdp_pkts:.1f} and K_dc {k_dc_pkts}",
            "use a larger buffer, or set K with k_rule fixed",
        )
    return floor(k)


def k_readings(at: Bottleneck, k_dc_pkts: int) -> tuple[Reading, ...]:
    """Candidates for K: a share of K_dc, and the readings of the GST paper's bound.

    The last is that bound from the numeric peak of the model instead of a formula.

    Source: its equation 6, docs/algorithms/slow-start.md#gst-model.
    """
    b, bdp = at.buffer_pkts, at.bdp_ratio
    values = (
        ("proportional", "K_dc 25/65", K_SHARE * k_dc_pkts),
        ("printed", "(B + BDP)/4 - BDP", (b + bdp) / 4 - bdp),
        ("halve_once", "(B - BDP)/2", (b - bdp) / 2),
        ("no_bdp", "(B + BDP)/4", (b + bdp) / 4),
        ("quarter_buffer", "B/4", Fraction(b, 4)),
        ("argmax", "n w*/2 - BDP, w* = argmax G", at.senders * argmax_window_pkts(at) / 2 - bdp),
    )
    return tuple(Reading(name, formula, float(k), k >= 1) for name, formula, k in values)


def threshold_warnings(thresholds: Thresholds, buffer_pkts: int) -> tuple[str, ...]:
    """Warnings about unexpected effects of thresholds on marks; the buffer is the port's.

    A packet is enqueued behind at most `buffer_pkts - 1` others, so a threshold at or above the buffer is never met.
    """
    k, k_dc = thresholds.k_pkts, thresholds.k_dc_pkts
    result: list[str] = []
    if k >= buffer_pkts and k_dc >= buffer_pkts:
        cause = f"K {k} and K_dc {k_dc} are not less than the buffer of {buffer_pkts} packets"
        result.append(f"{cause}: no packet is ever marked, and senders grow until the queue overflows")
    elif k_dc >= buffer_pkts:
        result.append(
            f"K_dc {k_dc} is not less than the buffer of {buffer_pkts} packets: level 2 never occurs, and DCTCP and "
            "similar senders react only to losses"
        )
    if k_dc <= k and k_dc < buffer_pkts:
        result.append(
            f"K_dc {k_dc} is not greater than K {k}: level 1 never occurs, and senders that react to it (GST) learn "
            "of a queue only at K_dc"
        )
    if k == 0 or k_dc == 0:
        result.append("a threshold of 0 marks every packet")
    return tuple(result)


RuleOf = Callable[[str, str], ThresholdRule | None]
"""The rule of a switch's port to a neighbour; None for a port that never marks, or whose thresholds others set."""


def marking_ports(
    topology: Topology, rule: ThresholdRule | RuleOf, *, packet_bytes: int, paths: Paths | None = None
) -> Iterator[tuple[str, Port, ThresholdRule, Bottleneck]]:
    """Switch ports that mark, in order, each with its rule and what its own link is like.

    `paths` are those of the topology, if they are known already. Raises PlannerError that names the port whose link the
    planner does not know how to serve.
    """
    found_ns: int | None = None
    known: dict[tuple[int, int, int], Bottleneck] = {}
    for switch, ports in topology.ports.items():
        for port in ports:
            of = rule if isinstance(rule, ThresholdRule) else rule(switch, port.peer)
            if of is None:
                continue
            if (rtt_ns := of.rtt_ns) is None:
                found_ns = rtt_ns = longest_rtt_ns(topology, packet_bytes, paths) if found_ns is None else found_ns
            link = topology.links[port.link_index]
            of_link = link.queue_capacity_pkts, link.rate_bps, rtt_ns
            if (at := known.get(of_link)) is None:
                try:
                    # No rule depends on the number of senders or on their timeout.
                    at = known[of_link] = Bottleneck(*of_link, packet_bytes, 1, MAX_TIME_NS)
                except PlannerError as error:
                    raise _of_port(switch, port, error) from None
            yield switch, port, of, at


def thresholds_by_rule(
    topology: Topology, rule: ThresholdRule | RuleOf, *, packet_bytes: int, paths: Paths | None = None
) -> dict[PortName, Thresholds]:
    """Thresholds of every switch port that marks, from the planner, with the rate and queue of the port's own link.

    Raises PlannerError that names the port for which a rule has no answer.
    """
    chosen: dict[PortName, Thresholds] = {}
    known: dict[tuple[int, int], tuple[Thresholds, Bottleneck, ThresholdRule]] = {}
    """By the identity of the other two, which are kept so that no others get it."""
    for switch, port, of, at in marking_ports(topology, rule, packet_bytes=packet_bytes, paths=paths):
        # Most ports share both, and neither is quick to hash.
        if (same := known.get((id(at), id(of)))) is None:
            try:
                same = known[id(at), id(of)] = choose_thresholds(at, of), at, of
            except PlannerError as error:
                raise _of_port(switch, port, error) from None
        chosen[switch, port.peer] = same[0]
    return chosen


def bound_warnings(
    topology: Topology, rule: ThresholdRule | RuleOf, *, packet_bytes: int, paths: Paths | None = None
) -> tuple[str, ...]:
    """Warnings about ports whose queues end before DCTCP's bound, one line for each text."""
    result: list[PortWarning] = []
    for switch, port, of, at in marking_ports(topology, rule, packet_bytes=packet_bytes, paths=paths):
        if (text := bound_warning(at, of.k_dc_pkts)) is not None:
            result.append(PortWarning(port_place(switch, port), text))
    return one_line_each(result)


def port_place(switch: str, port: Port) -> str:
    """A port in a message."""
    return f"port {switch}:{port.number} to {port.peer}"


def _of_port(switch: str, port: Port, error: PlannerError) -> PlannerError:
    """The error with the port in front of its place."""
    return PlannerError(f"{port_place(switch, port)}: {error.place}", error.cause, error.remedy)


def longest_rtt_ns(topology: Topology, packet_bytes: int, paths: Paths | None = None) -> int:
    """The longest base round-trip time between hosts, with a packet's time on each link of one way.

    At least 1: it is rounded down, and links may have no delay.

    Raises PlannerError where no two hosts talk.
    """
    paths = Paths(topology) if paths is None else paths
    if paths.most_links() == 0:
        raise PlannerError("topology", "has no two hosts that exchange traffic", "set rtt_ns for the thresholds")
    return max(1, paths.longest_rtt_ns(packet_bytes))


@dataclass(frozen=True)
class PortWarning:
    """A warning about one port: its place, such as `port s1:2 to h2`, and a text."""

    place: str
    text: str


# Ports that a line names before it counts the others.
_PORTS_NAMED = 3


def one_line_each(warnings: Iterable[PortWarning]) -> tuple[str, ...]:
    """A line for each text, with the ports that it is about."""
    places: dict[str, list[str]] = {}
    for warning in warnings:
        places.setdefault(warning.text, []).append(warning.place)
    return tuple(f"{_named(at)}: {text}" for text, at in places.items())


def _named(places: Sequence[str]) -> str:
    """The first few places, and how many others."""
    if len(places) <= _PORTS_NAMED:
        return ", ".join(places)
    return f"{', '.join(places[: _PORTS_NAMED - 1])} and {len(places) - _PORTS_NAMED + 1} other ports"


_UNITS = {"k": DEPTH, "k_dc": DEPTH}


@lru_cache(maxsize=1 << 12)
def threshold_entry(port: int, thresholds: Thresholds, units: int, table: TablePart) -> tuple[Entry, tuple[str, ...]]:
    """The thresholds of one port, where a packet takes `units` units of depth; and warnings."""
    args: dict[str, int] = {}
    cut: list[str] = []
    for name, pkts in (("k", thresholds.k_pkts), ("k_dc", thresholds.k_dc_pkts)):
        most = (1 << table.param("set_thresholds", name, DEPTH).bits) - 1
        args[name] = min(pkts * units, most)
        if pkts * units > most:
            cut.append(
                f"{name} of {pkts} packets is {pkts * units} units of depth, which exceeds the limit, so it "
                f"is reduced to {most}"
            )
    row = Row(THRESHOLDS, {"egress_port": port}, "set_thresholds", args, units=_UNITS)
    return table.entry(row), tuple(cut)
