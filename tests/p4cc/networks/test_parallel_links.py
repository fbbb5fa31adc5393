"""Several links between two switches: ports of their own, equal paths, faults of all, names in tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from tests.p4cc.scenarios import run, scenario

if TYPE_CHECKING:
    from pathlib import Path

    from tests.p4cc.scenarios import Ran

FILE = """\
10 2 12
8 9
{}
8 9 100Gbps 1us 0
8 9 100Gbps 1us 0
8 9 100Gbps 1us 0
8 9 100Gbps 1us 0
"""
HOST = "{} {} 100Gbps 1us 0"


def ran(folder: Path, **changes: Any) -> Ran:
    """Four senders at one switch, four receivers at the other, in the format of HPCC's simulator."""
    hosts = "\n".join(HOST.format(host, 8 + host // 4) for host in range(8))
    folder.mkdir(exist_ok=True)
    (folder / "links.txt").write_text(FILE.format(hosts))
    traffic = [
        {
            "kind": "bulk",
            "name": f"up{at}",
            "sources": [f"h{at}"],
            "destinations": [f"h{at + 4}"],
            "size_bytes": 400_000,
        }
        for at in range(4)
    ]
    return run(
        folder,
        scenario(
            topology={"kind": "ns3", "file": "links.txt"},
            switch={"program": "p4src/v1model/ecn_red.p4", "ecn_profile": "rfc3168", "buffer": {"bytes": 1 << 25}},
            traffic=[{**one, "priority": 3} for one in traffic],
            transport={"kind": "rdma", "rto_ns": 1_000_000},
            variants=[{"name": "DCQCN", "rate_control": {"name": "dcqcn"}}],
            record={"windows_interval_ns": None, "queues_interval_ns": 1_000},
            **changes,
        ),
    )


def carried(of: Ran) -> dict[str, int]:
    """Bytes of each link from the first switch to the second that carried data."""
    rows = of.table("links").select("link", "bytes").iter_rows()
    return {link: count for link, count in rows if link.startswith("s8:") and "s9:" in link and count > 50_000}


def test_flows_are_spread_over_parallel_links(tmp_path: Path) -> None:
    used = [carried(ran(tmp_path, seeds=[seed])) for seed in (1, 2, 3)]
    assert max(map(len, used)) > 1, used
    assert all(400_000 * 4 < sum(one.values()) < 450_000 * 4 for one in used)


def test_each_is_a_queue_of_its_own_in_tables(tmp_path: Path) -> None:
    queues = ran(tmp_path).table("ports").filter(pl.col("switch") == "s8")
    towards = [peer for peer in queues["peer"].to_list() if peer.startswith("s9")]
    assert towards == ["s9:5", "s9:6", "s9:7", "s9:8"]


def test_a_fault_between_two_switches_is_of_all_their_links(tmp_path: Path) -> None:
    faults = [{"between": ["s8", "s9"], "down_ns": 20_000, "up_ns": 120_000}]
    with_fault, without = ran(tmp_path / "fault", faults=faults), ran(tmp_path / "none")
    last = [max(one.table("flows")["fct_ns"].to_list()) for one in (with_fault, without)]
    assert last[0] > 120_000 > last[1], last
