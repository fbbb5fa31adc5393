"""Connection matrices of htsim: what its `ConnectionMatrix::load` reads, what is refused, and flows that run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from p4cc.errors import UserError
from p4cc.planning.htsim_flows import HtsimFlow, read_connection_matrix
from tests.p4cc.scenarios import run, scenario

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "Nodes 16\nConnections 1\n"
NSCC: dict[str, Any] = {
    "switch": {"program": "p4src/v1model/ecn_red_spray.p4", "ecn_profile": "rfc3168", "qdepth_unit": "cells_80B"},
    "transport": {"kind": "rdma", "mss_bytes": 4_032, "recovery": "selective_repeat", "rto_ns": 40_000_000},
    "variants": [{"name": "NSCC", "rate_control": {"name": "nscc"}}],
    "record": {"windows_interval_ns": None, "queues_interval_ns": None},
}


def written(folder: Path, text: str) -> Path:
    path = folder / "x.cm"
    path.write_text(text, encoding="utf-8")
    return path


def test_flows_in_order_with_picoseconds_and_endless_ones(tmp_path: Path) -> None:
    text = "# all\nNodes 16\nConnections 3\nTriggers 0\n\n0->13 id 1 start 0.000000 size 2000000\n"
    text += "13->0 size 5 start 2500499\n1->2 start 1500 size 0 id 7\n\n"
    matrix = read_connection_matrix(written(tmp_path, text))
    assert matrix.nodes == 16
    assert matrix.flows == (
        HtsimFlow(0, 13, 2_000_000, 0, 6),
        HtsimFlow(13, 0, 5, 2_500, 7),
        HtsimFlow(1, 2, None, 2, 8),
    )


@pytest.mark.parametrize(
    ("text", "line", "cause"),
    [
        ("", 1, "the file has no line Nodes"),
        ("Nodes 16\n", 1, "the file has no line Connections"),
        ("Nodes 0\n", 1, "Nodes is '0'"),
        ("Nodes\n", 1, "'Nodes' is not a key and its value"),
        (HEAD + "0->16 start 0 size 1\n", 3, "there is no host 16"),
        (HEAD + "4->4 start 0 size 1\n", 3, "leads from host 4 to itself"),
        (HEAD + "4-5 start 0 size 1\n", 3, "'4-5' is not a connection"),
        (HEAD + "4->5 start 0\n", 3, "the connection has no size"),
        (HEAD + "4->5 size 9\n", 3, "the connection has no start"),
        (HEAD + "4->5 start 0 start 1 size 9\n", 3, "start is given twice"),
        (HEAD + "4->5 start 12.5 size 9\n", 3, "older files are in microseconds"),
        (HEAD + "4->5 start -1 size 9\n", 3, "start is '-1'"),
        (HEAD + "4->5 start 0 size\n", 3, "size is ''"),
        (HEAD + "4->5 start 0 size \u0661\n", 3, "size is"),
        (HEAD + "4->5 id 0 start 0 size 9\n", 3, "id is '0'"),
        (HEAD + "4->5 start 0 size 9 deadline 7\n", 3, "'deadline' is not a word of a connection"),
        (HEAD + "4->5 start 0 size 9 prio 7\n", 3, "prio orders what an NDP receiver asks for"),
        (HEAD + "4->5 id 1 trigger 1 size 9\n", 3, "trigger starts a flow when another is done"),
        (HEAD + "4->5 id 1 start 0 size 9 send_done_trigger 2\n", 3, "starts a flow when another is done"),
        (HEAD + "4->5 id 1 msg start 0 size 9\n", 3, "msg makes the flow one of several messages"),
        ("Nodes 16\nConnections 1\nTriggers 4\n", 3, "trigger starts a flow when another is done"),
        ("Nodes 16\nFailures 1\n", 2, "failure removes a link from the first moment on"),
        (HEAD + "4->5 start 0 size 1\nNodes 3\n", 4, "Nodes is given twice, or after a connection"),
    ],
)
def test_faults_are_named_by_line(tmp_path: Path, text: str, line: int, cause: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(UserError) as caught:
        read_connection_matrix(file)
    assert caught.value.place == f"{file}:{line}"
    assert cause in caught.value.cause


def test_a_count_that_is_wrong_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="the file has 1 of the 3 connections that it promises"):
        read_connection_matrix(written(tmp_path, "Nodes 16\nConnections 3\n0->1 start 0 size 1\n"))


def test_prio_can_be_left_out(tmp_path: Path) -> None:
    file = written(tmp_path, HEAD + "4->5 start 0 size 9 prio 7\n")
    assert read_connection_matrix(file, leave_out_prio=True).flows == (HtsimFlow(4, 5, 9, 0, 3),)


def test_a_matrix_runs_on_htsims_usual_tree(tmp_path: Path) -> None:
    """Node i is host number i: the same flows as by their names, to the nanosecond."""
    ends = [(7, 5), (15, 1), (0, 13), (5, 2)]
    lines = [f"{src}->{dst} id {n} start {n}000000 size 200000" for n, (src, dst) in enumerate(ends, start=1)]
    written(tmp_path, "\n".join(["Nodes 16", "Connections 4", *lines]))
    named = [f"{src + 1} {dst + 1} 0 100 200000 {n * 1e-6:.6f}" for n, (src, dst) in enumerate(ends, start=1)]
    (tmp_path / "flows.txt").write_text("\n".join(["4", *named]), encoding="utf-8")
    tree = {"kind": "fat_tree", "k": 4, "rate_bps": 100_000_000_000, "delay_ns": 1_000}
    found: list[list[tuple[Any, ...]]] = []
    for name, file in (("htsim", "x.cm"), ("ns3", "flows.txt")):
        (tmp_path / name).mkdir()
        traffic = {"kind": name, "name": "flows", "file": str(tmp_path / file)}
        ran = run(tmp_path / name, scenario(topology=tree, traffic=traffic, **NSCC, stop_ns=10_000_000))
        found.append(ran.table("flows").select("src", "dst", "size_bytes", "start_ns", "fct_ns").rows())
    assert len(found[0]) == 4
    assert all(row[-1] > 0 for row in found[0])
    assert found[0] == found[1]


def test_a_host_that_the_topology_lacks_is_an_error_with_its_line(tmp_path: Path) -> None:
    file = written(tmp_path, "Nodes 32\nConnections 2\n0->1 start 0 size 1\n20->1 start 0 size 1\n")
    tree = {"kind": "fat_tree", "k": 4}
    with pytest.raises(UserError, match="there is no host 20") as caught:
        run(tmp_path, scenario(topology=tree, traffic={"kind": "htsim", "file": str(file)}, **NSCC))
    assert caught.value.place == f"{file}:4"
