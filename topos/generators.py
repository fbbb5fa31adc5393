"""Topologies by name: each shape takes checked parameters and returns a graph.

`generate("star", {"senders": 25})` is the one way in; a new shape is a file in `topos/shapes` with a parameter class
and a function, and a line in `GENERATORS`. Any link of a generated network can be given other properties afterwards.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from typing import Annotated, TypeVar

from pydantic import Field, ValidationError

from topos.errors import TopologyError, fail
from topos.graph import Link, Topology, problems_of
from topos.shapes.clos import FatTreeParams, LeafSpineParams, fat_tree, leaf_spine
from topos.shapes.common import DelayNs, FramingBytes, Loss, Params, QueuePkts, RateBps
from topos.shapes.dragonfly import DragonflyParams, dragonfly
from topos.shapes.dumbbell import DumbbellParams, dumbbell
from topos.shapes.parking_lot import ParkingLotParams, parking_lot
from topos.shapes.rail import RailParams, rail
from topos.shapes.star import StarParams, star

_P = TypeVar("_P", bound=Params)


def _build(params: type[_P], build: Callable[[_P], Topology], values: Mapping[str, object]) -> Topology:
    """Checks the values of a shape's parameters and builds it; raises TopologyError."""
    try:
        checked = params.model_validate(dict(values))
    except ValidationError as error:
        raise TopologyError(problems_of(error)) from None
    return build(checked)


GENERATORS: Mapping[str, Callable[[Mapping[str, object]], Topology]] = {
    "dragonfly": partial(_build, DragonflyParams, dragonfly),
    "dumbbell": partial(_build, DumbbellParams, dumbbell),
    "fat_tree": partial(_build, FatTreeParams, fat_tree),
    "leaf_spine": partial(_build, LeafSpineParams, leaf_spine),
    "parking_lot": partial(_build, ParkingLotParams, parking_lot),
    "rail": partial(_build, RailParams, rail),
    "star": partial(_build, StarParams, star),
}


def generate(name: str, params: Mapping[str, object]) -> Topology:
    """Builds the topology `name` with these parameters; raises TopologyError for an unknown name or a bad value."""
    generator = GENERATORS.get(name)
    if generator is None:
        raise fail(f"topology {name!r}", "there is no such generator", f"use one of: {', '.join(GENERATORS)}")
    return generator(params)


NodePattern = Annotated[str, Field(min_length=1, max_length=64, description="Node name; * and ? are wildcards.")]


class LinkChange(Params):
    """Other properties for the links between nodes that match `a` and nodes that match `b`, in either direction."""

    a: NodePattern
    b: NodePattern = "*"
    rate_bps: RateBps | None = None
    """New rate; unchanged if absent."""
    delay_ns: DelayNs | None = None
    """New one-way propagation delay; unchanged if absent."""
    queue_capacity_pkts: QueuePkts | None = None
    """New capacity of the queues into the links; unchanged if absent."""
    framing_bytes: FramingBytes | None = None
    """New overhead per packet beyond its IP length; unchanged if absent."""
    loss: Loss | None = None
    """New packet loss probability; unchanged if absent."""

    def fits(self, link: Link) -> bool:
        """Whether the link is meant."""
        ends = ((link.a, link.b), (link.b, link.a))
        return any(fnmatchcase(one, self.a) and fnmatchcase(other, self.b) for one, other in ends)


def change_links(topology: Topology, changes: Iterable[LinkChange]) -> Topology:
    """The topology with the changes made in order; raises TopologyError for one that fits no link."""
    links = list(topology.links)
    for number, change in enumerate(changes):
        places = [index for index, link in enumerate(links) if change.fits(link)]
        if not places:
            cause = f"no link connects {change.a!r} and {change.b!r}"
            raise fail(f"link_changes[{number}]", cause, f"some nodes are {', '.join(_examples(topology))}")
        update = change.model_dump(exclude={"a", "b"}, exclude_none=True)
        for index in places:
            links[index] = links[index].model_copy(update=update)
    return replace(topology, links=tuple(links))


def _examples(topology: Topology) -> tuple[str, ...]:
    return (*topology.host_names[:2], *topology.switch_names[:2])
