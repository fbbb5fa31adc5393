"""A drawing of the network: load of links, and where packets were marked, dropped and paused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from p4cc.report.document import Load, Network, Text
from p4cc.report.document import Topology as Drawing
from topos import TopologyError
from topos.graph import Host, Link, Switch, Topology
from topos.layout import layout

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from p4cc.report.document import Block
    from p4cc.report.runs import Runs

_ANY_QUEUE = 1
"""The table of links lacks queue capacities, which a drawing does not need."""


@dataclass(frozen=True)
class _End:
    node: str
    port: int


def blocks(runs: Runs) -> list[Block]:
    """The drawing, or the reason why there is none."""
    networks: list[Network] = []
    known: dict[tuple[object, ...], int] = {}
    loads: list[Load] = []
    ports = dict(runs.frames("ports", detailed=True))
    counters = dict(runs.frames("counters", detailed=True))
    pauses = dict(runs.frames("pauses", detailed=True))
    for key, rows in runs.frames("links", detailed=True):
        ways = _ways(rows)
        if key not in ports or not ways:
            continue
        switches = ports[key]["switch"].unique(maintain_order=True).to_list()
        signature = (tuple(switches), tuple((a.node, b.node, rate) for a, b, rate in ways))
        if signature not in known:
            try:
                networks.append(_network(switches, ways))
            except TopologyError as error:
                return [Text(f"The network cannot be drawn: {error}", "why")]
            known[signature] = len(networks) - 1
        loads.append(
            Load(
                known[signature],
                *key,
                runs.spans[key][1] - runs.spans[key][0],
                _both(ways, _carried(rows)),
                _of_ports(ways, counters.get(key), "level1_pkts", "level2_pkts"),
                _of_ports(ways, ports[key], "dropped_pkts"),
                _of_ports(ways, pauses.get(key), "paused_ns", name="node"),
            )
        )
    if not loads:
        return [Text("The results hold no table of links: the network cannot be drawn.", "why")]
    return [
        Drawing(
            "Load of links",
            "Colour: the mean load of a link in its busier direction, from the first start of a flow to the end of the "
            "run. Rings: ports that dropped packets. Point at the middle of a link for its numbers in both directions; "
            "the table below has all of them.",
            networks,
            loads,
            [runs.left_out] if runs.left_out else [],
        )
    ]


def _ways(rows: pl.DataFrame) -> list[tuple[_End, _End, int]]:
    """Each link once, in the order of the table, which has both directions."""
    found: dict[frozenset[str], tuple[_End, _End, int]] = {}
    for link, rate in rows.select("link", "rate_bps").iter_rows():
        first, _, second = str(link).partition("->")
        ends = [_End(name, int(port)) for name, _, port in (text.rpartition(":") for text in (first, second))]
        found.setdefault(frozenset((first, second)), (ends[0], ends[1], int(rate)))
    return list(found.values())


def _network(switches: list[str], ways: list[tuple[_End, _End, int]]) -> Network:
    inside = set(switches)
    hosts = dict.fromkeys(end.node for way in ways for end in way[:2] if end.node not in inside)
    links = [Link(a=a.node, b=b.node, rate_bps=rate, delay_ns=0, queue_capacity_pkts=_ANY_QUEUE) for a, b, rate in ways]
    topology = Topology(
        tuple(Host(name=name) for name in hosts), tuple(Switch(name=name) for name in switches), tuple(links)
    )
    places = layout(topology)
    names = [*switches, *hosts]
    number = {name: place for place, name in enumerate(names)}
    return Network(
        names,
        len(switches),
        [round(places[name][0], 5) for name in names],
        [places[name][1] for name in names],
        [(number[a.node], number[b.node]) for a, b, _ in ways],
        [rate for _, _, rate in ways],
    )


def _carried(rows: pl.DataFrame) -> Callable[[_End, _End], int]:
    """Bytes per direction, by its ends."""
    found = {str(link): int(count) for link, count in rows.select("link", "bytes").iter_rows()}

    def carried(a: _End, b: _End) -> int:
        return found.get(f"{a.node}:{a.port}->{b.node}:{b.port}", 0)

    return carried


def _both(ways: list[tuple[_End, _End, int]], value: Callable[[_End, _End], int]) -> tuple[list[int], list[int]]:
    return [value(a, b) for a, b, _ in ways], [value(b, a) for a, b, _ in ways]


def _of_ports(
    ways: list[tuple[_End, _End, int]], table: pl.DataFrame | None, *columns: str, name: str = "switch"
) -> tuple[list[int], list[int]]:
    """Sum of columns of the sending port of each direction; 0 if the table lacks that port."""
    found: dict[tuple[str, int], int] = {}
    if table is not None:
        for node, port, *values in table.select(name, "port", *columns).iter_rows():
            at = (str(node), int(port))
            found[at] = found.get(at, 0) + sum(int(one or 0) for one in values)

    def sent(a: _End, _b: _End) -> int:
        return found.get((a.node, a.port), 0)

    return _both(ways, sent)
