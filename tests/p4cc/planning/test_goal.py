"""GOAL schedules of LogGOPSim and ATLAHS: what is read, what is refused, and schedules that run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from p4cc.errors import UserError
from p4cc.planning.goal import read_goal
from tests.p4cc.scenarios import run, scenario

if TYPE_CHECKING:
    from pathlib import Path

PAIR = "num_ranks 2\nrank 0 {\n%s\n}\nrank 1 {\n%s\n}\n"
STAR = {"kind": "star", "senders": 4, "queue_capacity_pkts": 400}
DCQCN: dict[str, Any] = {
    "variants": [{"name": "DCQCN", "rate_control": {"name": "dcqcn"}}],
    "transport": {"kind": "rdma"},
}


def written(folder: Path, text: str) -> Path:
    path = folder / "x.goal"
    path.write_text(text, encoding="utf-8")
    return path


def test_operations_in_the_order_of_the_file(tmp_path: Path) -> None:
    first = "l1: calc 100 cpu 2\nsend 8b to 1 tag 3 cpu 0 nic 0\nl3 : send 0b to 1\nl3 requires l1\nl3 irequires l1"
    second = "recv 8b from 0 tag 3 /* comment\nover lines */\nl2: recv 0b from 0 // end\nl2:calc".replace(
        "\nl2:calc", ""
    )
    graph = read_goal(written(tmp_path, PAIR % (first, second)))
    assert graph.ranks == 2
    assert graph.operations == [
        {"name": "0.l1", "work": {"kind": "compute", "host": 0, "duration_ns": 100}, "unit": 0},
        {"work": {"kind": "send", "src": 0, "dst": 1, "size_bytes": 8}},
        {
            "name": "0.l3",
            "work": {"kind": "send", "src": 0, "dst": 1, "size_bytes": 1},
            "after": [0],
            "after_start": [0],
        },
        {"work": {"kind": "compute", "host": 1, "duration_ns": 0}, "after_arrival": [1]},
        {"name": "1.l2", "work": {"kind": "compute", "host": 1, "duration_ns": 0}, "after_arrival": [2]},
    ]
    assert [place.rsplit(":", 1)[1] for place in graph.places] == ["3", "4", "5", "10", "12"]


@pytest.mark.parametrize(
    ("text", "line", "cause"),
    [
        ("", 1, "the file has no line num_ranks"),
        ("num_ranks 0\n", 1, "num_ranks is '0'"),
        ("num_ranks 2\nnum_ranks 2\n", 2, "num_ranks is given twice"),
        ("rank 0 {\n", 1, "a rank comes before num_ranks"),
        ("num_ranks 2\nrank 2 {\n", 2, "rank is '2'"),
        ("num_ranks 2\nrank 0 {\nrank 1 {\n", 3, "the block of rank 0 has no end"),
        ("num_ranks 2\nrank 0 {\n}\nrank 0 {\n}\n", 4, "rank 0 is given twice"),
        ("num_ranks 2\ncalc 5\n", 2, "'calc 5' is outside of the ranks"),
        ("num_ranks 2\nrank 0 {\n}\n", 4, "the file has no operations"),
        (PAIR % ("calc", ""), 3, "'calc' is not an operation"),
        (PAIR % ("send 8 to 1", ""), 3, "is not an operation"),
        (PAIR % ("send 8b from 1", ""), 3, "is not an operation"),
        (PAIR % ("send 8b to 2", ""), 3, "rank is '2'"),
        (PAIR % ("send 8b to 0", ""), 3, "rank 0 sends to itself"),
        (PAIR % ("recv 8b from -1", ""), 3, "a message of any source"),
        (PAIR % ("recv 8b from 1 tag -1", ""), 3, "a message of any tag"),
        (PAIR % ("send 8b to -1", ""), 3, "rank is -1 in a send"),
        (PAIR % ("send 8b to 1 tag -1", ""), 3, "tag is -1 in a send"),
        (PAIR % ("/* one */ calc 1 /* two", "/* " * 1_000_000), 3, "the comment has no end"),
        (PAIR % ("a: calc 1\na: calc 1", ""), 4, "the label 'a' is given twice"),
        (PAIR % ("a requires b", ""), 3, "there is no label 'a' above"),
        (PAIR % ("a: calc 9999999999999999999", ""), 3, "calc is '9999999999999999999'"),
        (PAIR % ("a: calc 1\nb: calc 1\na requires b\nb requires a", ""), 3, "the operation never starts"),
        (
            PAIR % ("send 8b to 1 tag 1", "recv 8b from 0 tag 2"),
            3,
            "no receive takes the send (from rank 0 to 1, tag 1)",
        ),
        (PAIR % ("calc 1", "recv 8b from 0 tag 2"), 6, "no send is for the receive"),
        (PAIR % ("send 8b to 1", "recv 9b from 0"), 6, "it receives 9 B, and the send has 8 B"),
    ],
)
def test_faults_are_named_by_line(tmp_path: Path, text: str, line: int, cause: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(UserError) as caught:
        read_goal(file)
    assert (caught.value.place, cause in caught.value.cause) == (f"{file}:{line}", True), caught.value


def test_long_labels_share_no_name(tmp_path: Path) -> None:
    long = "l" * 80
    text = PAIR % (f"{long}1: calc 1\n{long}2: calc 1\n{long}2 requires {long}1\na: calc 1", "")
    graph = read_goal(written(tmp_path, text))
    assert [one.get("name") for one in graph.operations] == [None, None, "0.a"]
    assert graph.operations[1].get("after") == [0]


def test_the_binary_form_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "x.bin"
    path.write_bytes(b"\x02\0\0\0\xff")
    with pytest.raises(UserError, match="it seems to be GOAL's binary form"):
        read_goal(path)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_written_schedules_come_back(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Random schedules: as many operations as were written, each receive after its send, by tag in order."""
    ranks = data.draw(st.integers(2, 4))
    blocks: list[list[str]] = [[] for _ in range(ranks)]
    pairs = data.draw(
        st.lists(st.tuples(st.integers(0, ranks - 1), st.integers(1, ranks - 1), st.integers(0, 2)), max_size=12)
    )
    for number, (src, step, tag) in enumerate(pairs):
        dst = (src + step) % ranks
        blocks[src].append(f"s{number}: send {number + 1}b to {dst} tag {tag}")
        blocks[dst].append(f"r{number}: recv {number + 1}b from {src} tag {tag}")
    blocks[0].append("last: calc 7")
    text = f"num_ranks {ranks}\n" + "".join(
        f"rank {n} {{\n" + "\n".join(lines) + "\n}\n" for n, lines in enumerate(blocks)
    )
    graph = read_goal(written(tmp_path_factory.mktemp("goal"), text))
    assert len(graph.operations) == 2 * len(pairs) + 1
    names = {one.get("name"): number for number, one in enumerate(graph.operations)}
    for number, (src, step, _) in enumerate(pairs):
        receive = graph.operations[names[f"{(src + step) % ranks}.r{number}"]]
        assert receive.get("after_arrival") == [names[f"{src}.s{number}"]]


