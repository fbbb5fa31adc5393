"""Topology files of other tools: what they say, and what is said of bad ones."""

from __future__ import annotations

import contextlib
import copy
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.files.tutorial_runtime import read_runtime
from topos import StarParams, TopologyError, format_ipv4, format_mac, generate, plan_addresses
from topos.lab import LabEnd, LabHost, LabLink, LabNetwork, LabSwitch, lab_of
from topos.loaders import LinkDefaults, graph_of, load_lab, p4utils, tutorials
from topos.loaders.imported import inside
from topos.loaders.reading import duration_ns, parse_json

TUTORIALS = os.environ.get("P4CC_TUTORIALS")
"""A copy of the P4 tutorials, which is no part of this project."""

TUTORIAL: dict[str, Any] = {
    "hosts": {
        "h1": {"ip": "10.0.1.1/24", "mac": "08:00:00:00:01:11", "commands": ["route add default gw 10.0.1.10"]},
        "h2": {"ip": "10.0.2.2/24", "mac": "08:00:00:00:02:22"},
    },
    "switches": {"s1": {"runtime_json": "s1.json"}, "s2": {"cli_input": "s2.txt", "cpu_port": "510"}},
    "links": [["h1", "s1-p1"], ["s1-p3", "s2-p2", "0", 0.5], ["s2-p1", "h2", 5]],
}
P4APP: dict[str, Any] = {
    "p4_src": "main.p4",
    "tasks_file": "tasks.txt",
    "topology": {
        "assignment_strategy": "mixed",
        "default": {"bw": 5},
        "links": [
            ["h1", "s1", {"delay": "20ms", "loss": 1, "bw": 20, "max_queue_size": 100, "weight": 5}],
            ["h2", "s2"],
            ["s1", "s2"],
            ["h3", "s1", {"port2": 1}],
        ],
        "hosts": {"h1": {}, "h2": {}, "h3": {}},
        "switches": {"s10": {}, "s2": {"cli_input": "s2.txt"}, "s1": {"cpu_port": True}},
    },
}


