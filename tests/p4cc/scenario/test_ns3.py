"""Flow files and path maps of the ns-3 simulator: what is read, what is refused, and flows that go as they are told."""

from __future__ import annotations

import contextlib
import tempfile
import zlib
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.ecmp import FiveTuple, PortSweep, crc16, switch_factor
from p4cc.errors import UserError
from p4cc.planning.ns3_flows import Ns3Flow, Ns3Path, read_ns3_flows, read_ns3_paths
from p4cc.planning.path_choice import PathChoice
from tests.p4cc.scenarios import ROOT, run, scenario
from topos import Topology, generate, plan_addresses, shortest_routes

RDMA = {
    "switch": {"program": "p4src/v1model/ecn_red.p4", "ecn_profile": "rfc3168", "qdepth_unit": "cells_80B"},
    "transport": {"kind": "rdma"},
    "variants": [{"name": "dcqcn", "rate_control": {"name": "dcqcn"}}],
}


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_flows_are_read_in_order_and_what_follows_is_not(tmp_path: Path) -> None:
    file = written(tmp_path, "flow.txt", "2\n0 1 3 100 5000 2\n4 2 3 200 1 2.0000000014\n\nFirst line: # of flows\n")
    assert read_ns3_flows(file) == [
        Ns3Flow(0, 1, 3, 100, 5_000, 2_000_000_000),
        Ns3Flow(4, 2, 3, 200, 1, 2_000_000_001),
    ]


def test_conweaves_flows_have_no_port(tmp_path: Path) -> None:
    file = written(tmp_path, "flow.txt", "2\n0 8 3 1000 0.000001\n1 9 3 2000 0.000002\n")
    assert read_ns3_flows(file) == [Ns3Flow(0, 8, 3, None, 1_000, 1_000), Ns3Flow(1, 9, 3, None, 2_000, 2_000)]


@pytest.mark.parametrize(
    ("text", "line", "cause"),
    [
        ("", 1, "ends before the number of flows"),
        ("0", 1, "number of flows is '0'"),
        ("9999999", 1, "number of flows is '9999999'"),
        ("2\n0 1 3 100 5000 2\n", 2, "the file has 1 of the 2 flows that its first line promises"),
        ("1\n0 1 9 100 5000 2", 2, "priority is '9'"),
        ("1\n0 1 3 70000 5000 2", 2, "destination port is '70000'"),
        ("1\n0 1 3 100 0 2", 2, "size is '0'"),
        ("1\n0 1 3 100 -5 2", 2, "size is '-5'"),
        ("1\n0 1 3 100 5 -2", 2, "start is '-2'"),
        ("1\n0 1 3 100 5 1e99999", 2, "start is '1e99999'"),
        ("1\n0 1 3 100 5 sNaN", 2, "start is 'sNaN'"),
        ("1\n0 \u0661 3 100 5 2", 2, "destination is"),
    ],
)
def test_faults_of_flow_files_are_named_by_line(tmp_path: Path, text: str, line: int, cause: str) -> None:
    file = written(tmp_path, "flow.txt", text)
    with pytest.raises(UserError) as caught:
        read_ns3_flows(file)
    assert caught.value.place == f"{file}:{line}"
    assert cause in caught.value.cause


def test_paths_by_place_with_and_without_a_way_back(tmp_path: Path) -> None:
    file = written(tmp_path, "paths.txt", "# flow: there / back\n0: 16 18 17\n2 : 16 19 17 / 17 18 16 # both\n\n")
    assert read_ns3_paths(file, 3) == {0: Ns3Path((16, 18, 17)), 2: Ns3Path((16, 19, 17), (17, 18, 16))}


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("0 16 17", "is not a path"),
        ("0:", "is not a path"),
        ("0: 16 / ", "is not a path"),
        (f"0: {'9' * 5_000}", "is not a path"),
        ("5: 16 17", "flow 5 does not exist"),
        ("0: 16\n0: 17", "flow 0 has two paths"),
        (f"0: {'1 ' * 20}", "the path has 20 switches"),
    ],
)
def test_faults_of_path_maps_are_named(tmp_path: Path, text: str, cause: str) -> None:
    with pytest.raises(UserError, match=cause):
        read_ns3_paths(written(tmp_path, "paths.txt", text), 5)


