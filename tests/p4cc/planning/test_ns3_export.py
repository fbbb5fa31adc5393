"""Network and flows of a run as files of HPCC's ns-3 simulator: p4cc's own readers get the same ones back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from p4cc.errors import UserError
from p4cc.planning.ns3_export import FIRST_START_S, flows_text, topology_text
from p4cc.planning.ns3_flows import read_ns3_flows
from tests.p4cc.running.test_provenance import cli
from tests.p4cc.scenarios import RENO, run, scenario
from topos import Link, Topology
from topos.graph import Host, Switch
from topos.loaders.ns3 import read_ns3_topology

if TYPE_CHECKING:
    from pathlib import Path


def test_the_files_of_a_run_are_read_back(tmp_path: Path) -> None:
    ran = run(tmp_path, scenario(variants=[RENO], seeds=[1, 2]))
    done = cli("export-ns3", "out", "ns3", "--seed", "2", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    flows = ran.table("flows").filter(pl.col("seed") == 2).sort("start_ns")
    read = read_ns3_flows(tmp_path / "ns3" / "flows.txt")
    assert [one.size_bytes for one in read] == flows["size_bytes"].to_list()
    assert [one.start_ns - FIRST_START_S * 10**9 for one in read] == [int(one) for one in flows["start_ns"]]
    network = read_ns3_topology((tmp_path / "ns3" / "topology.txt").read_text(encoding="utf-8"))
    assert (len(network.hosts), len(network.switches), len(network.links)) == (5, 1, 5)
    refused = cli("export-ns3", "out", "ns3", "--seed", "3", folder=tmp_path)
    assert refused.returncode == 2
    assert "seeds: 1, 2" in refused.stderr


def test_what_the_formats_cannot_say_is_refused() -> None:
    link = Link(a="h1", b="s1", rate_bps=10**9, delay_ns=1_000, queue_capacity_pkts=10)
    other = Link(a="h2", b="s1", rate_bps=10**9, delay_ns=1_000, queue_capacity_pkts=10)
    hosts, switches = (Host(name="h1"), Host(name="h2")), (Switch(name="s1"),)
    network = Topology(hosts, switches, (link, other))
    assert topology_text(network).splitlines()[:2] == ["3 1 2", "2"]
    with pytest.raises(UserError, match="no flow has a size"):
        flows_text(pl.DataFrame({"size_bytes": [None], "start_ns": [0], "src": ["h1"], "dst": ["h2"]}), network, 3)
