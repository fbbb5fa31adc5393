"""Workloads of SimAI: the order of its state machine, groups, what is refused, and a step that runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from p4cc.errors import UserError
from p4cc.planning.simai_workload import MAX_STEPS, Sizes, read_simai_workload
from p4cc.scenario.base import MAX_TIME_NS
from tests.p4cc.scenarios import run, scenario

if TYPE_CHECKING:
    from pathlib import Path

    from p4cc.planning.operation_graph import OperationGraph

STAR = {"kind": "star", "senders": 8, "queue_capacity_pkts": 400}
DCQCN: dict[str, Any] = {
    "variants": [{"name": "DCQCN", "rate_control": {"name": "dcqcn"}}],
    "transport": {"kind": "rdma"},
}
HEAD = "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 2 pp: 1 all_gpus: 8\n"
LAYERS = "2\na -1 5 ALLGATHER 64 6 NONE 0 7 ALLREDUCE 128 1\nb -1 8 NONE 0 9 REDUCESCATTER 64 10 ALLREDUCE_DP_EP 32 2\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "x.txt"
    path.write_text(text, encoding="utf-8")
    return path


def program(graph: OperationGraph, rank: int) -> list[tuple[Any, ...]]:
    """A rank's operations in order: computing times, collectives with their ranks, and what they wait for."""
    found: list[tuple[Any, ...]] = []
    place: dict[int, int] = {}
    for number, one in enumerate(graph.operations):
        work, whole = one["work"], one.get("name") or ""
        name = whole.partition(".")[2]
        if not whole.startswith(f"{rank}."):
            continue
        after = [place[of] for of in one.get("after", ())]
        place[number] = len(found)
        if work["kind"] == "collective":
            group = graph.groups[work["collective"]]
            found.append((name, group.operation, group.ranks, group.size_bytes, after))
        elif work["kind"] == "compute":
            found.append((name, work["duration_ns"], after))
    return found


def test_layers_beyond_a_number_are_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, HEAD + LAYERS)
    alone = program(read_simai_workload(path, layers=1), 3)
    assert {one[0].partition(".")[0] for one in alone} == {"a"}
    assert program(read_simai_workload(path, layers=2), 3) == program(read_simai_workload(path), 3)
    with pytest.raises(UserError, match="the file has 2 layers, fewer than layers: 3"):
        read_simai_workload(path, layers=3)


def test_a_transformer_waits_for_all_but_weights(tmp_path: Path) -> None:
    assert program(read_simai_workload(written(tmp_path, HEAD + LAYERS)), 3) == [
        ("a.forward.compute", 5, []),
        ("a.forward", "all_gather", (2, 3), 64, [0]),
        ("a.forward.update", 1, [1]),
        ("b.input.compute", 8 + 9, [2]),
        ("b.input", "reduce_scatter", (2, 3), 64, [3]),
        ("b.input.update", 2, [4]),
        ("b.weight.compute", 10, [5]),
        ("b.weight", "all_reduce", (3, 7), 32, [6]),
        ("b.weight.update", 2, [7]),
        ("a.weight.compute", 6 + 7, [6]),
        ("a.weight", "all_reduce", (1, 3, 5, 7), 128, [9]),
        ("a.weight.update", 1, [10]),
    ]


def test_other_types_have_their_own_order(tmp_path: Path) -> None:
    def of(first: str) -> list[tuple[Any, ...]]:
        return program(read_simai_workload(written(tmp_path, first + LAYERS.replace("_DP_EP", "")), 3), 0)

    everybody = (0, 1, 2)
    assert of("DATA\n") == [
        ("b.weight.compute", 5 + 8 + 10, []),
        ("b.weight", "all_reduce", everybody, 32, [0]),
        ("b.weight.update", 2, [1]),
        ("a.weight.compute", 9 + 7, [0]),
        ("a.weight", "all_reduce", everybody, 128, [3]),
        ("a.weight.update", 1, [4]),
    ]
    assert of("MODEL\n") == [
        ("a.forward.compute", 5, []),
        ("a.forward", "all_gather", everybody, 64, [0]),
        ("a.forward.update", 1, [1]),
        ("b.input.compute", 8 + 9, [2]),
        ("b.input", "reduce_scatter", everybody, 64, [3]),
        ("b.input.update", 2, [4]),
        ("b.weight.compute", 10, [3]),
        ("end", 6 + 7, [6, 5]),
    ]
    assert of("MICRO\n") == [
        ("a.weight.compute", 7, []),
        ("a.weight", "all_reduce", everybody, 128, [0]),
        ("a.weight.update", 1, [1]),
    ]