def changed(description: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """The description with one value changed."""
    whole = copy.deepcopy(description)
    node: Any = whole
    *steps, last = path.split(".")
    for step in steps:
        node = node[int(step) if step.isdigit() else step]
    node[int(last) if last.isdigit() else last] = value
    return whole


def test_a_tutorials_topology_has_its_ports_addresses_and_tcp_ports() -> None:
    lab, warnings = tutorials.network(TUTORIAL)
    assert warnings == ()
    assert lab.hosts[0] == LabHost(
        "h1", "10.0.1.1/24", "08:00:00:00:01:11", commands=("route add default gw 10.0.1.10",)
    )
    assert [(one.name, one.device_id, one.grpc_port, one.thrift_port) for one in lab.switches] == [
        ("s1", 0, 50_051, 9_090),
        ("s2", 1, 50_052, 9_091),
    ]
    assert lab.switches[1].cpu_port == 510
    assert lab.links[1] == LabLink(LabEnd("s1", 3), LabEnd("s2", 2), rate_bps=500_000)
    assert lab.links[2].delay_ns == 5_000_000
    assert [(port.number, str(port.peer)) for port in lab.ports["s2"]] == [(1, "h2"), (2, "s1:3")]


def test_a_p4app_has_the_addresses_of_its_strategy() -> None:
    lab, program, warnings = p4utils.network(P4APP)
    assert program == "main.p4"
    assert warnings == ("tasks_file: tasks are not executed",)
    assert [(one.name, one.device_id, one.cpu_port) for one in lab.switches] == [
        ("s1", 1, 510),
        ("s2", 2, None),
        ("s10", 3, None),
    ]
    assert lab.hosts[0] == LabHost(
        "h1",
        "10.0.1.1/24",
        "00:00:0a:00:01:01",
        interface="h1-eth0",
        gateway="10.0.1.254",
        neighbours=(("10.0.1.254", "00:01:0a:00:01:01"), ("10.0.1.3", "00:00:0a:00:01:03")),
    )
    # h3 asked for port 1 of s1, so h1 has the next one.
    assert lab.links[0] == LabLink(LabEnd("h1"), LabEnd("s1", 2), 20_000_000, 20_000_000, 100, 0.01)
    assert [link.rate_bps for link in lab.links[1:]] == [5_000_000] * 3


@pytest.mark.parametrize(
    ("strategy", "ipv4", "gateway"),
    [("l2", "10.0.0.2/16", None), ("l3", "10.2.2.2/24", "10.2.2.1"), ("mixed", "10.0.2.2/24", "10.0.2.254")],
)
def test_every_strategy_gives_its_addresses(strategy: str, ipv4: str, gateway: str | None) -> None:
    lab, _, _ = p4utils.network(changed(P4APP, "topology.assignment_strategy", strategy))
    assert (lab.hosts[1].ipv4, lab.hosts[1].gateway) == (ipv4, gateway)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("hosts.h1.ip", "10.0.1.256/24", "hosts.h1.ip"),
        ("hosts.h1.ip", "10.0.2.2/24", "10.0.2.2 is also the address of h1"),
        ("hosts.h1.mac", "08:00", "not a MAC"),
        ("hosts.h1.commands", ["echo a\necho b"], "control characters"),
        ("hosts.h1.commands", "echo", "a list"),
        ("hosts.h1.commands", ["x" * 5_000], "too long, or contains"),
        ("hosts", [], "an object"),
        ("switches.s1.runtime_json", 7, "a string"),
        ("switches.s2.cpu_port", 511, "packets to 511 are dropped"),
        ("switches.s2.cpu_port", True, "a whole number"),
        ("links.0", ["h1"], "1 parts"),
        ("links.0", ["h1", "s1"], "s1-p2 for port 2"),
        ("links.0", ["h1", "h2"], "connects no switch"),
        ("links.0", ["h9", "s1-p1"], "'h9' is not a host"),
        ("links.0", ["h1", "s9-p1"], "there is no host or switch s9"),
        ("links.0", ["h1", "s1-p3"], "also uses s1:3"),
        ("links.1", ["s1-p3", "s2-p999"], "out of range"),
        ("links.1", ["s1-p3", "s2-p2", "soon"], "a number"),
        ("links.1", ["s1-p3", "s2-p2", -1], "out of range"),
        ("links.1", ["s1-p3", "s2-p2", "1e300s"], "a number"),
        ("links.1", ["s1-p3", "s2-p2", 0, 0], "out of range"),
        ("links.2", ["s1-p4", "s2-p1"], "h2: has 0 links"),
    ],
)
def test_a_bad_topology_is_refused_with_its_place(path: str, value: Any, words: str) -> None:
    with pytest.raises(TopologyError) as error:
        tutorials.network(changed(TUTORIAL, path, value))
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("topology.assignment_strategy", "l4", "give one of l2, mixed, l3"),
        ("topology.routers", {"r1": {}}, "not P4 switches"),
        ("topology.hosts.x1", {}, "hosts.x1: has no link"),
        ("topology.links.1", ["h1", "s2"], "h2: has no link"),
        ("topology.links.0", ["h1", "s1", {"params1": {"ip": "here"}}], "not an IPv4 address"),
        ("topology.switches.s1", [], "an object"),
        ("topology.links.0", ["h1", "s1", {"bw": "fast"}], "a number"),
    ],
)
def test_a_bad_p4app_is_refused_with_its_place(path: str, value: Any, words: str) -> None:
    with pytest.raises(TopologyError) as error:
        p4utils.network(changed(P4APP, path, value))
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "1:2"),
        ('{"a": 1, "a": 2}', "given twice"),
        ("[NaN]", "NaN"),
        ("[" * 100_000, "nested too deeply"),
        ("1" * 5_000, "too large"),
    ],
)
def test_hostile_json_is_refused(text: str, words: str) -> None:
    with pytest.raises(TopologyError, match=words):
        parse_json(text, "file")


def test_a_topology_file_cannot_name_files_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "link").symlink_to("/etc")
    for name in ("../secret", "/etc/passwd", "link/passwd", "a\0b"):
        with pytest.raises(TopologyError):
            inside(tmp_path / "lab", name)
    assert inside(tmp_path / "lab", "x/../s1.json") == (tmp_path / "lab" / "s1.json").resolve()


def test_paths_start_from_the_folder_that_holds_the_files(tmp_path: Path) -> None:
    (tmp_path / "pod").mkdir()
    (tmp_path / "pod" / "topology.json").write_text(
        json.dumps(changed(changed(TUTORIAL, "switches.s1.runtime_json", "pod/s1.json"), "switches.s2", {}))
    )
    (tmp_path / "pod" / "s1.json").write_text("{}")
    assert load_lab(tmp_path / "pod" / "topology.json").folder == tmp_path.resolve()
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(TopologyError, match="neither topology format"):
        load_lab(tmp_path / "other.json")