def test_a_schedule_runs(tmp_path: Path) -> None:
    first = (
        "a: calc 50000 cpu 0\nb: send 100000b to 1 tag 7\nb requires a\nc: recv 5000b from 1\nd: calc 9\nd requires b"
    )
    second = "a: calc 300000\nb: recv 100000b from 0 tag 7\nc: send 5000b to 0\nc requires b\nb requires a"
    file = written(tmp_path, PAIR % (first, second))
    traffic = {"kind": "goal", "file": str(file), "ranks": ["h3", "h1"]}
    ran = run(tmp_path, scenario(topology=STAR, traffic=traffic, stop_ns=100_000_000, **DCQCN))
    found = {row["operation"]: row for row in ran.table("operations").iter_rows(named=True)}
    assert (found["0.b"]["host"], found["0.b"]["peer"], found["0.b"]["start_ns"]) == ("h3", "h1", 50_000)
    # The send ends for its rank with its arrival; the receive, when it is posted.
    assert found["0.d"]["start_ns"] == found["0.b"]["arrival_ns"] < found["0.b"]["end_ns"]
    assert found["1.b"]["end_ns"] == 300_000 == found["1.c"]["start_ns"]
    assert found["0.c"]["end_ns"] == found["1.c"]["arrival_ns"]


def test_more_ranks_than_hosts_is_an_error(tmp_path: Path) -> None:
    file = written(tmp_path, "num_ranks 9\nrank 0 {\ncalc 5\n}\n")
    with pytest.raises(UserError, match="the file has 9 ranks, and there are 2 hosts"):
        run(
            tmp_path,
            scenario(topology=STAR, traffic={"kind": "goal", "file": str(file), "ranks": ["h1", "h2"]}, **DCQCN),
        )
