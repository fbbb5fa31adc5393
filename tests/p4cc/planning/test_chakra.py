"""Execution traces of Chakra: what is read, what is refused, and traces that run as ASTRA-sim's rules say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from p4cc.errors import UserError
from p4cc.files import FilesSeen, files_seen
from p4cc.planning.chakra import read_chakra, read_groups, traces
from p4cc.planning.foreign import import_foreign
from p4cc.planning.operation_graph import Group
from p4cc.running.request import RunRequest
from p4cc.running.runner import run_scenario
from tests.command_line import p4cc
from tests.p4cc.planning import chakra_traces as et
from tests.p4cc.scenarios import Ran, run, scenario

if TYPE_CHECKING:
    from pathlib import Path

STAR = {"kind": "star", "senders": 4, "queue_capacity_pkts": 400}
DCQCN: dict[str, Any] = {
    "variants": [{"name": "DCQCN", "rate_control": {"name": "dcqcn"}}],
    "transport": {"kind": "rdma"},
}


def written(folder: Path, ranks: list[list[bytes]]) -> list[Path]:
    paths = [folder / f"trace.{rank}.et" for rank in range(len(ranks))]
    for path, nodes in zip(paths, ranks, strict=True):
        path.write_bytes(b"".join(nodes))
    return paths


def test_nodes_of_all_ranks_are_operations(tmp_path: Path) -> None:
    graph = read_chakra(written(tmp_path, [et.trace(rank, 2) for rank in range(2)]))
    assert graph.groups == [Group("all_reduce", (0, 1), 400_000)]
    assert graph.operations[:6] == [
        {"name": "0.1.node1", "work": {"kind": "compute", "host": 0, "duration_ns": 0}},
        {"name": "0.2.node2", "work": {"kind": "compute", "host": 0, "duration_ns": 50_000}, "unit": 0},
        {"name": "0.3.node3", "work": {"kind": "collective", "collective": 0, "rank": 0}, "after": [1]},
        {"name": "0.4.node4", "work": {"kind": "send", "src": 0, "dst": 1, "size_bytes": 30_000}, "after": [2]},
        {
            "name": "0.5.node5",
            "work": {"kind": "compute", "host": 0, "duration_ns": 0},
            "after": [2],
            "after_arrival": [9],
        },
        {"name": "0.6.node6", "work": {"kind": "compute", "host": 0, "duration_ns": 20_000}, "unit": 0, "after": [4]},
    ]


def test_sizes_and_groups_are_those_of_astra_sim(tmp_path: Path) -> None:
    def nodes() -> list[bytes]:
        kinds = (et.ALL_GATHER, et.REDUCE_SCATTER, et.ALL_TO_ALL)
        parts = [
            et.node(n, et.COLLECTIVE, comm_type=kind, comm_size=100, pg_name="7") for n, kind in enumerate(kinds, 1)
        ]
        return [et.head(), *parts, et.node(9, et.COLLECTIVE, comm_type=5, comm_size=8, micros=3)]

    paths = written(tmp_path, [nodes(), [et.head(), et.node(9, et.COMPUTE, micros=1)], nodes()])
    graph = read_chakra(paths, {"7": (2, 0)})
    assert graph.groups == [
        Group("all_gather", (2, 0), 200),
        Group("reduce_scatter", (2, 0), 100),
        Group("all_to_all", (2, 0), 100),
    ]
    assert graph.operations[0]["work"] == {"kind": "collective", "collective": 0, "rank": 1}
    assert graph.operations[3]["work"] == {"kind": "compute", "host": 0, "duration_ns": 3_000}


@pytest.mark.parametrize(
    "attributes", [{"involved_dim": [True, True]}, {"involved_dim": [True, False], "pg_name": "7"}]
)
def test_dimensions_without_effect_are_read(tmp_path: Path, attributes: dict[str, Any]) -> None:
    ranks = [[et.head(), et.node(1, et.COLLECTIVE, comm_type=0, comm_size=100, **attributes)] for _ in range(2)]
    assert read_chakra(written(tmp_path, ranks), {"7": (0, 1)}).groups == [Group("all_reduce", (0, 1), 100)]


@pytest.mark.parametrize(
    ("nodes", "place", "cause"),
    [
        ([], "trace.0.et", "the file has no operations"),
        ([et.head(), b"\x05ab"], "trace.0.et", "message 1 goes on beyond the end"),
        ([et.head(), b"\xff" * 9], "trace.0.et", "message 1 goes on beyond the end"),
        ([et.head(), b"\x02\xff\xff"], "trace.0.et node 1", "the message is not a node of Chakra"),
        ([et.head(), et.node(1, 4), et.node(1, 4)], "trace.0.et node 2", "node id 1 is given twice"),
        ([et.head(), et.node(1, 4, after=(9,))], "trace.0.et node 1", "the node waits for node 9"),
        ([et.head(), et.node(1, 4, after=(1,))], "trace.0.et node 1", "the operation never starts"),
        ([et.head(), et.node(1, 4, micros=1 << 60)], "trace.0.et node 1", f"duration_micros is '{1 << 60}'"),
        ([et.head(), et.node(1, 5, comm_dst=-1, comm_size=7)], "trace.0.et node 1", "comm_dst is '-1'"),
        ([et.head(), et.node(1, 5, comm_dst=1)], "trace.0.et node 1", "comm_size is missing"),
        ([et.head(), et.node(1, 7, comm_type=0)], "trace.0.et node 1", "comm_size is missing"),
        ([et.head(), et.node(1, 8)], "trace.0.et node 1", "the node is of type 8"),
        ([et.head(), et.node(1, 5, comm_size=7)], "trace.0.et node 1", "comm_dst is missing"),
        ([et.head(), et.node(1, 5, comm_dst=2, comm_size=7)], "trace.0.et node 1", "comm_dst is '2'"),
        ([et.head(), et.node(1, 5, comm_dst=0, comm_size=7)], "trace.0.et node 1", "rank 0 sends to itself"),
        ([et.head(), et.node(1, 5, comm_dst=True, comm_size=7)], "trace.0.et node 1", "comm_dst is 'True'"),
        (
            [et.head(), et.node(1, 5, comm_dst=1, comm_size=7)],
            "trace.0.et node 1",
            "1 sends from rank 0 to 1 with tag 0",
        ),
        ([et.head(), et.node(1, 7, comm_size=7)], "trace.0.et node 1", "comm_type is missing"),
        ([et.head(), et.node(1, 7, comm_type=9, comm_size=7)], "trace.0.et node 1", "p4cc has no collective BARRIER"),
        (
            [et.head(), et.node(1, 7, comm_type=0, comm_size=7, pg_name="3")],
            "trace.0.et node 1",
            "there is no group '3'",
        ),
        (
            [et.head(), et.node(1, 7, comm_type=0, comm_size=7, involved_dim=[True, False])],
            "trace.0.et node 1",
            "the collective leaves out dimension 1 of the network",
        ),
        (
            [et.head(), et.node(1, 7, comm_type=0, comm_size=7)],
            "trace.0.et node 1",
            "the ranks of group of all have 0 to 1",
        ),
    ],
)
def test_faults_are_named_by_node(tmp_path: Path, nodes: list[bytes], place: str, cause: str) -> None:
    paths = written(tmp_path, [nodes, [et.head()]])
    with pytest.raises(UserError) as caught:
        read_chakra(paths)
    assert caught.value.place == f"{tmp_path}/{place}", caught.value
    assert cause in caught.value.cause


def test_collectives_that_differ_are_named(tmp_path: Path) -> None:
    ranks = [[et.head(), et.node(1, et.COLLECTIVE, comm_type=0, comm_size=size)] for size in (7, 8)]
    with pytest.raises(UserError, match="all_reduce of 8 B meets all_reduce of 7 B of rank 0"):
        read_chakra(written(tmp_path, ranks))


def test_a_gap_between_traces_is_named(tmp_path: Path) -> None:
    paths = written(tmp_path, [et.trace(rank, 12) for rank in range(12)])
    assert traces(paths[0]) == paths
    (tmp_path / "trace.x.et").touch()
    paths[2].unlink()
    with pytest.raises(UserError) as caught:
        traces(paths[0])
    assert (caught.value.place, "that of rank 11 is there" in caught.value.cause) == (str(paths[2]), True)


def test_a_trace_that_would_be_next_is_kept_account_of(tmp_path: Path) -> None:
    paths = written(tmp_path, [et.trace(rank, 2) for rank in range(2)])
    seen = FilesSeen()
    token = files_seen.set(seen)
    try:
        traces(paths[0])
    finally:
        files_seen.reset(token)
    assert seen.absent == {tmp_path / "trace.2.et"}


def test_a_file_of_groups_wins_and_metadata_that_differ_are_refused(tmp_path: Path) -> None:
    def nodes(ranks: str) -> list[bytes]:
        named = et.groups(f"""['[{{"pg_name": "0", "ranks": {ranks}}}]']""")
        return [et.head(), named, et.node(1, et.COLLECTIVE, comm_type=et.ALL_REDUCE, comm_size=8, pg_name="0")]

    paths = written(tmp_path, [nodes("[0, 1]"), nodes("[1, 0]")])
    with pytest.raises(UserError, match="the group '0' has other ranks") as caught:
        read_chakra(paths)
    assert caught.value.place == f"{paths[1]} node 1"
    assert read_chakra(paths, {"0": (1, 0)}).groups == [Group("all_reduce", (1, 0), 8)]


@pytest.mark.parametrize("text", ["", "[]", '{"1": 3}', '{"1": []}', '{"1": [0, 0]}', '{"1": [2]}', '{"1": ["a"]}'])
def test_groups_that_are_none_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "groups.json").write_text(text, encoding="utf-8")
    with pytest.raises(UserError):
        read_groups(tmp_path / "groups.json", 2)


def test_groups_of_pytorch_are_read_from_metadata(tmp_path: Path) -> None:
    part = et.node(1, et.COLLECTIVE, comm_type=et.ALL_REDUCE, comm_size=100, pg_name="4")
    named = et.groups("['" + '[{"pg_name": "4", "ranks": [2, 1]}, {"pg_name": "5", "ranks": []}]' + "']")
    other = et.node(2, et.COLLECTIVE, comm_type=et.ALL_GATHER, comm_size=8, pg_name="5")
    both = [et.head(), named, part, other]
    paths = written(tmp_path, [[et.head(), named, other], both, both])
    assert read_chakra(paths).groups == [Group("all_gather", (0, 1, 2), 24), Group("all_reduce", (2, 1), 100)]
    for text in ("", "x", "['3']", "['[1]']", "['" + '[{"pg_name": "4", "ranks": [9]}]' + "']"):
        nodes = [et.head(), et.groups(text), part]
        with pytest.raises(UserError, match="there is no group '4'"):
            read_chakra(written(tmp_path, [nodes, nodes, nodes]))


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_random_traces_come_back(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Nodes with any earlier ones as dependencies, in any order of the file."""
    count = data.draw(st.integers(1, 12))
    after = [tuple(data.draw(st.sets(st.integers(1, n), max_size=3))) if n else () for n in range(count)]
    micros = data.draw(st.lists(st.integers(0, 10**6), min_size=count, max_size=count))
    nodes = [et.node(n + 1, et.COMPUTE, after=after[n], micros=micros[n]) for n in range(count)]
    order = data.draw(st.permutations(range(count)))
    paths = written(tmp_path_factory.mktemp("et"), [[et.head(), *(nodes[n] for n in order)]])
    graph = read_chakra(paths)
    assert [one["work"].get("duration_ns") for one in graph.operations] == [1_000 * micros[n] for n in order]
    for place, n in enumerate(order):
        assert {order[of] + 1 for of in graph.operations[place].get("after", ())} == set(after[n])