WORD = st.one_of(st.sampled_from(("0", "1", "3", "100", ":", "/", "2.5", "1e9", "nan", "-1")), st.text(max_size=6))


@given(st.lists(WORD, max_size=20).map(" ".join))
def test_no_text_gives_anything_but_flows_and_paths_or_a_message(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "file.txt"
        file.write_bytes(text.encode("utf-8", "surrogatepass"))
        with contextlib.suppress(UserError):
            read_ns3_flows(file)
        with contextlib.suppress(UserError):
            read_ns3_paths(file, 10)


def test_crc16_is_v1models() -> None:
    # The check value of CRC-16/ARC, which BMv2's crc16 is.
    assert crc16(b"123456789") == 0xBB3D
    assert crc16(bytes(2) + b"123456789") == 0xBB3D, "zeros in front change nothing: no salt, no other choice"


def chosen_place(flow: FiveTuple, factor: int, members: int) -> int:
    """The choice of one flow, in the steps of `p4src/controls/forward.p4`."""
    packed = flow.packed()
    salt = (zlib.crc32(packed) * factor % 2**32) >> 16
    return crc16(salt.to_bytes(2, "big") + packed) % members


def path_of(topology: Topology, ecmp_seed: int, ends: tuple[str, str], src_port: int) -> tuple[str, ...]:
    """The switches that a flow from a source port passes, one after the other."""
    addresses, routes = plan_addresses(topology), shortest_routes(topology)
    src, dst = ends
    hosts = addresses.hosts
    flow = FiveTuple(hosts[src].ipv4, hosts[dst].ipv4, 17, src_port, 52_224)
    (here, _), passed = topology.interfaces[src][0], list[str]()
    while here != dst:
        passed.append(here)
        ports = routes[here][dst]
        place = chosen_place(flow, switch_factor(ecmp_seed, addresses.device_ids[here]), len(ports))
        here = topology.port(here, ports[place]).peer
    return tuple(passed)


@given(
    st.integers(0, 2**32 - 1),
    st.integers(0, 2**32 - 1),
    st.integers(0, 2**31).map(lambda n: 2 * n + 1),
    st.integers(1, 32),
)
def test_ports_swept_at_once_choose_as_one_by_one(src: int, dst: int, factor: int, members: int) -> None:
    factor %= 2**32
    ports = range(49_152, 65_536, 613)
    places = PortSweep(FiveTuple(src, dst, 17, 0, 52_224), ports).places(factor, members)
    alone = [chosen_place(FiveTuple(src, dst, 17, port, 52_224), factor, members) for port in ports]
    assert places.tolist() == alone


def test_a_second_stage_chooses_anew() -> None:
    """Flows that one switch sends to a second spread there too: no polarisation.

    Source: docs/algorithms/README.md#p4-needs.
    """
    factors = [switch_factor(0, device) for device in (1, 2, 3)]
    assert all(factor % 2 for factor in factors)
    assert len(set(factors)) == 3
    hosts = [(0x0A000001 + n % 50, 0x0A000100 + n // 50) for n in range(4_000)]
    flows = [FiveTuple(src, dst, 17, 49_152 + 7 * n % 16_384, 52_224) for n, (src, dst) in enumerate(hosts)]
    for members in (2, 4, 5):
        arrived = [flow for flow in flows if chosen_place(flow, factors[0], members) == 1]
        counts = [0] * members
        for flow in arrived:
            counts[chosen_place(flow, factors[1], members)] += 1
        share = len(arrived) / members
        # Four standard deviations of a binomial.
        assert all(abs(count - share) < 4 * (share * (1 - 1 / members)) ** 0.5 for count in counts), counts


def test_a_port_is_found_for_every_way_there_and_back() -> None:
    topology = generate("fat_tree", {"k": 4})
    choice = PathChoice(topology, 3, shortest_routes(topology))
    there_by_port = {port: path_of(topology, 3, ("h1", "h16"), port) for port in range(49_152, 49_352)}
    back_by_port = {port: path_of(topology, 3, ("h16", "h1"), port) for port in there_by_port}
    ways = set(there_by_port.values())
    assert len(ways) == 4
    for there in ways:
        for way in ways:
            back = way[::-1]
            fits = [port for port in there_by_port if (there_by_port[port], back_by_port[port]) == (there, back)]
            assert choice.source_port(("h1", "h16"), there, back) == fits[0], "the lowest"
    with pytest.raises(UserError, match="no UDP source port makes ECMP route h1 to h16 along p1e1 p1a1"):
        choice.source_port(("h1", "h16"), ("p1e1", "p1a1"))


def test_a_path_over_a_link_that_the_engine_may_not_take_is_refused() -> None:
    dual = generate("leaf_spine", {"leaves": 4, "spines": 2, "hosts_per_leaf": 2, "dual_tor": True})
    choice = PathChoice(dual, 0, shortest_routes(dual))
    with pytest.raises(UserError, match=r"follows from the flow's number \(leaf1, leaf2\).*leaf1 is not sure"):
        choice.source_port(("h1", "h3"), ("leaf1", "spine1", "leaf3"))
    rails = generate(
        "rail", {"units": 1, "servers_per_unit": 2, "rails": 2, "spines": 1, "nvswitch_rate_bps": 3_600_000_000_000}
    )
    choice = PathChoice(rails, 0, shortest_routes(rails, check=False))
    names = rails.host_names
    ways = {name: [switch for switch, _ in ends] for name, ends in rails.interfaces.items()}
    here, there = names[0], next(name for name in names if set(ways[name]) & set(ways[names[0]]) and name != names[0])
    (shared,) = set(ways[here]) & set(ways[there])
    # One link leads there, so it is the engine's choice.
    assert choice.source_port((here, there), (shared,), (shared,))
    other = next(switch for switch in ways[here] if switch != shared)
    with pytest.raises(UserError, match=f"leaves by {shared}, not {other}"):
        choice.source_port((here, there), (other, shared))


def test_flows_take_the_way_that_the_map_gives(tmp_path: Path) -> None:
    """All flows of a rack by one spine: the other spine carries nothing, though hashes alone would share it out."""
    lines = [f"{source} {8 + source} 3 100 20000 2.00000{source}" for source in range(8)]
    flows = written(tmp_path, "flows.txt", f"{len(lines)}\n" + "\n".join(lines))
    by_map = "\n".join(f"{place}: 16 19 17 / 17 19 16" for place in range(8))
    topology = {"kind": "ns3", "file": str(ROOT / "experiments/hpcc/ns3_topology.txt")}
    spines: dict[str, list[str]] = {}
    for name, paths in (("hash", None), ("map", str(written(tmp_path, "paths.txt", by_map)))):
        folder = tmp_path / name
        folder.mkdir()
        traffic = {"kind": "ns3", "file": str(flows), "paths": paths}
        ran = run(folder, scenario(topology=topology, traffic=traffic, **RDMA, stop_ns=3_000_000_000))
        table = ran.table("flows")
        assert table["class"].unique().to_list() == ["ns3-100"]
        assert (table["fct_ns"] > 0).all()
        ports = ran.table("ports").filter(pl.col("switch").is_in(["s18", "s19"]), pl.col("tx_pkts") > 0)
        spines[name] = ports["switch"].unique().sort().to_list()
    assert spines == {"hash": ["s18", "s19"], "map": ["s19"]}
