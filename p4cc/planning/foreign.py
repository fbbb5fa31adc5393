"""Topologies and flows of other simulators as scenarios: whose file it seems to be, and a scenario around it.

A file has the network or the flows, not both: `p4cc import` takes the network of a flow file as `--topology`. What no
file says (the sender, marking, the end) is htsim's usual case: NSCC with packets sprayed over equal paths, RED between
a fifth and four fifths of what a round trip holds.
"""

from __future__ import annotations

import re
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from p4cc.errors import UserError
from p4cc.files import read_text
from p4cc.planning.chakra import read_chakra, read_groups, traces
from p4cc.planning.coflows import read_coflows
from p4cc.planning.flow_table import read_flow_table
from p4cc.planning.goal import read_goal
from p4cc.planning.hosts import Hosts, some
from p4cc.planning.htsim_flows import read_connection_matrix
from p4cc.planning.imported import yaml_text
from p4cc.planning.ns3_flows import read_ns3_flows
from p4cc.planning.simai_workload import read_simai_workload
from p4cc.scenario.base import MAX_TIME_NS
from p4cc.scenario.yaml import name_of
from topos import Paths, TopologyError, generate, topology_from_plain
from topos.graph import MAX_QUEUE_PKTS
from topos.loaders import LinkDefaults, graph_of, load_lab
from topos.loaders.htsim import read_htsim_topology
from topos.loaders.ns3 import host_name, read_ns3_topology

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from p4cc.json_data import JsonObject
    from p4cc.planning.operation_graph import OperationGraph
    from topos import Topology

_RATE_BPS, _DELAY_NS = 100_000_000_000, 1_000
"""Of links that no file describes: those of htsim without `-topo`."""
_PACKET_BYTES, _MSS_BYTES = 4_096, 4_032
_MAX_STAR = 500
_SNIFFED = 1 << 16
_LEAST_STOP_NS = 10_000_000
TOPOLOGY, FLOWS = "topology", "flows"


@dataclass(frozen=True)
class Format:
    """A format of files: the kind of the scenario's part, and whose it is in words."""

    part: str
    kind: str
    what: str


HTSIM_TOPOLOGY = Format(TOPOLOGY, "htsim", "a topology of htsim")
HTSIM_FLOWS = Format(FLOWS, "htsim", "a connection matrix of htsim")
_NS3_FLOWS = {
    6: Format(FLOWS, "ns3", "a flow file of HPCC's ns-3"),
    5: Format(FLOWS, "ns3", "a flow file of ConWeave's ns-3"),
}
"""By the count of words for a flow."""
TABLE = Format(FLOWS, "flows", "a table of flows")
HPCC_CONFIG = Format("scenario", "config", "a configuration of HPCC's ns-3")
LAB = Format(TOPOLOGY, "import", "a topology of the P4 tutorials or p4-utils")
_NS3 = {
    3: Format(TOPOLOGY, "ns3", "a topology of HPCC's ns-3"),
    4: Format(TOPOLOGY, "ns3", "a topology of ns3-datacenter"),
    5: Format(TOPOLOGY, "ns3", "a topology of SimAI"),
}
"""By the count of numbers on the first line."""
SIMAI = Format(FLOWS, "simai", "a workload of SimAI or ASTRA-sim")
CHAKRA = Format(FLOWS, "chakra", "an execution trace of Chakra (ASTRA-sim)")
COFLOWS = Format(FLOWS, "coflows", "a coflow trace (CoflowSim)")
GOAL = Format(FLOWS, "goal", "a GOAL schedule (LogGOPSim, ATLAHS)")
_READ_JOBS: dict[Format, Callable[[Path, int | None, Path | None], OperationGraph]] = {
    GOAL: lambda path, _hosts, _groups: read_goal(path),
    CHAKRA: lambda path, _hosts, groups: _read_chakra(path, groups),
    SIMAI: lambda path, hosts, _groups: read_simai_workload(path, hosts),
    COFLOWS: lambda path, _hosts, _groups: read_coflows(path),
}
"""Files of operations with their readers, which take the number of hosts that were named and the file of groups."""
_SUFFIXES = {
    ".topo": HTSIM_TOPOLOGY,
    ".cm": HTSIM_FLOWS,
    ".csv": TABLE,
    ".parquet": TABLE,
    ".json": LAB,
    ".goal": GOAL,
    ".et": CHAKRA,
}
_WORKLOAD = re.compile(r"HYBRID_\w+|DATA|MODEL|MICRO|DISTRIBUTED_INFERENCE", re.ASCII)
"""The first word of a workload."""
_KNOWN = (
    "config.txt of HPCC, topologies and flows of ns-3 and htsim (.topo, .cm), CSV or Parquet of flows, GOAL schedules, "
    "Chakra's traces (.et), SimAI's workloads, coflow traces, topology.json"
)


