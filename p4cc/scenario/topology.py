"""The network of a scenario: a shape by name with its parameters, or nodes and links written out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from p4cc.files import find_named, read_text
from p4cc.scenario.base import KIND, Anything, Told, kinds
from topos import (
    DragonflyParams,
    DumbbellParams,
    FatTreeParams,
    LeafSpineParams,
    LinkChange,
    ParkingLotParams,
    RailParams,
    StarParams,
    change_links,
    generate,
    topology_from_plain,
)
from topos import Topology as Graph
from topos.graph import MAX_DELAY_NS, MAX_QUEUE_PKTS, MAX_RATE_BPS
from topos.loaders import LinkDefaults, graph_of, load_lab
from topos.loaders.htsim import read_htsim_topology
from topos.loaders.imported import inside
from topos.loaders.ns3 import read_ns3_topology
from topos.shapes.common import QueuePkts

LinkChanges = Annotated[
    tuple[LinkChange, ...],
    Field(
        max_length=1_000,
        description="Links that differ from the shape's defaults, identified by the names of their ends.",
    ),
]


class Shape(Told):
    """Base of the shapes that a generator in `topos` builds."""

    kind: str
    """The shape's name."""
    link_changes: LinkChanges = ()

    def build(self, scenario: Path) -> Graph:
        """The graph; raises TopologyError."""
        del scenario
        parameters = self.model_dump(exclude={"kind", "link_changes"})
        return change_links(generate(self.kind, parameters), self.link_changes)


class StarTopology(StarParams, Shape):
    """N senders, one switch, one aggregator, equal links (docs/algorithms/topologies.md#topologies, #t-incast)."""

    kind: Annotated[Literal["star"], KIND] = "star"  # pyright: ignore[reportIncompatibleVariableOverride]


class DumbbellTopology(DumbbellParams, Shape):
    """Two rows of hosts and one bottleneck, optionally with a separate round-trip time for each pair.

    Source: docs/algorithms/topologies.md#topologies, #t-geo.
    """

    kind: Annotated[Literal["dumbbell"], KIND] = "dumbbell"  # pyright: ignore[reportIncompatibleVariableOverride]


class ParkingLotTopology(ParkingLotParams, Shape):
    """A chain of bottlenecks, with flows across all of them and flows across one."""

    kind: Annotated[Literal["parking_lot"], KIND] = "parking_lot"  # pyright: ignore[reportIncompatibleVariableOverride]


class LeafSpineTopology(LeafSpineParams, Shape):
    """Two tiers, with every leaf connected to every spine."""

    kind: Annotated[Literal["leaf_spine"], KIND] = "leaf_spine"  # pyright: ignore[reportIncompatibleVariableOverride]


class FatTreeTopology(FatTreeParams, Shape):
    """Three tiers of K-port switches (docs/algorithms/topologies.md#topologies, #t-fat10)."""

    kind: Annotated[Literal["fat_tree"], KIND] = "fat_tree"  # pyright: ignore[reportIncompatibleVariableOverride]


class DragonflyTopology(DragonflyParams, Shape):
    """Groups of routers, with one long link between each pair of groups."""

    kind: Annotated[Literal["dragonfly"], KIND] = "dragonfly"  # pyright: ignore[reportIncompatibleVariableOverride]


class RailTopology(RailParams, Shape):
    """Multi-GPU servers: NICs with the same number share a rail switch, and spines connect the rail switches."""

    kind: Annotated[Literal["rail"], KIND] = "rail"  # pyright: ignore[reportIncompatibleVariableOverride]


class CustomTopology(Told):
    """Explicit hosts, switches and links; ports of a switch are numbered in the order of its links unless given."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Annotated[Literal["custom"], KIND] = "custom"
    hosts: Annotated[list[dict[str, Anything]], Field(min_length=1)]
    """End systems: a list of `{name: h1}`, optionally with `ipv4` (`10.0.1.1/24`), `mac` and `gateway_mac`."""
    switches: Annotated[list[dict[str, Anything]], Field(min_length=1)]
    """Switches: a list of `{name: s1}`."""
    links: Annotated[list[dict[str, Anything]], Field(min_length=1)]
    """A list of links, each with its ends `a` and `b`, `rate_bps`, `delay_ns`, `queue_capacity_pkts`, and
    `framing_bytes`, `loss`, `one_way`, and the ports `a_port` and `b_port` where wanted.
    """

    def build(self, scenario: Path) -> Graph:
        """The graph; raises TopologyError."""
        del scenario
        return topology_from_plain(self.model_dump(exclude={"kind"}))


class Ns3Topology(Told):
    """A file in the text format of HPCC's ns-3 simulator (`topos/loaders/ns3.py`)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Annotated[Literal["ns3"], KIND] = "ns3"
    file: Annotated[str, Field(min_length=1, description="Path relative to the scenario or the project.")]
    queue_capacity_pkts: QueuePkts = MAX_QUEUE_PKTS
    """Capacity of each queue, which the format does not define; the shared buffer of a switch fills first."""
    nvswitches: Literal["keep", "leave_out"] = "keep"
    """Whether SimAI's NVSwitches are part of the network; without them, the GPUs of a server communicate over it."""

    def build(self, scenario: Path) -> Graph:
        """The graph; raises TopologyError, or UserError for a file that cannot be read."""
        path = find_named(self.file, scenario, what="topology", key="topology.file")
        return read_ns3_topology(
            read_text(path, "topology"),
            str(path),
            self.queue_capacity_pkts,
            without_nvswitches=self.nvswitches == "leave_out",
        )


