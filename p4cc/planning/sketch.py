"""A scenario from a sentence of options: hosts, rate, load, sizes, senders, all of these over one transport.

The text is for people to change: each part has a comment, and a sender's requirements on switches are next to it.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from controller.d3 import MAX_CAPACITY_KBPS
from p4cc.algorithms import entry_named, registry
from p4cc.bundled import EXPERIMENTS, bundled
from p4cc.errors import UserError
from p4cc.planning.cdf_file import read_cdf
from p4cc.scenario.timeouts import PathTimes
from topos.shapes.common import usual_queue_pkts
from topos.units import UnitError, parse, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from p4cc.algorithms import Algorithm

PLACE = "p4cc init"
MAX_HOSTS = 1_024
_FLOWS = 1_000
"""That a run measures, so that a p99 of a tenth of them is of 100."""
_SENDERS = ("congestion_avoidance", "rate_control")
_PACED = {"dctcp": "dctcp_rate", "prague": "prague_paced"}
"""Senders with windows that have a paced form of their own."""
_PROGRAMS = {
    "none": ("ack_priority", ""),
    "one_ecn_threshold": ("ecn_red", ""),
    "random_ecn": ("ecn_red", ""),
    "l4s_marks": ("dualpi2", "dualpi2: {target_ns: 50us, interval_ns: 50us, step_ns: 24us}"),
    "telemetry": ("int_hpcc", ""),
    "queue_notices": ("bolt", ""),
    "path_utilisation": ("pint", ""),
    "rate_allocation": ("d3", ""),
    "fair_rate": ("rcp", ""),
}
"""An algorithm's need, to the program that meets it and further settings of its variant."""
_FABRIC = 4
"""Rate of links between switches by that of a host's."""
_PACKET_BITS = 8 * 1_500
_ACK_BITS = 8 * 64
_WHOLE_PACKETS = ("swift", "prague_paced")
_FEW_BYTES = 60_000
_CURVE_BPS = 25 * 10**9
"""The rate of published RED curves."""
_MOST_DEPTH_BYTES = 80 * ((1 << 19) - 2 * _FABRIC)
"""The deepest that a program sees: depths of 19 bits in cells, less the width of a step at ports between switches."""
_RED_MIN_BYTES = 100_000
"""Default of `red.k_min_bytes`."""
_TIMELY_RTT_NS = 20_000
"""The round trip for which TIMELY's thresholds are (docs/algorithms/timely.md)."""
_SWIFT_TARGET_NS = 20_000
"""Default of Swift's base target."""
_MOST_ASKED_BPS = MAX_CAPACITY_KBPS * 1_000
"""The largest rate of rate requests."""
_IN_ORDER = ("rate_allocation", "fair_rate")
"""The needs of algorithms that need packets in order."""


@dataclass(frozen=True)
class Wish:
    """The request; missing options have usual values."""

    hosts: int = 16
    rate: str = "100G"
    rtt: str = "8us"
    load: float = 0.5
    cdf: str = "websearch"
    senders: str = "dctcp,hpcc,swift"


@dataclass(frozen=True)
class _Network:
    """Settings that follow from the rate of a host's link and the round trip between leaves."""

    rate_bps: int
    rtt_ns: int
    """Propagation alone."""

    @property
    def delay_ns(self) -> int:
        """Of each of the four links from host to host."""
        return self.rtt_ns // 8

    @property
    def times(self) -> PathTimes:
        """Round trip with a packet's time on each link, and a full queue's time."""
        queue_pkts = usual_queue_pkts(self.rate_bps, self.rtt_ns)
        return PathTimes(
            self.rtt_ns + self.on_links_ns(_PACKET_BITS), queue_pkts * _PACKET_BITS * 10**9 // self.rate_bps
        )

    def on_links_ns(self, bits: int) -> int:
        """Serialisation on two links of hosts and two between switches."""
        return 2 * bits * 10**9 * (_FABRIC + 1) // (_FABRIC * self.rate_bps)

    @property
    def most_curve_bytes(self) -> int:
        """The deepest threshold of a curve that ports of all rates can have."""
        return _MOST_DEPTH_BYTES * _CURVE_BPS // (_FABRIC * self.rate_bps)

    @property
    def bdp_bytes(self) -> int:
        """Bytes in flight on a host's link."""
        return self.rate_bps * self.times.rtt_ns // 8_000_000_000