@dataclass(frozen=True)
class ImportOptions:
    """What a user says about a file."""

    network: Path | None = None
    """The topology of a flow file."""
    ranks: tuple[str, ...] = ()
    """Hosts by rank, by name; * and ? are wildcards."""
    groups: Path | None = None
    """ASTRA-sim's file of communicator groups."""


@dataclass(frozen=True)
class ForeignScenario:
    """A scenario as a plain document, and where its files are from."""

    document: JsonObject
    title: str

    def text(self) -> str:
        """The scenario as YAML with comments."""
        comments = {
            "name": f"{self.title}.",
            "switch": "\nPackets are sprayed over equal paths; RED marks between a fifth and four fifths of what a\n"
            "round trip holds. The file does not say so: change it to what you compare with.",
            "transport": "\nNSCC, Ultra Ethernet's sender; `p4cc algorithms` lists all.",
            "stop_ns": "\nLatest end of a run, or the end of flows without a size.",
        }
        return yaml_text(self.document, comments)


def identify(path: Path) -> Format:
    """Whose file it seems to be; raises UserError with the first line of one that p4cc does not read."""
    try:
        with path.open("rb") as file:
            head = file.read(_SNIFFED)
    except OSError as error:
        cause = f"cannot read the file: {error.strerror}"
        raise UserError(cause, place=str(path), remedy="give an existing file") from error
    if head.startswith(b"PAR1"):
        return TABLE
    numbered = enumerate(head.decode("utf-8", "replace").splitlines(), start=1)
    lines = [(line, text.split()) for line, text in numbered if text.strip() and not text.lstrip().startswith("#")]
    if not lines:
        raise UserError("the file is empty", place=str(path), remedy=f"give one of: {_KNOWN}")
    found = _SUFFIXES.get(path.suffix) or _by_content([words for _, words in lines])
    if found is not None:
        return found
    line, words = lines[0]
    text = " ".join(words)
    if len(words) == 2 and all(map(_is_number, words)):
        cause, remedy = "seems to be a distribution, which is part of a scenario", "write size: {kind: cdf, file: FILE}"
        raise UserError(cause, place=f"{path}:{line}", remedy=remedy)
    raise UserError(
        f"{text[:40]!r} begins no file that p4cc reads",
        place=f"{path}:{line}",
        remedy=f"files that it reads: {_KNOWN}",
    )


def _by_content(lines: list[list[str]]) -> Format | None:
    first = lines[0]
    keys = {words[0].lower() for words in lines}
    if {"topology_file", "flow_file"} & keys:
        return HPCC_CONFIG
    if first[0] == "num_ranks":
        return GOAL
    if _WORKLOAD.fullmatch(first[0]):
        return SIMAI
    if first[0].lower() in ("nodes", "tiers", "podsize") or "->" in first[0]:
        return HTSIM_FLOWS if "connections" in keys or any("->" in key for key in keys) else HTSIM_TOPOLOGY
    whole = sum(word.isascii() and word.isdigit() for word in first)
    if whole in _NS3 and len(first) - whole <= (whole == 5):
        return _NS3[whole]
    if len(first) == whole == 1 and len(lines) > 1 and len(lines[1]) in _NS3_FLOWS:
        return _NS3_FLOWS[len(lines[1])]
    if len(first) == whole == 2 and len(lines) > 1 and ":" in lines[1][-1]:
        return COFLOWS
    return TABLE if "," in first[0] else None


