"""Connection matrices of htsim: what its `ConnectionMatrix::load` reads, what is refused, and flows that run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from p4cc.errors import UserError
from p4cc.planning.htsim_flows import HtsimFlow, read_connection_matrix
from p4cc.running.request import RunRequest
from p4cc.running.runner import run_scenario
from tests.p4cc.scenarios import Ran, run, scenario

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
        HtsimFlow(0, 13, 2_000_000, 0, 6, 1),
        HtsimFlow(13, 0, 5, 2_500, 7),
        HtsimFlow(1, 2, None, 2, 8, 7),
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
        (HEAD + "4->5 start 0 size 9 prio 7\n", 3, "prio orders an NDP receiver"),
        (HEAD + "4->5 id 1 trigger 1 size 9\n", 3, "there is no trigger 1"),
        (HEAD + "4->5 id 1 start 0 size 9 send_done_trigger 2\n", 3, "there is no trigger 2"),
        (HEAD + "4->5 trigger 1 size 9\n", 3, "a flow with a trigger has no start, but an id"),
        (HEAD + "4->5 id 1 start 0 trigger 1 size 9\n", 3, "a flow with a trigger has no start, but an id"),
        (HEAD + "4->5 id 1 trigger 1\n", 3, "the connection has no size"),
        (HEAD + "4->5 id 1 trigger 0 size 9\n", 3, "trigger is '0'"),
        (HEAD + "4->5 id 1 addon trigger 1 size 9\n", 3, "addon adds data to a flow"),
        (HEAD + "trigger id 1\n", 3, "the trigger lacks its id, its type or a barrier's count"),
        (HEAD + "trigger oneshot\n", 3, "the trigger lacks its id"),
        (HEAD + "trigger id 1 barrier\n", 3, "the trigger lacks its id, its type or a barrier's count"),
        (HEAD + "trigger id 1 oneshot count 2\n", 3, "or has more of them"),
        (HEAD + "trigger id 1 twice\n", 3, "'twice' is not a word of a trigger"),
        (HEAD + "trigger id 1 oneshot\ntrigger id 1 oneshot\n", 4, "trigger 1 is given twice"),
        (HEAD + "4->5 id 1 msg start 0 size 9\n", 3, "msg makes the flow one of several messages"),
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


def triggered(*lines: str) -> str:
    flows, triggers = (sum(word in line for line in lines) for word in ("->", "trigger id"))
    return "\n".join(["Nodes 16", f"Connections {flows}", f"Triggers {triggers}", *lines])


ONCE = ("0->1 id 1 start 0 size 90000 send_done_trigger 1", "2->3 id 2 trigger 1 size 9")


@pytest.mark.parametrize(
    ("lines", "line", "cause"),
    [
        ((*ONCE, "4->5 id 2 start 0 size 9", "trigger id 1 oneshot"), 6, "id 2 is given twice"),
        (
            (*ONCE, "4->5 id 3 start 0 size 9 send_done_trigger 1", "trigger id 1 oneshot"),
            7,
            "2 flows activate a onesh",
        ),
        ((*ONCE, "trigger id 1 barrier count 2"), 6, "the barrier is for 2 activations, and there are 1"),
        (
            (*ONCE, "4->5 id 3 trigger 1 size 9", "trigger id 1 multishot"),
            7,
            "1 flows activate the trigger, which starts 2",
        ),
        ((ONCE[1], "trigger id 1 oneshot"), 5, "0 flows activate a oneshot trigger"),
        ((*ONCE, "4->5 id 3 trigger 2 size 9", "trigger id 1 oneshot"), 6, "there is no trigger 2"),
        (("0->1 id 1 trigger 1 size 9 send_done_trigger 1", "trigger id 1 oneshot"), 4, "the operation never starts"),
        (
            ("0->1 id 1 start 0 size 0 send_done_trigger 1", ONCE[1], "trigger id 1 oneshot"),
            4,
            "a flow of size 0 never",
        ),
    ],
)
def test_triggers_that_cannot_fire_are_named_by_line(tmp_path: Path, lines: Any, line: int, cause: str) -> None:
    file = written(tmp_path, triggered(*lines))
    with pytest.raises(UserError) as caught:
        read_connection_matrix(file).graph()
    assert caught.value.place == f"{file}:{line}"
    assert cause in caught.value.cause


def test_a_count_of_triggers_that_is_wrong_is_one_error(tmp_path: Path) -> None:
    text = triggered(*ONCE, "trigger id 1 oneshot").replace("Triggers 1", "Triggers 4")
    with pytest.raises(UserError, match="the file has 1 triggers, and Triggers promises 4"):
        read_connection_matrix(written(tmp_path, text))


def test_a_barrier_between_many_flows_has_as_many_waits_as_flows(tmp_path: Path) -> None:
    first = [f"0->1 id {n} start 0 size 9 send_done_trigger 1" for n in range(1, 301)]
    then = [f"2->3 id {n} trigger 1 size 9" for n in range(301, 601)]
    file = written(tmp_path, triggered(*first, *then, "trigger id 1 barrier count 300"))
    graph = read_connection_matrix(file).graph()
    assert sum(len(one.get("after", ())) for one in graph.operations) == 600
    assert graph.operations[600].get("after") == list(range(300))
    assert all(one.get("after") == [600] for one in graph.operations[300:600])


def test_a_multishot_trigger_has_its_waits_counted(tmp_path: Path) -> None:
    first = [f"0->1 id {n} start 0 size 9 send_done_trigger 1" for n in range(1, 2_101)]
    then = [f"2->3 id {n} trigger 1 size 9" for n in range(2_101, 4_201)]
    file = written(tmp_path, triggered(*first, *then, "trigger id 1 multishot"))
    with pytest.raises(UserError, match="more than 4000000 waits"):
        read_connection_matrix(file).graph()


def test_triggers_start_flows_as_their_types_say(tmp_path: Path) -> None:
    lines = [
        "0->1 id 1 start 0 size 90000 send_done_trigger 1",
        "2->3 id 2 trigger 1 size 40000 recv_done_trigger 3 send_done_trigger 2",
        "4->5 id 3 trigger 1 size 20000 recv_done_trigger 3 send_done_trigger 2",
        "6->7 id 4 trigger 2 size 9000 send_done_trigger 2",
        "8->9 id 5 trigger 2 size 9000 send_done_trigger 2",
        "9->8 id 6 trigger 2 size 9000",
        "1->0 id 7 trigger 3 size 9000",
        "3->0 id 8 start 5000000 size 9000",
        "3->1 id 9 start 5000000 size 0",
        *("trigger id 1 oneshot", "trigger id 2 multishot", "trigger id 3 barrier count 2"),
    ]
    written(tmp_path, triggered(*lines))
    tree = {"kind": "fat_tree", "k": 4, "rate_bps": 100_000_000_000, "delay_ns": 1_000}
    traffic = {"kind": "htsim", "file": str(tmp_path / "x.cm")}
    ran = run(tmp_path, scenario(topology=tree, traffic=traffic, **NSCC, stop_ns=10_000_000))
    flows = {(row["src"], row["dst"]): row for row in ran.table("flows").iter_rows(named=True)}
    names = {row["operation"]: row["flow_id"] for row in ran.table("operations").iter_rows(named=True)}
    of = {name: next(row for row in flows.values() if row["flow_id"] == flow) for name, flow in names.items()}
    assert sorted(of) == list("12345678")
    assert of["2"]["start_ns"] == of["3"]["start_ns"] == of["1"]["finish_ns"]
    assert of["2"]["src"] == "h3"
    # The trigger starts its next target whenever a flow ends, in the order of the ends.
    ends = sorted(of[name]["finish_ns"] for name in "2345")
    assert [of[name]["start_ns"] for name in "456"] == ends[:3]
    assert of["7"]["start_ns"] == max(of["2"]["received_ns"], of["3"]["received_ns"])
    assert of["7"]["start_ns"] < of["2"]["finish_ns"]
    assert of["8"]["start_ns"] == 5_000
    endless = next(row for row in flows.values() if row["size_bytes"] is None)
    assert (endless["start_ns"], endless["flow_id"] in names.values()) == (5_000, False)
    assert ran.table("jobs")["ended"].item() == 8


@pytest.mark.parametrize(("size", "htsim_us"), [(4_096, 247.523), (32_768, 320.97)])
def test_a_ring_of_triggers_ends_when_htsims_does(tmp_path: Path, size: int, htsim_us: float) -> None:
    """What uet-htsim printed for the same matrix and setting (docs/algorithms/traffic.md#number-triggers-htsim)."""
    lines: list[str] = []
    for piece in range(16):
        for step in range(30):
            number = 29 * piece + step
            start = "start 0" if step == 0 else f"trigger {number}"
            done = "" if step == 29 else f" send_done_trigger {number + 1}"
            ends = f"{(piece + step) % 16}->{(piece + step + 1) % 16}"
            lines.append(f"{ends} id {30 * piece + step + 1} {start} size {size}{done}")
    lines += [f"trigger id {number} oneshot" for number in range(1, 465)]
    written(tmp_path, triggered(*lines))
    traffic = f"traffic: {{kind: htsim, file: {tmp_path / 'x.cm'}}}\nseeds: [1]\n"
    study = Path(__file__).parents[3] / "experiments/nscc/base.yaml"
    (tmp_path / "ring.yaml").write_text(f"extends: {study}\nname: ring\n{traffic}", encoding="utf-8")
    ran = Ran(run_scenario(RunRequest(tmp_path / "ring.yaml", out=tmp_path / "out", figures=False)))
    assert ran.table("jobs")["ended"].item() == 480
    assert ran.table("jobs")["finish_ns"].item() / 1_000 == pytest.approx(htsim_us, rel=0.005)


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