def sketch(wish: Wish, name: str) -> str:
    """The text of the scenario; raises UserError for impossible requests."""
    leaves, per_leaf = _leaves(wish.hosts)
    network = _Network(_rate(wish.rate), _rtt(wish.rtt))
    rate_bps = network.rate_bps
    if not 0 < wish.load <= 1:
        raise UserError(f"{wish.load:g} is not a load", place=f"{PLACE} --load", remedy="give a share, such as 0.6")
    cdf = _sizes(wish.cdf)
    arrivals_per_s = wish.hosts * wish.load * rate_bps / 8 / read_cdf(bundled(Path(cdf)) or Path(cdf)).mean_bytes
    warm_ns = _rounded(_FLOWS / 4 / arrivals_per_s * 1e9)
    end_ns = warm_ns + _rounded(_FLOWS / arrivals_per_s * 1e9)
    names = list(dict.fromkeys(one.strip() for one in wish.senders.split(",") if one.strip()))
    senders = {one: _sender(one) for one in names}
    if not senders:
        raise UserError("no sender is named", place=f"{PLACE} --senders", remedy="give some, such as dctcp,hpcc,swift")
    is_paced = any(one.kind == "rate_control" for one in senders.values())
    if is_paced:
        senders = {one: _paced(entry) for one, entry in senders.items()}
    variants = "\n".join(_variant(one, entry, network) for one, entry in senders.items())
    values = {
        "name": name,
        "hosts": wish.hosts,
        "leaves": leaves,
        "per_leaf": per_leaf,
        "spines": max(2, -(-per_leaf // 4)),
        "rate": _plain_rate(rate_bps),
        "fabric_rate": _plain_rate(_FABRIC * rate_bps),
        "delay": _plain_time(network.delay_ns),
        "load": f"{100 * wish.load:g}%",
        "cdf": cdf,
        "warm": f"{warm_ns // 1_000}us",
        "end": f"{end_ns // 1_000}us",
        "stop": f"{max(20 * end_ns, 50_000_000) // 1_000_000}ms",
        "variants": variants,
    }
    for one, entry in senders.items():
        if entry.switch_needs == "rate_allocation" and _FABRIC * rate_bps > _MOST_ASKED_BPS:
            raise UserError(
                f"requests of {one} carry at most {shown('rate_bps', _MOST_ASKED_BPS)}, and links between switches "
                f"have {_FABRIC} times a host's rate",
                place=f"{PLACE} --senders",
                remedy=f"give --rate up to {_MOST_ASKED_BPS // _FABRIC // 10**9}G, or leave it out",
            )
    # Sprayed packets come out of order, which go-back-N takes for losses.
    spray = "nscc" in senders
    recovery = "\n  recovery: selective_repeat" if spray else ""
    if spray and (ordered := [one for one, entry in senders.items() if entry.switch_needs in _IN_ORDER]):
        raise UserError(
            f"nscc sprays packets, and {', '.join(ordered)} count on their order",
            place=f"{PLACE} --senders",
            remedy="leave one of them out",
        )
    parts = _RDMA if is_paced else _WINDOWS
    if is_paced:
        rto = _plain_time(-(-network.times.rto_min_ns() // 1_000) * 1_000)
        parts = {**parts, "transport": parts["transport"].format(rto=rto, recovery=recovery)}
    return _TEXT.format(**values, **parts, title=_title(wish, names))


def _title(wish: Wish, names: Iterable[str]) -> str:
    return f"{wish.cdf} at {100 * wish.load:g} % load on {wish.hosts} hosts of {wish.rate}: {', '.join(names)}"


def _plain_rate(rate_bps: int) -> str:
    """As a scenario writes it: 100G, 2500M."""
    return f"{rate_bps // 10**9}G" if rate_bps % 10**9 == 0 else f"{rate_bps // 10**6}M"


def _plain_time(time_ns: int) -> str:
    """As a scenario writes it: 1ms, 2506us, 250ns."""
    if time_ns % 1_000_000 == 0:
        return f"{time_ns // 1_000_000}ms"
    return f"{time_ns // 1_000}us" if time_ns % 1_000 == 0 else f"{time_ns}ns"


def _leaves(hosts: int) -> tuple[int, int]:
    """Leaves and hosts of each, as square as the number allows."""
    if not 4 <= hosts <= MAX_HOSTS:
        raise UserError(f"{hosts} hosts", place=f"{PLACE} --hosts", remedy=f"give 4 to {MAX_HOSTS}")
    per_leaf = max(one for one in range(1, int(hosts**0.5) + 1) if hosts % one == 0)
    if per_leaf == 1:
        remedy = f"give a number that leaves can share, such as {hosts - 1} or {hosts + 1}"
        raise UserError(f"{hosts} hosts are a prime number", place=f"{PLACE} --hosts", remedy=remedy)
    return hosts // per_leaf, per_leaf


def _rate(text: str) -> int:
    try:
        rate = parse("rate_bps", text)
    except UnitError as error:
        raise UserError(str(error), place=f"{PLACE} --rate", remedy="give a rate, such as 100G") from error
    found = int(text) if rate is None and text.isdecimal() else rate
    if not isinstance(found, int) or not 10_000_000 <= found <= 400_000_000_000:
        raise UserError(f"{text!r} is not a host rate", place=f"{PLACE} --rate", remedy="give 10M to 400G")
    return found


def _rtt(text: str) -> int:
    try:
        rtt = parse("rtt_ns", text)
    except UnitError as error:
        raise UserError(str(error), place=f"{PLACE} --rtt", remedy="give a time, such as 8us") from error
    found = int(text) if rtt is None and text.isdecimal() else rtt
    if not isinstance(found, int) or not 100 <= found <= 200_000_000:
        raise UserError(f"{text!r} is not a round-trip time", place=f"{PLACE} --rtt", remedy="give 100ns to 200ms")
    return found


def _sizes(text: str) -> str:
    """The file of a distribution by a name such as websearch, or the path of a user's file."""
    if Path(text).is_file():
        return text
    known = {path.stem: f"experiments/cdf/{path.name}" for path in sorted((EXPERIMENTS / "cdf").glob("*.cdf"))}
    plain = {name.replace("_", ""): path for name, path in known.items()}
    wanted = text.lower().replace("_", "").replace("-", "").replace(" ", "")
    if wanted in plain:
        return plain[wanted]
    close = difflib.get_close_matches(wanted, plain, n=1)
    remedy = f"did you mean {close[0]!r}?" if close else f"give the path of a file, or one of {', '.join(known)}"
    raise UserError(f"no sizes {text!r}", place=f"{PLACE} --cdf", remedy=remedy)


def _sender(name: str) -> Algorithm:
    found = entry_named(name)
    if found is not None and found.kind in _SENDERS:
        return found
    names = [one.name for one in registry() if one.kind in _SENDERS]
    close = difflib.get_close_matches(name, names, n=1)
    remedy = f"did you mean {close[0]!r}?" if close else f"senders: {', '.join(names)}"
    raise UserError(f"no sender {name!r}", place=f"{PLACE} --senders", remedy=remedy)


def _paced(one: Algorithm) -> Algorithm:
    """The sender over the paced transport; raises UserError for a window that has no paced form."""
    if one.kind == "rate_control":
        return one
    paced = entry_named(_PACED.get(one.name, ""))
    if paced is None:
        raise UserError(
            f"{one.name} has a window and no paced form, and others here are paced: they would be compared with their "
            "transports",
            place=f"{PLACE} --senders",
            remedy=f"leave it out, or name windows alone; with both forms: {', '.join(_PACED)}",
        )
    return paced


def _threshold(network: _Network) -> str:
    """A RED curve one cell of 80 bytes wide: DCTCP's 20 packets up to 10 Gb/s, in proportion to the rate above.

    At least a seventh of the bytes in flight, DCTCP's bound: below it the queue runs empty after a cut.
    """
    rate_bps, bound_bytes = network.rate_bps, network.bdp_bytes // 7
    if rate_bps < 10**10:
        k_bytes = max(30_000, min(bound_bytes, _MOST_DEPTH_BYTES))
        return f"red: {{k_min_bytes: {k_bytes:_}, k_max_bytes: {k_bytes + 80:_}, p_max: 1.0, scale_with_rate: false}}"
    k_bytes = max(75_000, min(bound_bytes * _CURVE_BPS // rate_bps, network.most_curve_bytes))
    cell = -(-80 * _CURVE_BPS // rate_bps)
    return f"red: {{k_min_bytes: {k_bytes:_}, k_max_bytes: {k_bytes + cell:_}, p_max: 1.0}}"


def _random_marks(network: _Network) -> str:
    """The RED curve of HPCC's simulations, raised to DCTCP's bound where more is in flight."""
    bound_bytes = network.bdp_bytes * _CURVE_BPS // network.rate_bps // 7
    if bound_bytes <= _RED_MIN_BYTES:
        return ""
    k_bytes = min(bound_bytes, network.most_curve_bytes // 4)
    return f"red: {{k_min_bytes: {k_bytes:_}, k_max_bytes: {4 * k_bytes:_}}}"


def _spread_marks(network: _Network) -> str:
    """From 0.2 to 0.8 of the bytes in flight (docs/algorithms/nscc.md#nscc-transport)."""
    fifth_bytes = min(network.bdp_bytes * _CURVE_BPS // network.rate_bps // 5, network.most_curve_bytes // 4)
    return f"red: {{k_min_bytes: {fifth_bytes:_}, k_max_bytes: {4 * fifth_bytes:_}, p_max: 1.0}}"


def _parameters(one: Algorithm, network: _Network) -> str:
    """Parameters that their papers give for one round trip, for this network's."""
    rtt_ns = network.times.rtt_ns
    if one.name == "timely" and rtt_ns > _TIMELY_RTT_NS:
        low_ns, high_ns = (time * rtt_ns // _TIMELY_RTT_NS for time in (50_000, 500_000))
        return f", min_rtt_ns: {rtt_ns:_}, t_low_ns: {low_ns:_}, t_high_ns: {high_ns:_}"
    if one.name == "swift" and rtt_ns > _SWIFT_TARGET_NS:
        return f", base_target_ns: {rtt_ns + _SWIFT_TARGET_NS:_}"
    if one.name == "fast_like":
        # What the network's base round trip leaves out, headers and ACKs, it would take for a queue.
        return f", base_rtt_ns: {rtt_ns + network.on_links_ns(_ACK_BITS):_}"
    return ""


def _variant(name: str, one: Algorithm, network: _Network) -> str:
    if one.kind != "rate_control":
        return f"  - {{name: {name}, congestion_avoidance: {{name: {one.name}}}}}"
    program, more = _PROGRAMS[one.switch_needs]
    if one.switch_needs == "one_ecn_threshold":
        more = _threshold(network)
    if one.switch_needs == "random_ecn":
        more = _random_marks(network)
    if one.name == "nscc":
        # It spreads packets over all paths.
        program, more = "ecn_red_spray", _spread_marks(network)
    control = f"{{name: {one.name}{_parameters(one, network)}}}"
    lines = [f"  - name: {name}", f"    program: p4src/v1model/{program}.p4", f"    rate_control: {control}"]
    if one.name in _WHOLE_PACKETS and network.bdp_bytes < _FEW_BYTES:
        # Its window ends at a bandwidth-delay product, which in whole packets leaves gaps where it has few.
        two_ns = 2 * _PACKET_BITS * 10**9 // network.rate_bps
        lines.append(
            f"    transport: {{base_rtt_ns: {network.times.rtt_ns + network.on_links_ns(_ACK_BITS) + two_ns:_}}}"
        )
    return "\n".join([*lines, *([f"    {more}"] if more else [])])


def _rounded(time_ns: float) -> int:
    """The time with two digits, in whole microseconds."""
    digits = max(10 ** (len(str(int(time_ns))) - 2), 1_000)
    return max(digits, round(time_ns / digits) * digits)


_RDMA = {
    "switch": """\
  # Each variant has the program that it asks of switches; this is for those that ask for nothing.
  program: p4src/v1model/ack_priority.p4
  ecn_profile: rfc3168
  timestamp_unit: ns
  qdepth_unit: cells_80B
  # Shared by a switch's ports. Class 3, in which the flows are, is paused (PFC) before it would lose packets.
  buffer: {lossless_priorities: [3]}""",
    "capacity": "  # More than the buffer below holds, so that the buffer decides.\n  queue_capacity_pkts: 500_000pkt",
    "priority": "\n  # The class on the wire: one that is not lossy.\n  priority: 3",
    "transport": """\
# One transport for all: paced packets of 1500 bytes, a first window of one bandwidth-delay product, an ACK
# for each packet, no receiver window. So figures compare algorithms alone. dctcp_rate is DCTCP over it,
# prague_paced Prague.
transport:
  kind: rdma
  mss_bytes: 1_436
  rto_ns: {rto}{recovery}""",
}
_WINDOWS = {
    "switch": """\
  # Marks packets at two depths of the queue, K and K_dc.
  program: p4src/v1model/ecn_dual.p4
  # Marks are those of RFC 3168: congestion was met, or not.
  ecn_profile: rfc3168""",
    "capacity": "  # What a queue holds follows from rate and round trip; queue_capacity_pkts gives another number.",
    "priority": "",
    "transport": """\
# One transport for all: windows, sent as ACKs come. So figures compare algorithms alone. First windows of ten
# segments, selective ACKs, timeouts by the path and no other limit of what is in flight are the defaults.
transport:
  # Windows grow as in papers, also while an application leaves them unused.
  window_validation: none""",
}
_TEXT = """\
# {title}.
#
# Written by p4cc init. `p4cc schema PART` describes each part, for example `p4cc schema topology.leaf_spine`.

# Results go to results/NAME.
name: {name}
title: "{title}"

# What is built: {hosts} hosts on {leaves} leaves of {per_leaf}, every leaf joined to every spine.
topology:
  kind: leaf_spine
  leaves: {leaves}
  hosts_per_leaf: {per_leaf}
  spines: {spines}
  # 100G is the same as 100_000_000_000.
  host_rate_bps: {rate}
  fabric_rate_bps: {fabric_rate}
  # From one end of a link to the other.
  host_delay_ns: {delay}
  fabric_delay_ns: {delay}
{capacity}

# What the switches run.
switch:
{switch}

# What is sent: each host starts flows at random times, to others drawn evenly.
traffic:
  kind: poisson
  size: {{kind: cdf, file: {cdf}}}
  # Share of each host's link that payload takes on average.
  load: {load}
  # No flow starts later.
  end_ns: {end}{priority}

{transport}

# What is compared: each variant meets the same traffic.
# `p4cc algorithms` lists all of them with their parameters.
variants:
{variants}

# Each seed draws the traffic anew. Intervals are over them: three are the fewest that say something.
seeds: [1, 2, 3]
interval: bootstrap
# A run ends here at the latest; flows that are still under way then are counted as not finished.
stop_ns: {stop}

# Warm-up: flows that begin before have a network to themselves, so that they do not count.
measure:
  - {{name: steady, start_ns: {warm}, end_ns: {end}}}

record:
  # Samples over time, for figures that show rates and queues; null records none.
  windows_interval_ns: null
  queues_interval_ns: null

# What is drawn.
figures:
  - kind: by_size
    file: slowdown.pdf
    title: "p99 slowdown by flow size"
    percentile: 99
    bins: 10
    window: steady
"""