def _is_number(word: str) -> bool:
    return re.fullmatch(r"[0-9.eE+-]+", word, re.ASCII) is not None


def import_foreign(file: Path, options: ImportOptions | None, place: Callable[[Path], str]) -> ForeignScenario:
    """The scenario of a file that `identify` knows; `place` says how it names files. Raises UserError."""
    options = options or ImportOptions()
    found, network = identify(file), options.network
    _check_options(file, found, options)
    if found.part == TOPOLOGY:
        if network is not None:
            cause = f"is for flow files, and {file} is {found.what}"
            raise UserError(cause, place="--topology", remedy="leave it out")
        made = _topology(file, found, place)
        traffic: dict[str, Any] = {
            "kind": "poisson",
            "load": 0.3,
            "size": {"kind": "fixed", "bytes": 100_000},
            "end_ns": 100_000,
        }
        return _scenario(file, found, made, traffic, _Stop(0, 0))
    given = _given(network, place)
    hosts = () if given is None else given.topology.host_names
    if given is not None and options.ranks:
        hosts = _named_hosts(given.topology, options.ranks)
    is_job = found in _READ_JOBS
    flows = _operations(file, found, len(hosts) or None, options.groups) if is_job else _flows(file, found)
    made = given or _usual(file, found, flows)
    known = set(hosts or made.topology.host_names)
    missing = [end for end in flows.ends if end not in known]
    if missing or flows.nodes > len(known):
        needed = missing[0] if missing else f"{flows.nodes - 1}, counted from 0"
        remedy = f"name another topology; hosts of this one: {some(made.topology.host_names)}"
        if options.ranks:
            remedy = f"name more hosts; --ranks names {some(hosts)}"
        raise UserError(f"{file.name} needs host {needed}", place=str(network or file), remedy=remedy)
    traffic = {"kind": found.kind, "file": place(file)}
    if options.ranks:
        traffic["ranks"] = list(options.ranks)
    if options.groups is not None:
        traffic["groups"] = place(options.groups)
    return _scenario(file, found, made, traffic, flows.stop)


def _check_options(file: Path, found: Format, options: ImportOptions) -> None:
    """Raises UserError for an option that is for other files."""
    if options.groups is not None and found != CHAKRA:
        cause = f"is for execution traces of Chakra, and {file} is {found.what}"
        raise UserError(cause, place="--groups", remedy="leave it out")
    if options.ranks and found not in _READ_JOBS:
        raise UserError(
            f"is for files of operations, and {file} is {found.what}", place="--ranks", remedy="leave it out"
        )
    if options.ranks and options.network is None:
        raise UserError("names hosts of a network, and there is none", place="--ranks", remedy="add --topology FILE")


def _named_hosts(topology: Topology, patterns: tuple[str, ...]) -> list[str]:
    try:
        return Hosts(topology, "").several("ranks", patterns)
    except UserError as error:
        raise UserError(error.cause, place="--ranks", remedy=error.remedy) from error


def _read_chakra(path: Path, groups: Path | None) -> OperationGraph:
    found = traces(path)
    return read_chakra(found, {} if groups is None else read_groups(groups, len(found)))


def _given(network: Path | None, place: Callable[[Path], str]) -> _Network | None:
    """The network that was named; raises UserError for a file of flows."""
    if network is None:
        return None
    kind = identify(network)
    if kind.part != TOPOLOGY:
        raise UserError(f"{network} is {kind.what}", place="--topology", remedy="give a topology")
    return _topology(network, kind, place)