def test_checkpoints_compute_forward_again(tmp_path: Path) -> None:
    first = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 1 checkpoints: 1 0 checkpoint_initiates: 1 1\n"
    text = first + "2\na -1 1 NONE 0 10 NONE 0 100 ALLREDUCE 8 0\nb -1 2 NONE 0 20 NONE 0 200 ALLREDUCE 8 0\n"
    found = program(read_simai_workload(written(tmp_path, text), 2), 0)
    assert [one[1] for one in found if len(one) == 3] == [1 + 2 + 1 + 20 + 200, 10 + 100]


def test_each_operation_has_a_name_of_its_own(tmp_path: Path) -> None:
    layer = "a -1 5 ALLGATHER 64 6 NONE 0 7 NONE 0 1\n"
    for last in ("a", "a.forward:2", "a" * 80):
        text = f"{HEAD}3\n{layer}{layer}{layer.replace('a', last, 1)}"
        names = [one.get("name") or "" for one in read_simai_workload(written(tmp_path, text)).operations]
        assert len(set(names)) == len(names)
        assert max(map(len, names)) <= 64
        assert {"0.a.forward.compute", "0.a.forward", "0.a.forward:2"} <= set(names)


def test_experts_meet_in_groups_of_their_own(tmp_path: Path) -> None:
    text = HEAD + "1\na -1 0 ALLTOALL_EP 64 0 NONE 0 0 NONE 0 0\n"
    groups = read_simai_workload(written(tmp_path, text)).groups
    assert [one.ranks for one in groups] == [(0, 2), (1, 3), (4, 6), (5, 7)]


@pytest.mark.parametrize(
    ("text", "line", "cause"),
    [
        ("", 1, "the file is empty"),
        ("HYBRID_OTHER\n", 1, "'HYBRID_OTHER' is not a type of a workload"),
        ("HYBRID_CUSTOMIZED\n", 1, "takes its groups from the logical dimensions"),
        ("HYBRID_TRANSFORMER 8\n", 1, "'8' comes before any key"),
        ("HYBRID_TRANSFORMER ep: x\n", 1, "ep is 'x'"),
        ("HYBRID_TRANSFORMER model_parallel_npu_group: 2\n", 1, "'model_parallel_npu_group' is not a key"),
        ("HYBRID_TRANSFORMER ep: 2 ep: 2\n", 1, "ep is given twice"),
        ("HYBRID_TRANSFORMER ep: pp: 2\n", 1, "ep has no value"),
        (HEAD + f"1\na -1 {MAX_TIME_NS} NONE 0 1 NONE 0 0 NONE 0 0\n", 3, "a rank computes for more than"),
        (HEAD + "1 2\n", 2, "the second line is not the number of layers"),
        (HEAD + "3\n", 2, "the file has 0 of the 3 layers"),
        (HEAD + "1\na -1 5\n", 3, "the layer has 3 words"),
        (HEAD + "1\na -1 -5 NONE 0 0 NONE 0 0 NONE 0 0\n", 3, "a computing time is '-5'"),
        (HEAD + "1\na -1 5 SEND 9 0 NONE 0 0 NONE 0 0\n", 3, "'SEND' is not a collective"),
        (HEAD + "1\na -1 5 ALLREDUCE_TP 9 0 NONE 0 0 NONE 0 0\n", 3, "'ALLREDUCE_TP' is not a collective"),
        (HEAD.replace("all_gpus: 8", "all_gpus: 6") + LAYERS, 1, "6 GPUs are not a multiple of 2"),
        (HEAD.replace("all_gpus: 8", "all_gpus: 1") + LAYERS, 1, "the workload is for 1 GPUs"),
        (HEAD.replace("all_gpus: 8", "") + LAYERS, 1, "the file has no all_gpus"),
        (
            HEAD.replace("TRANSFORMER", "TRANSFORMER_FWD_IN_BCKWD checkpoints: 2 0") + LAYERS,
            1,
            "checkpoints does not name 2",
        ),
        (
            HEAD.replace("TRANSFORMER", "TRANSFORMER_FWD_IN_BCKWD checkpoint_initiates: 1 1") + LAYERS,
            1,
            "no checkpoint comes",
        ),
    ],
)
def test_faults_are_named_by_line(tmp_path: Path, text: str, line: int, cause: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(UserError) as caught:
        read_simai_workload(file)
    assert (caught.value.place, cause in caught.value.cause) == (f"{file}:{line}", True), caught.value


def test_a_workload_with_nothing_to_do_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="the file has no operations"):
        read_simai_workload(written(tmp_path, HEAD + "1\na -1 0 NONE 0 0 NONE 0 0 NONE 0 0\n"))


