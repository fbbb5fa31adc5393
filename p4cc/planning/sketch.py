"""A scenario from a sentence of options: hosts, rate, load, sizes, senders, all of these over one transport.

The text is for people to change: each part has a comment, and a sender's requirements on switches are next to it.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from p4cc.algorithms import entry_named, registry
from p4cc.bundled import EXPERIMENTS, bundled
from p4cc.errors import UserError
from p4cc.planning.cdf_file import read_cdf
from topos.units import UnitError, parse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from p4cc.algorithms import Algorithm

PLACE = "p4cc init"
MAX_HOSTS = 1_024
_FLOWS = 1_000
"""That a run measures, so that a p99 of a tenth of them is of 100."""
_PACED = {"dctcp": "dctcp_rate", "prague": "prague_paced"}
"""Senders with windows that have a paced form of their own."""
_PROGRAMS = {
    "none": ("ack_priority", ""),
    "one_ecn_threshold": ("ecn_red", ""),
    "random_ecn": ("ecn_red", ""),
    "l4s_marks": ("dualpi2", "dualpi2: {target_ns: 50us, interval_ns: 50us, step_ns: 24us}"),
    "telemetry": ("int_hpcc", ""),
    "queue_notices": ("bolt", ""),
    "rate_allocation": ("d3", ""),
    "fair_rate": ("rcp", ""),
}
"""What an algorithm asks of switches, to the program that does it and what else its variant says."""
_IN_ORDER = ("rate_allocation", "fair_rate")
"""What algorithms ask for that need packets in order."""


@dataclass(frozen=True)
class Wish:
    """What was asked for; what was not asked for has a usual value."""

    hosts: int = 16
    rate: str = "100G"
    load: float = 0.5
    cdf: str = "websearch"
    senders: str = "dctcp,hpcc,swift"


def sketch(wish: Wish, name: str) -> str:
    """The text of the scenario; raises UserError for what cannot be asked for."""
    leaves, per_leaf = _leaves(wish.hosts)
    rate_bps = _rate(wish.rate)
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
    variants = "\n".join(_variant(one, entry, rate_bps) for one, entry in senders.items())
    values = {
        "name": name,
        "hosts": wish.hosts,
        "leaves": leaves,
        "per_leaf": per_leaf,
        "spines": max(2, -(-per_leaf // 4)),
        "rate": _plain_rate(rate_bps),
        "fabric_rate": _plain_rate(4 * rate_bps),
        "load": f"{100 * wish.load:g}%",
        "cdf": cdf,
        "warm": f"{warm_ns // 1_000}us",
        "end": f"{end_ns // 1_000}us",
        "stop": f"{max(20 * end_ns, 50_000_000) // 1_000_000}ms",
        "variants": variants,
    }
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
    parts = {**parts, "transport": parts["transport"].format(recovery=recovery) if is_paced else parts["transport"]}
    return _TEXT.format(**values, **parts, title=_title(wish, names))


def _title(wish: Wish, names: Iterable[str]) -> str:
    return f"{wish.cdf} at {100 * wish.load:g} % load on {wish.hosts} hosts of {wish.rate}: {', '.join(names)}"


def _plain_rate(rate_bps: int) -> str:
    """As a scenario writes it: 100G, 2500M."""
    return f"{rate_bps // 10**9}G" if rate_bps % 10**9 == 0 else f"{rate_bps // 10**6}M"


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
    if found is not None and found.kind != "slow_start":
        return found
    names = [one.name for one in registry() if one.kind != "slow_start"]
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


def _threshold(rate_bps: int) -> str:
    """A RED curve one cell of 80 bytes wide: DCTCP's 20 packets up to 10 Gb/s, in proportion to the rate above."""
    if rate_bps < 10**10:
        return "red: {k_min_bytes: 30_000, k_max_bytes: 30_080, p_max: 1.0, scale_with_rate: false}"
    cell = -(-80 * 25 * 10**9 // rate_bps)
    return f"red: {{k_min_bytes: 75_000, k_max_bytes: {75_000 + cell:_}, p_max: 1.0}}"


def _variant(name: str, one: Algorithm, rate_bps: int) -> str:
    if one.kind != "rate_control":
        return f"  - {{name: {name}, congestion_avoidance: {{name: {one.name}}}}}"
    program, more = _PROGRAMS[one.switch_needs]
    if one.switch_needs == "one_ecn_threshold":
        more = _threshold(rate_bps)
    if one.name == "nscc":
        # It spreads packets over all paths.
        program, more = "ecn_red_spray", "red: {k_min_bytes: 8_000, k_max_bytes: 32_000, p_max: 1.0}"
    lines = [f"  - name: {name}", f"    program: p4src/v1model/{program}.p4", f"    rate_control: {{name: {one.name}}}"]
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
    "capacity": "500_000pkt",
    "priority": "\n  # The class on the wire: one that is not lossy.\n  priority: 3",
    "transport": """\
# One transport for all: paced packets of 1500 bytes, a first window of one bandwidth-delay product, an ACK
# for each packet, no receiver window. So figures compare algorithms alone. dctcp_rate is DCTCP over it,
# prague_paced Prague.
transport:
  kind: rdma
  mss_bytes: 1_436
  rto_ns: 1ms{recovery}""",
}
_WINDOWS = {
    "switch": """\
  # Marks packets at two depths of the queue, K and K_dc.
  program: p4src/v1model/ecn_dual.p4
  # Marks are those of RFC 3168: congestion was met, or not.
  ecn_profile: rfc3168""",
    "capacity": "1000pkt",
    "priority": "",
    "transport": """\
# One transport for all: windows, sent as ACKs come. So figures compare algorithms alone.
transport:
  recovery: sack
  iw: 10
  rto_min_ns: 1ms
  rto_init_ns: 1ms
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
  host_delay_ns: 1us
  fabric_delay_ns: 1us
  queue_capacity_pkts: {capacity}

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