@dataclass(frozen=True)
class _Stop:
    """What bounds the end of a run."""

    last_start_ns: int
    busiest_bytes: int
    """Bytes that the busiest host sends or receives, or that go one after the other."""

    def at_ns(self, rate_bps: int) -> int:
        """A time by which flows at half of the link's rate are done, in tens of milliseconds."""
        needed = self.last_start_ns + 16 * 10**9 * self.busiest_bytes // rate_bps
        return min((needed // _LEAST_STOP_NS + 1) * _LEAST_STOP_NS, MAX_TIME_NS)


@dataclass(frozen=True)
class _Flows:
    """What a flow file says of its network and its end."""

    ends: list[str]
    """Names of hosts, where it has names, or numbers that are names."""
    nodes: int
    """The number of hosts, where it counts them."""
    stop: _Stop


def _flows(file: Path, found: Format) -> _Flows:
    """What a flow file has; raises UserError."""
    nodes, waits = 0, False
    with _with_format(found):
        if found == TABLE:
            rows = [(src, dst, size, start) for src, dst, size, start, *_ in read_flow_table(file).iter_rows()]
        elif found.kind == "ns3":
            flows = read_ns3_flows(file)
            rows = [(host_name(one.source), host_name(one.destination), one.size_bytes, one.start_ns) for one in flows]
        else:
            matrix = read_connection_matrix(file)
            matrix.graph()
            nodes, waits = matrix.nodes, bool(matrix.triggers)
            rows = [(f"{one.source}", f"{one.destination}", one.size_bytes or 0, one.start_ns) for one in matrix.flows]
    sums: Counter[tuple[str, str]] = Counter()
    for src, dst, size, _ in rows:
        sums["from", src] += size
        sums["to", dst] += size
    ends = [] if nodes else sorted({end for row in rows for end in row[:2]}, key=_natural)
    # Flows that wait for each other may go one after the other.
    most_bytes = sum(size for _, _, size, _ in rows) if waits else max(sums.values())
    return _Flows(ends, nodes, _Stop(max(start for *_, start in rows), most_bytes))


def _operations(file: Path, found: Format, hosts: int | None, groups: Path | None) -> _Flows:
    """What a file of operations has; raises UserError."""
    with _with_format(found):
        graph = _READ_JOBS[found](file, hosts, groups)
    return _Flows([], graph.ranks, _Stop(graph.total_ns, graph.total_bytes))


def _natural(name: str) -> tuple[list[tuple[int, str]], str]:
    """Sorts h2 before h10; numbers by length first, for Python refuses to read one of thousands of digits."""
    parts = re.split(r"([0-9]+)", name)
    numbers = [(len(digits := part.lstrip("0")), digits) if at % 2 else (-1, part) for at, part in enumerate(parts)]
    return numbers, name


@dataclass(frozen=True)
class _Network:
    """A network as the part of a scenario, and its graph."""

    document: dict[str, Any]
    topology: Topology


def _topology(file: Path, found: Format, place: Callable[[Path], str]) -> _Network:
    """A topology file as the part of a scenario, and its network; raises UserError."""
    document: dict[str, Any] = {"kind": found.kind, "file": place(file)}
    with _with_format(found):
        if found == LAB:
            usual = LinkDefaults(_RATE_BPS, _DELAY_NS, MAX_QUEUE_PKTS)
            settings = {"rate_bps": _RATE_BPS, "delay_ns": _DELAY_NS, "queue_capacity_pkts": MAX_QUEUE_PKTS}
            return _Network({**document, **settings}, graph_of(load_lab(file).network, usual))
        text = read_text(file, "topology")
        if found == HTSIM_TOPOLOGY:
            return _Network(document, read_htsim_topology(text, str(file)))
        return _Network(document, read_ns3_topology(text, str(file)))


def _usual(file: Path, found: Format, flows: _Flows) -> _Network:
    """The network of a flow file that was given none; raises UserError."""
    if found == HTSIM_FLOWS:
        k = next(k for k in range(2, 1_000, 2) if k**3 // 4 >= flows.nodes)
        if k**3 // 4 == flows.nodes:
            document = {"kind": "fat_tree", "k": k, "rate_bps": _RATE_BPS, "delay_ns": _DELAY_NS}
            fat_tree = generate("fat_tree", {key: value for key, value in document.items() if key != "kind"})
            return _Network(document, fat_tree)
        cause = f"no fat tree has {flows.nodes} hosts, and {found.what} has no network"
    elif (found == TABLE or found in _READ_JOBS) and len(ends := flows.ends or _ranks(flows.nodes)) <= _MAX_STAR:
        link = {"rate_bps": _RATE_BPS, "delay_ns": _DELAY_NS, "queue_capacity_pkts": MAX_QUEUE_PKTS}
        names = {"hosts": [{"name": end} for end in ends], "switches": [{"name": "switch"}]}
        plain = {**names, "links": [{"a": end, "b": "switch", **link} for end in ends]}
        with _with_format(found):
            return _Network({"kind": "custom", **plain}, topology_from_plain(plain))
    else:
        cause = f"{found.what} has no network"
    raise UserError(cause, place=str(file), remedy="name one with --topology FILE")


def _ranks(count: int) -> list[str]:
    return [f"h{rank}" for rank in range(count)]


def _scenario(file: Path, found: Format, network: _Network, traffic: dict[str, Any], stop: _Stop) -> ForeignScenario:
    """A scenario around a network and its traffic; raises UserError for a network in parts."""
    topology = network.topology
    title = f"{file.name}, {found.what}"
    links = [port.link_index for ends in topology.interfaces.values() for _, port in ends]
    rate_bps = max(topology.links[link].rate_bps for link in links)
    with _with_format(found, file):
        bdp_bytes = rate_bps * Paths(topology).longest_rtt_ns(_PACKET_BYTES) // (8 * 10**9)
    red = {"k_min_bytes": max(1, bdp_bytes // 5), "k_max_bytes": max(2, bdp_bytes * 4 // 5), "p_max": 1.0}
    document: dict[str, Any] = {
        "name": name_of(file.with_suffix(".yaml")),
        "title": title,
        "topology": network.document,
        "switch": {
            "program": "p4src/v1model/ecn_red_spray.p4",
            "ecn_profile": "rfc3168",
            "timestamp_unit": "ns",
            "qdepth_unit": "cells_80B",
            "red": {**red, "scale_with_rate": False},
        },
        "traffic": traffic,
        "transport": {
            "kind": "rdma",
            "mss_bytes": _MSS_BYTES,
            "recovery": "selective_repeat",
            "rto_ns": 10_000_000,
        },
        "variants": [{"name": "NSCC", "rate_control": {"name": "nscc"}}],
        "seeds": [1],
        "stop_ns": stop.at_ns(rate_bps),
        "record": {"windows_interval_ns": None, "queues_interval_ns": None},
    }
    return ForeignScenario(document, title)


@contextmanager
def _with_format(found: Format, file: Path | None = None) -> Generator[None]:
    """Says in errors what a file was read as, and the first one only; `file` where they do not name it."""
    try:
        yield
    except TopologyError as error:
        problem = error.problems[0]
        place, cause = (
            (problem.place, problem.cause) if file is None else (str(file), f"{problem.place} {problem.cause}")
        )
        raise UserError(_cause_with_format(cause, found), place=place, remedy=problem.remedy) from error
    except UserError as error:
        raise UserError(_cause_with_format(error.cause, found), place=error.place, remedy=error.remedy) from error


def _cause_with_format(cause: str, found: Format) -> str:
    return cause if found.what in cause else f"{cause} ({found.what})"