def test_traces_run(tmp_path: Path) -> None:
    written(tmp_path, [et.trace(rank, 4) for rank in range(4)])
    traffic = {"kind": "chakra", "file": str(tmp_path / "trace.0.et"), "ranks": ["h4", "h3", "h2", "h1"]}
    ran = run(tmp_path, scenario(topology=STAR, traffic=traffic, stop_ns=100_000_000, **DCQCN))
    found = {row["operation"]: row for row in ran.table("operations").iter_rows(named=True)}
    assert ran.table("jobs").select("operations", "ended").row(0) == (24, 24)
    step = ran.table("collectives").row(0, named=True)
    assert (step["start_ns"], step["job"]) == (50_000, "chakra/0")
    for rank, host in enumerate(("h4", "h3", "h2", "h1")):
        part, receive = found[f"{rank}.3.node3"], found[f"{rank}.5.node5"]
        assert (part["host"], part["collective"], part["start_ns"]) == (host, "chakra/0", 50_000)
        assert found[f"{rank}.4.node4"]["start_ns"] == part["end_ns"]
        assert receive["end_ns"] == max(part["end_ns"], found[f"{(rank - 1) % 4}.4.node4"]["arrival_ns"])
        assert found[f"{rank}.6.node6"]["end_ns"] == receive["end_ns"] + 20_000 + 1_000 * rank
    assert step["finish_ns"] == max(found[f"{rank}.3.node3"]["end_ns"] for rank in range(4))