def test_checkpoints_that_repeat_too_many_layers_are_refused(tmp_path: Path) -> None:
    count = 4_000
    named = " ".join(map(str, range(count)))
    first = f"HYBRID_TRANSFORMER_FWD_IN_BCKWD checkpoints: 1 0 checkpoint_initiates: {count} {named}\n{count}\n"
    file = written(tmp_path, first + "a -1 0 NONE 0 0 NONE 0 0 NONE 0 0\n" * count)
    with pytest.raises(UserError, match=f"the program has more than {MAX_STEPS} steps"):
        read_simai_workload(file, 2)


@pytest.mark.parametrize("domain", ["tp", "ep", "dp", "dp_ep", "all"])
def test_every_rank_is_in_one_group(domain: str) -> None:
    groups = Sizes(24, 2, 3).groups(domain)
    assert sorted(rank for group in groups for rank in group) == list(range(24))
    assert len({len(group) for group in groups}) == 1


@given(st.lists(st.tuples(*[st.integers(0, 50)] * 3), min_size=1, max_size=6), st.sampled_from(["ALLREDUCE", "NONE"]))
@settings(max_examples=40, deadline=None)
def test_all_computing_time_is_there(
    tmp_path_factory: pytest.TempPathFactory, times: list[tuple[int, ...]], collective: str
) -> None:
    rows = [f"l{n} -1 {f} {collective} 8 {i} NONE 0 {w} {collective} 8 0" for n, (f, i, w) in enumerate(times)]
    text = HEAD + f"{len(rows)}\n" + "\n".join(rows)
    graph = read_simai_workload(written(tmp_path_factory.mktemp("simai"), text))
    assert graph.total_ns == 8 * sum(map(sum, times))


def test_a_step_runs(tmp_path: Path) -> None:
    layers = "2\na -1 5000 ALLGATHER 64000 6000 NONE 0 7000 ALLREDUCE 128000 1000\n"
    layers += "b -1 8000 NONE 0 9000 REDUCESCATTER 64000 10000 ALLREDUCE_DP_EP 32000 2000\n"
    file = written(tmp_path, HEAD + layers)
    traffic = {"kind": "simai", "file": str(file), "ranks": [f"h{n}" for n in range(1, 9)]}
    ran = run(tmp_path, scenario(topology=STAR, traffic=traffic, stop_ns=100_000_000, **DCQCN))
    found = {row["operation"]: row for row in ran.table("operations").iter_rows(named=True)}
    whole = ran.table("jobs").row(0, named=True)
    assert whole["operations"] == whole["ended"] == 12 * 8
    assert ran.table("collectives").height == 4 + 4 + 4 + 2
    assert ran.table("collectives")["finish_ns"].null_count() == 0
    for rank in range(8):
        assert found[f"{rank}.b.weight"]["start_ns"] >= found[f"{rank}.b.input.update"]["end_ns"]
    assert whole["finish_ns"] == max(row["end_ns"] for row in found.values())