@pytest.mark.parametrize(
    ("value", "nanoseconds"), [("5ms", 5_000_000), ("10 us", 10_000), ("1s", 1_000_000_000), ("0", 0), (2.5, 2_500_000)]
)
def test_delays_have_units(value: object, nanoseconds: int) -> None:
    assert duration_ns(value, "here") == nanoseconds


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)
LOADERS: list[Callable[[Any], object]] = [
    tutorials.network,
    p4utils.network,
]


@given(inner=JSON, path=st.sampled_from(["hosts", "hosts.h1", "switches", "switches.s1", "links", "links.1"]))
def test_any_part_of_a_topology_is_a_lab_or_a_topology_error(inner: Any, path: str) -> None:
    with contextlib.suppress(TopologyError):
        tutorials.network(changed(TUTORIAL, path, inner))


@given(inner=JSON, path=st.sampled_from(["default", "links.0.2", "links", "hosts.h1", "switches.s1", "switches"]))
def test_any_part_of_a_p4app_is_a_lab_or_a_topology_error(inner: Any, path: str) -> None:
    with contextlib.suppress(TopologyError):
        p4utils.network(changed(P4APP, f"topology.{path}", inner))


@pytest.mark.parametrize("load", LOADERS)
@given(data=JSON, key=st.sampled_from(["hosts", "links", "topology"]))
def test_any_object_is_read_or_a_topology_error(load: Callable[[Any], object], data: Any, key: str) -> None:
    with contextlib.suppress(TopologyError):
        load({key: data})


def test_a_planned_topology_becomes_a_lab_with_its_own_addresses() -> None:
    topology = generate("star", StarParams(senders=2).model_dump())
    lab = lab_of(topology)
    assert [(host.name, host.ipv4) for host in lab.hosts] == [
        ("h1", "10.0.0.1/8"), ("h2", "10.0.0.2/8"), ("aggregator", "10.0.0.3/8"),
    ]  # fmt: skip
    assert lab.hosts[0].neighbours == (("10.0.0.2", "02:01:00:01:00:01"), ("10.0.0.3", "02:01:00:01:00:01"))
    assert [port.number for port in lab.ports["s1"]] == [1, 2, 3]
    assert lab.switches[0].device_id == 1
    assert lab.links[0].rate_bps == topology.links[0].rate_bps


def test_no_two_switches_share_a_tcp_port() -> None:
    switches = (LabSwitch("s1", 1, 9_559, 9_090), LabSwitch("s2", 1, 9_090, 9_091))
    with pytest.raises(TopologyError) as error:
        LabNetwork((), switches, ())
    assert "same device id as s1" in str(error.value)
    assert "9090 is also a port of s1" in str(error.value)


@pytest.mark.skipif(TUTORIALS is None, reason="P4CC_TUTORIALS names no copy of the P4 tutorials")
def test_every_topology_and_runtime_file_of_the_tutorials_loads() -> None:
    files = sorted((Path(TUTORIALS or "") / "exercises").rglob("*topology.json"))
    assert len(files) >= 13
    for path in files:
        lab = load_lab(path)
        assert lab.warnings == ()
        for switch in lab.network.switches:
            if switch.runtime:
                data = parse_json(inside(lab.folder, switch.runtime).read_text(), switch.runtime)
                assert read_runtime(data, switch.runtime).device_config


def test_a_lab_s_file_is_a_graph_with_its_ports_and_addresses() -> None:
    imported = load_lab(Path(__file__).resolve().parents[1] / "lab" / "files" / "topology.json")
    topology = graph_of(imported.network, LinkDefaults(10**10, 1_000, 64))
    assert {(switch, port.number, port.peer) for switch, ports in topology.ports.items() for port in ports} == {
        ("s1", 1, "h1"), ("s1", 2, "h3"), ("s1", 7, "s2"), ("s2", 7, "s1"), ("s2", 1, "h2"),
    }  # fmt: skip
    between = topology.links[topology.port_to("s1", "s2").link_index]
    assert (between.rate_bps, between.delay_ns, between.queue_capacity_pkts) == (20_000_000, 2_000_000, 64)
    hosts = plan_addresses(topology).hosts
    assert (format_ipv4(hosts["h2"].ipv4), hosts["h2"].prefix_len) == ("10.7.2.2", 24)
    # By `arp` and by `ip neigh`; h3 has no gateway but its switch's port.
    assert [format_mac(hosts[name].gateway_mac) for name in ("h1", "h2", "h3")] == [
        "08:00:00:07:01:00", "08:00:00:07:02:00", "02:01:00:01:00:02",
    ]  # fmt: skip
