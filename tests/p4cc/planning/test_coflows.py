"""Coflow traces and trees of requests: completion times by hand, loops, deadlines, and what files say."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest

from p4cc.errors import UserError
from p4cc.json_data import items, mapping
from p4cc.planning.coflows import MEGABYTE, Factors, read_coflows
from p4cc.planning.foreign import identify, import_foreign
from tests.p4cc.scenarios import run, scenario

if TYPE_CHECKING:
    from pathlib import Path

# Coflow 1 from ports 0 and 1 to 2 (3 MB) and to 1 (1 MB), of which half stays at port 1.
TRACE = "3 2\n1 0 2 0 1 2 2:3.0 1:1.0\n7 20 1 0 1 1:2.0\n"
RATE_BPS, RTT_NS = 10_000_000_000, 8_000
MSS, PACKET = 1_000, 1_064


def star(hosts: int, traffic: Any, **changes: Any) -> dict[str, Any]:
    return scenario(
        topology={
            "kind": "star",
            "senders": hosts - 1,
            "rate_bps": RATE_BPS,
            "rtt_ns": RTT_NS,
            "queue_capacity_pkts": 100_000,
        },
        switch={
            "program": "p4src/v1model/ack_priority.p4",
            "ecn_profile": "rfc3168",
            "buffer": {"lossless_priorities": [0]},
        },
        traffic=traffic,
        transport={"kind": "rdma"},
        variants=[{"name": "fixed", "rate_control": {"name": "fixed"}}],
        **{"stop_ns": 1_000_000_000, "record": {"windows_interval_ns": None, "queues_interval_ns": None}, **changes},
    )


def wire_ns(size_bytes: int) -> float:
    """Time of a payload on a link."""
    return 8e9 * size_bytes / MSS * PACKET / RATE_BPS


def written(folder: Path, text: str = TRACE) -> Path:
    path = folder / "trace.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_reducer_gets_as_much_from_each_mapper_and_nothing_from_itself(tmp_path: Path) -> None:
    graph = read_coflows(written(tmp_path))
    sends = [(one.get("name"), one["work"], one.get("start_ns")) for one in graph.operations]
    half = MEGABYTE // 2
    assert sends == [
        ("1:0-0", {"kind": "send", "src": 0, "dst": 2, "size_bytes": 3 * half}, 0),
        ("1:1-0", {"kind": "send", "src": 1, "dst": 2, "size_bytes": 3 * half}, 0),
        ("1:0-1", {"kind": "send", "src": 0, "dst": 1, "size_bytes": half}, 0),
        ("7:0-0", {"kind": "send", "src": 0, "dst": 1, "size_bytes": 2 * MEGABYTE}, 20_000_000),
    ]
    with pytest.raises(UserError, match="it has 2 coflows, fewer than coflows: 3"):
        read_coflows(written(tmp_path), Factors(3))
    scaled = read_coflows(written(tmp_path), Factors(1, size=0.001, time=0.1))
    assert [one["work"] for one in scaled.operations] == [
        {"kind": "send", "src": source, "dst": to, "size_bytes": size}
        for source, to, size in ((0, 2, 1_573), (1, 2, 1_573), (0, 1, 524))
    ]


@pytest.mark.parametrize(
    ("text", "line", "cause"),
    [
        ("", 1, "the number of ports and of coflows"),
        ("3 3\n1 0 1 0 1 1:1\n", 1, "announces 3 coflows and has 1"),
        ("3 1\n1 0 2 0 1 1:1\n", 2, "reducers is '1:1'"),
        ("3 1\n1 0 1 3 1 1:1\n", 2, "port is '3'"),
        ("3 1\n1 0 1 0 1 1;1\n", 2, "is not a reducer"),
        ("3 1\n1 0 1 0 1 1:1 2:1\n", 2, "follows the last reducer"),
        ("3 1\n1 3600001 1 0 1 1:1\n", 2, "arrives after 3,600 s"),
        ("3 2\n1 0 1 0 1 1:1\n1 0 1 0 1 1:1\n", 3, "comes twice"),
    ],
)
def test_a_wrong_trace_is_named_by_its_line(tmp_path: Path, text: str, line: int, cause: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(UserError) as caught:
        read_coflows(path)
    assert cause in caught.value.cause
    assert caught.value.place == f"{path}:{line}"


def test_coflows_end_with_their_last_flow(tmp_path: Path) -> None:
    """Senders at line rate over a switch that loses nothing: the fullest port decides, 3 MB into port 2."""
    path = written(tmp_path)
    traffic = {"kind": "coflows", "file": str(path), "ranks": ["h1", "h2", "aggregator"]}
    results = run(tmp_path, star(3, traffic))
    rows = results.table("coflows").rows(named=True)
    assert [(row["coflow"], row["flows"], row["start_ns"]) for row in rows] == [("1", 3, 0), ("7", 1, 20_000_000)]
    assert [row["bytes"] for row in rows] == [7 * MEGABYTE // 2, 2 * MEGABYTE]
    # Varys's bound: the bytes of the fullest port; on one switch it is met, but for the round trip.
    for row, fullest in zip(rows, (3 * MEGABYTE, 2 * MEGABYTE), strict=True):
        least = wire_ns(fullest)
        assert least < row["completion_ns"] < 1.01 * least + 2 * RTT_NS
    summary = results.runs[0]
    assert (summary["coflow_count"], summary["coflows_open"]) == (2, 0)
    assert summary["coflow_mean_ns"] == sum(row["completion_ns"] for row in rows) / 2
    assert "coflow_deadlines_met" not in summary


def test_the_trace_is_known_and_imported(tmp_path: Path) -> None:
    path = written(tmp_path)
    assert identify(path).kind == "coflows"
    document = import_foreign(path, None, str).document
    assert document["traffic"] == {"kind": "coflows", "file": str(path)}
    assert len(items(mapping(document["topology"])["hosts"])) == 3


def tree(**changes: Any) -> dict[str, Any]:
    return {"kind": "tree", "response_bytes": 20_000, "request_bytes": 100, **changes}


def test_a_request_of_one_level_waits_for_the_last_answer(tmp_path: Path) -> None:
    """All answers share the root's link; a request of 164 B crosses two links, then half the round trip back."""
    results = run(tmp_path, star(9, tree(requests=3, think_ns=50_000, service_ns=10_000)))
    rows = results.table("coflows").rows(named=True)
    assert [row["coflow"] for row in rows] == ["0", "1", "2"]
    least = RTT_NS + 10_000 + wire_ns(8 * 20_000)
    for row in rows:
        assert row["flows"] == 16
        assert row["bytes"] == 8 * 20_100
        # Eight requests leave one after the other, and an answer's first packet crosses one more link.
        assert least < row["completion_ns"] < least + 8 * 131 + 3 * PACKET
    for one, other in itertools.pairwise(rows):
        assert other["start_ns"] == one["finish_ns"] + 50_000


