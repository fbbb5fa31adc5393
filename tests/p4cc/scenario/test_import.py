"""Topology files of other tools in virtual time, and programs that forward by MAC addresses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from p4cc.cli import app
from p4cc.errors import UserError
from tests.p4cc.scenarios import ROOT, read_table, run, scenario

FILES = ROOT / "tests" / "lab" / "files"
PROGRAM = FILES / "route.p4"
LAYER2 = """
#include <core.p4>
#include <v1model.p4>
header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
struct headers_t { ethernet_t ethernet; }
struct metadata_t { }
parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.ethernet); transition accept; }
}
control nothing(inout headers_t hdr, inout metadata_t meta) { apply { } }
control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action drop() { mark_to_drop(standard); }
    action forward(bit<9> egress_port) { standard.egress_spec = egress_port; }
    table dmac {
        key = { hdr.ethernet.dst: exact; }
        actions = { forward; drop; }
        default_action = drop();
        size = 64;
    }
    apply { dmac.apply(); }
}
control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) { apply { } }
control deparse(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(parse(), nothing(), ingress(), egress(), nothing(), deparse()) main;
"""
"""A switch of layer 2: it rewrites nothing, so a frame must carry its receiver's own address."""


def layer2(folder: Path, switch: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    (folder / "dmac.p4").write_text(LAYER2)
    return scenario(**{"switch": {"program": "dmac.p4", **(switch or {})}, **changes})


@pytest.mark.parametrize(
    "topology", [{"kind": "star", "senders": 4}, {"kind": "leaf_spine", "leaves": 2, "spines": 1, "hosts_per_leaf": 2}]
)
@pytest.mark.parametrize("routes", ["auto", "named"])
def test_routes_go_to_a_table_of_mac_addresses(tmp_path: Path, topology: dict[str, Any], routes: str) -> None:
    named = {"table": "dmac", "action": "forward", "params": {"egress_port": "egress_port"}}
    data = layer2(
        tmp_path,
        {"routes": named if routes == "named" else "auto"},
        topology=topology,
        traffic={"kind": "bulk", "sources": ["h1", "h3"], "destinations": ["h2"], "size_bytes": 50_000},
    )
    ran = run(tmp_path, data)
    assert [row["flows_completed"] for row in ran.runs] == [2]
    notes = [note for note in ran.outcome.notes if "routes are written to" in note]
    assert [("key hdr.ethernet.dst (exact)" in note) for note in notes] == [True] * (routes == "auto")


@pytest.mark.parametrize(("said", "completed"), [(None, 4), (True, 4), (False, 0)])
def test_frames_go_to_the_receiver_s_address_or_the_gateway_s(
    tmp_path: Path, said: bool | None, completed: int
) -> None:
    ran = run(tmp_path, layer2(tmp_path, {} if said is None else {"layer2": said}, stop_ns=20_000_000))
    assert [row["flows_completed"] for row in ran.runs] == [completed]


def imported(folder: Path, **changes: Any) -> Path:
    """Two hosts of one network at one switch, two of others behind it; ports are not in the order of links."""
    hosts: dict[str, dict[str, Any]] = {
        "h1": {"ip": "10.0.1.1/24", "mac": "08:00:00:00:01:11"},
        "h2": {"ip": "10.0.1.2/24", "mac": "08:00:00:00:01:22"},
        "h3": {
            "ip": "10.0.3.3/24",
            "mac": "08:00:00:00:03:33",
            "commands": [
                "route add default gw 10.0.3.30 dev eth0",
                "arp -i eth0 -s 10.0.3.30 08:00:00:00:03:00",
                "touch /tmp/never",
            ],
        },
    }
    macs = {str(host["ip"]).partition("/")[0]: host["mac"] for host in hosts.values()}
    routes = {
        "s1": {"10.0.1.1": 7, "10.0.1.2": 3, "10.0.3.3": 1},
        "s2": {"10.0.1.1": 2, "10.0.1.2": 2, "10.0.3.3": 5},
    }
    for switch, ports in routes.items():
        rows = [
            {
                "table": "ingress.routes",
                "match": {"hdr.ipv4.dst": [address, 32]},
                "action_name": "ingress.forward",
                "action_params": {"mac": macs[address], "port": port},
            }
            for address, port in ports.items()
        ]
        (folder / f"{switch}-runtime.json").write_text(json.dumps({"target": "bmv2", "table_entries": rows}))
    topology: dict[str, Any] = {
        "hosts": hosts,
        "switches": {name: {"runtime_json": f"{name}-runtime.json"} for name in routes},
        "links": [["h1", "s1-p7"], ["h2", "s1-p3"], ["s1-p1", "s2-p2", "2ms", 100], ["h3", "s2-p5"]],
        **changes,
    }
    path = folder / "topology.json"
    path.write_text(json.dumps(topology))
    return path


def test_an_import_runs_with_its_ports_addresses_and_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["run", "--import", str(imported(tmp_path)), "--program", str(PROGRAM), "--out", "out", "--no-cache"]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert [one["flows_completed"] for one in summary["runs"]] == [3]
    # 1 MB to a host behind 100 Mb/s and 2 ms, and back.
    assert summary["runs"][0]["finish_ns"] > 80_000_000
    ports = read_table(tmp_path / "out", "ports")
    assert ports is not None
    held = {(row["switch"], row["port"], row["peer"]) for row in ports.to_dicts()}
    assert held == {("s1", 7, "h1"), ("s1", 3, "h2"), ("s1", 1, "s2"), ("s2", 2, "s1"), ("s2", 5, "h3")}
    # What was run is in the results, though the scenario was never a file of the user's.
    again = CliRunner().invoke(app, ["run", "--again", "out"], catch_exceptions=False)
    assert again.exit_code == 0, again.output


def test_an_import_is_written_down_as_a_scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "route.p4").write_text(PROGRAM.read_text())
    words = ["init", str(imported(tmp_path)), "mine.yaml", "--program", "route.p4"]
    assert CliRunner().invoke(app, words).exit_code == 0
    text = (tmp_path / "mine.yaml").read_text()
    assert "file: topology.json" in text
    assert "program: route.p4" in text
    assert str(tmp_path) not in text
    done = CliRunner().invoke(app, ["run", "mine.yaml", "--json"])
    assert [one["flows_completed"] for one in json.loads(done.stdout)["runs"]] == [3]


@pytest.mark.parametrize("by", ["topology", "rows"])
def test_a_topology_file_fills_tables_with_the_entries_that_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    # As in the tutorials: paths start one folder above the file.
    switches = {name: {"runtime_json": f"topo/{name}-runtime.json"} for name in ("s1", "s2")}
    (tmp_path / "topo").mkdir()
    imported(tmp_path / "topo", switches=switches)
    rows = [{"file": "topo/{switch}-runtime.json"}]
    data = scenario(
        topology={"kind": "import", "file": "topo/topology.json", **({"entries": True} if by == "topology" else {})},
        switch={"program": str(PROGRAM), **({"entries": rows} if by == "rows" else {})},
        traffic={"kind": "bulk", "sources": ["h1"], "destinations": ["h3"], "size_bytes": 20_000},
    )
    ran = run(tmp_path, data)
    assert [row["flows_completed"] for row in ran.runs] == [1]
    # The results name each file, so that they run again from anywhere.
    written = json.loads((ran.outcome.folder / "scenario.json").read_text())
    assert written["switch"]["entries"] == [
        {"switch": name, "file": f"inputs/{name}-runtime.json"} for name in ("s1", "s2")
    ]
    for name in ("s1", "s2"):
        (tmp_path / "topo" / f"{name}-runtime.json").unlink()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    again = CliRunner().invoke(app, ["run", "--again", str(ran.outcome.folder)], catch_exceptions=False)
    assert again.exit_code == 0, again.output


HOST = {"ip": "10.0.1.1/24", "mac": "08:00:00:00:01:11"}
MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "no program": ({}, "does not name a program for s1, s2"),
    "two links at a port": ({"links": [["h1", "s1-p7"], ["h2", "s1-p7"]]}, "s1:7"),
    "port 0": ({"links": [["h1", "s1-p0"], ["h2", "s1-p3"], ["s1-p1", "s2-p2"], ["h3", "s2-p5"]]}, "port 0"),
    "an address twice": ({"hosts": dict.fromkeys(("h1", "h2", "h3"), HOST)}, "10.0.1.1"),
    "a file outside": ({"switches": {"s1": {"runtime_json": "../../etc/passwd"}, "s2": {}}}, "outside"),
    "no such kind": ({"links": "many"}, "a list"),
    "one host": (
        {"hosts": {"h1": HOST}, "links": [["h1", "s1-p7"]], "switches": {"s1": {}}},
        "two hosts",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_topology_file_that_cannot_run_is_explained(tmp_path: Path, name: str) -> None:
    changes, said = MISTAKES[name]
    program = [] if name == "no program" else ["--program", str(PROGRAM)]
    done = CliRunner().invoke(app, ["run", "--import", str(imported(tmp_path, **changes)), *program])
    assert isinstance(done.exception, UserError), done.output
    assert said in str(done.exception)