class HtsimTopology(Told):
    """A fat tree of htsim's `.topo` format, of two or three tiers (docs/algorithms/topologies.md#t-topo).

    Host i is `h<i>`; switches are `tor<i>`, `agg<i>` and `core<i>`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Annotated[Literal["htsim"], KIND] = "htsim"
    file: Annotated[str, Field(min_length=1, description="Path relative to the scenario or the project.")]
    queue_capacity_pkts: QueuePkts = MAX_QUEUE_PKTS
    """Capacity of queues without a size in the file, htsim's `-q`; the shared buffer of a switch fills first."""
    packet_bytes: Annotated[int, Field(ge=64, le=65_535)] = 4_150
    """Packet size that turns the file's queue sizes in bytes into packets."""

    def build(self, scenario: Path) -> Graph:
        """The graph; raises TopologyError, or UserError for a file that cannot be read."""
        path = find_named(self.file, scenario, what="topology", key="topology.file")
        return read_htsim_topology(read_text(path, "topology"), str(path), self.queue_capacity_pkts, self.packet_bytes)


class ImportedTopology(Told):
    """`topology.json` of the P4 tutorials or `p4app.json` of p4-utils: its nodes, links, ports and addresses.

    Programs that such a file names belong in the scenario (`p4cc init topology.json` writes them there).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Annotated[Literal["import"], KIND] = "import"
    file: Annotated[str, Field(min_length=1, description="Path relative to the scenario or the project.")]
    rate_bps: Annotated[int, Field(gt=0, le=MAX_RATE_BPS)] = 10_000_000_000
    """Rate of links without a rate in the file."""
    delay_ns: Annotated[int, Field(ge=0, le=MAX_DELAY_NS)] = 1_000
    """One-way delay of links without a delay, or with a delay of 0, in the file."""
    queue_capacity_pkts: QueuePkts = 64
    """Queue capacity of links without one in the file; the default is BMv2's."""
    entries: bool = False
    """Whether to install the entry files that it names for switches, before `switch.entries`."""
    link_changes: LinkChanges = ()

    def build(self, scenario: Path) -> Graph:
        """The graph; raises TopologyError, or UserError for a file that is not there."""
        path = find_named(self.file, scenario, what="topology", key="topology.file")
        defaults = LinkDefaults(self.rate_bps, self.delay_ns, self.queue_capacity_pkts)
        return change_links(graph_of(load_lab(path).network, defaults), self.link_changes)

    def entry_files(self, scenario: Path) -> list[tuple[str, str]]:
        """Switches with each file of entries that the file names for them, as `switch.entries` would name it.

        Raises TopologyError, or UserError for a file that is not there.
        """
        path = find_named(self.file, scenario, what="topology", key="topology.file")
        lab = load_lab(path)
        files = [(one.name, file) for one in lab.network.switches for file in (one.runtime, one.commands) if file]
        folder = path.resolve().parent
        # Paths start from the folder of the exercise, which may be the one above.
        named = [(switch, os.path.relpath(inside(lab.folder, file), folder)) for switch, file in files]
        return [(switch, os.path.normpath(Path(self.file).parent / file)) for switch, file in named]


Topology = Annotated[
    StarTopology
    | DumbbellTopology
    | ParkingLotTopology
    | LeafSpineTopology
    | FatTreeTopology
    | DragonflyTopology
    | RailTopology
    | CustomTopology
    | Ns3Topology
    | HtsimTopology
    | ImportedTopology,
    Field(discriminator="kind"),
]
TOPOLOGY_KINDS = kinds(Topology)