def test_levels_answer_once_all_below_have(tmp_path: Path) -> None:
    data = star(8, tree(fanout=[2, 2], aggregate_bytes=50_000))
    results = run(tmp_path, data)
    rows = {row["operation"]: row for row in results.table("operations").rows(named=True)}
    # Ranks: the root, two that it asks, and two for each of those.
    assert {(row["host"], row["peer"]) for name, row in rows.items() if "ask" in name} == {
        ("aggregator", "h1"),
        ("aggregator", "h2"),
        ("h1", "h3"),
        ("h1", "h4"),
        ("h2", "h5"),
        ("h2", "h6"),
    }
    for inner, leaves in (("1", "34"), ("2", "56")):
        last = max(rows[f"0:answer-{leaf}"]["arrival_ns"] for leaf in leaves)
        assert rows[f"0:answer-{inner}"]["start_ns"] == last
    (row,) = results.table("coflows").rows(named=True)
    assert row["bytes"] == 6 * 100 + 4 * 20_000 + 2 * 50_000
    assert row["finish_ns"] == max(rows["0:answer-1"]["arrival_ns"], rows["0:answer-2"]["arrival_ns"])


def test_open_loops_wait_for_no_answer_and_deadlines_are_counted(tmp_path: Path) -> None:
    """Answers of 160 kB every 100 us are more than 10 Gb/s carries, so later requests take longer."""
    traffic = tree(requests=10, mean_gap_ns=100_000, gap="constant", deadline_ns=300_000)
    results = run(tmp_path, star(9, traffic))
    rows = results.table("coflows").rows(named=True)
    assert [row["start_ns"] for row in rows] == [number * 100_000 for number in range(10)]
    times = [row["completion_ns"] for row in rows]
    assert times == sorted(times)
    assert times[-1] > 2 * times[0]
    met = [int(time <= 300_000) for time in times]
    assert 0 < sum(met) < 10
    assert [row["deadline_met"] for row in rows] == met
    assert results.runs[0]["coflow_deadlines_met"] == sum(met) / 10


def test_what_is_open_at_the_end_is_no_completion(tmp_path: Path) -> None:
    traffic = tree(requests=10, mean_gap_ns=100_000, gap="constant", deadline_ns=300_000)
    results = run(tmp_path, star(9, traffic, stop_ns=650_000))
    rows = results.table("coflows").rows(named=True)
    open_rows = [row for row in rows if row["completion_ns"] is None]
    assert len(rows) == 7
    assert results.runs[0]["coflows_open"] == len(open_rows) > 0
    assert [row["deadline_met"] for row in open_rows] == [
        0 if row["start_ns"] + 300_000 <= 650_000 else None for row in open_rows
    ]


def test_poisson_requests_have_their_mean_gap(tmp_path: Path) -> None:
    traffic = tree(requests=400, mean_gap_ns=50_000, response_bytes=1_000)
    results = run(tmp_path, star(3, traffic))
    starts = results.table("coflows")["start_ns"].to_list()
    gaps = [other - one for one, other in itertools.pairwise(starts)]
    mean = sum(gaps) / len(gaps)
    assert 42_000 < mean < 58_000
    # Of exponential times, as many are below the mean as 1 - 1/e.
    assert 0.55 < sum(gap < mean for gap in gaps) / len(gaps) < 0.71


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"think_ns": 5, "mean_gap_ns": 10_000}, "waits for no answer"),
        ({"gap": "constant"}, "a closed loop has no gap"),
        ({"deadline": {"offset_ns": 5}}, "deadline_ns is that of a request"),
        (
            {"requests": 3, "mean_gap_ns": 2e12, "gap": "constant"},
            r"mean_gap_ns: the last of 3 requests begins after 4,000 s",
        ),
        ({"fanout": [4, 3]}, "the tree needs 16 workers, and there are 8"),
    ],
)
def test_what_cannot_be_is_said(tmp_path: Path, changes: dict[str, Any], cause: str) -> None:
    with pytest.raises(UserError, match=cause):
        run(tmp_path, star(9, tree(**changes)))