def test_a_collective_of_a_trace_takes_as_long_as_ours(tmp_path: Path) -> None:
    nodes = [et.head(), et.node(1, et.COLLECTIVE, comm_type=et.ALL_REDUCE, comm_size=400_000)]
    written(tmp_path, [nodes] * 4)
    taken: list[int] = []
    for traffic in (
        {"kind": "chakra", "file": str(tmp_path / "trace.0.et")},
        {"kind": "collective", "operation": "all_reduce", "size_bytes": 400_000, "ranks": ["h1", "h2", "h3", "h4"]},
    ):
        folder = tmp_path / str(traffic["kind"])
        folder.mkdir()
        ran = run(folder, scenario(topology=STAR, traffic={**traffic, "name": "same"}, stop_ns=100_000_000, **DCQCN))
        taken.append(ran.table("collectives")["completion_ns"].item())
    assert taken[0] == taken[1]


def test_imported_traces_run(tmp_path: Path) -> None:
    first = written(tmp_path, [et.trace(rank, 3) for rank in range(3)])[0]
    (tmp_path / "mine.yaml").write_text(import_foreign(first, None, str).text(), encoding="utf-8")
    ran = Ran(run_scenario(RunRequest(tmp_path / "mine.yaml", out=tmp_path / "out", figures=False)))
    assert ran.table("jobs").select("operations", "ended").row(0) == (18, 18)


def test_an_import_takes_the_file_of_groups(tmp_path: Path) -> None:
    nodes = [et.head(), et.node(1, et.COLLECTIVE, comm_type=et.ALL_REDUCE, comm_size=9_000, pg_name="1")]
    first = written(tmp_path, [nodes, nodes])[0]
    with pytest.raises(UserError, match="there is no group '1'"):
        import_foreign(first, None, str)
    (tmp_path / "groups.json").write_text('{"1": [0, 1]}', encoding="utf-8")
    made = p4cc("import", "trace.0.et", "mine.yaml", "--groups", "groups.json", folder=tmp_path)
    assert made.returncode == 0, made.stderr
    ran = Ran(run_scenario(RunRequest(tmp_path / "mine.yaml", out=tmp_path / "out", figures=False)))
    assert ran.table("jobs").select("operations", "ended").row(0) == (2, 2)
