"""Operations that wait for each other, end to end (docs/algorithms/traffic.md#operations)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from p4cc.errors import UserError
from tests.p4cc.scenarios import run, scenario

if TYPE_CHECKING:
    from pathlib import Path

STAR = {"kind": "star", "senders": 8, "queue_capacity_pkts": 400}
DCQCN = {"variants": [{"name": "DCQCN", "rate_control": {"name": "dcqcn"}}], "transport": {"kind": "rdma"}}
CHAIN: list[dict[str, Any]] = [
    {"name": "forward", "host": "h1", "compute_ns": 40_000},
    {"name": "gradient", "host": "h1", "to": "h2", "size_bytes": 100_000, "after": ["forward"]},
    {"name": "receive", "host": "h2", "compute_ns": 0, "after_arrival": ["gradient"]},
    {"name": "back", "host": "h2", "to": "h1", "size_bytes": 200_000, "after": ["receive"]},
    {"name": "beside", "host": "h3", "compute_ns": 7, "after_start": ["back"]},
    {"name": "update", "host": "h1", "compute_ns": 500_000, "after": ["back", "gradient"]},
]


def job(folder: Path, operations: list[dict[str, Any]], *, threads: int = 1, senders: Any = DCQCN) -> Any:
    folder.mkdir(exist_ok=True)
    traffic = {"kind": "operations", "name": "job", "operations": operations, "start_ns": 1_000}
    made = scenario(topology=STAR, traffic=traffic, stop_ns=100_000_000, **senders)
    return run(folder, made, use_cache=False, threads=threads)


def rows(ran: Any) -> dict[str, dict[str, Any]]:
    return {row["operation"]: row for row in ran.table("operations").iter_rows(named=True)}


@pytest.mark.parametrize("senders", [DCQCN, {}], ids=["paced", "windows"])
def test_operations_start_when_what_they_wait_for_has_happened(tmp_path: Path, senders: dict[str, Any]) -> None:
    ran = job(tmp_path, CHAIN, senders=senders)
    found = rows(ran)
    flows = {row["flow_id"]: row for row in ran.table("flows").iter_rows(named=True)}
    assert list(found) == [one["name"] for one in CHAIN]
    assert found["forward"]["start_ns"] == 1_000
    assert found["gradient"]["start_ns"] == found["forward"]["end_ns"] == 41_000
    assert found["receive"]["start_ns"] == found["receive"]["end_ns"] == found["gradient"]["arrival_ns"]
    assert found["beside"]["start_ns"] == found["back"]["start_ns"] == found["receive"]["end_ns"]
    assert found["update"]["start_ns"] == max(found["back"]["end_ns"], found["gradient"]["end_ns"])
    for name in ("gradient", "back"):
        flow = flows[found[name]["flow_id"]]
        times = [found[name][key] for key in ("start_ns", "arrival_ns", "end_ns")]
        assert times == [flow["start_ns"], flow["received_ns"], flow["finish_ns"]]
        assert (flow["src"], flow["dst"]) == (found[name]["host"], found[name]["peer"])
    # 200 kB at 10 Gb/s.
    assert found["back"]["arrival_ns"] - found["back"]["start_ns"] > 160_000
    whole = ran.table("jobs").row(0, named=True)
    assert (whole["job"], whole["operations"], whole["ended"], whole["start_ns"]) == ("job", 6, 6, 1_000)
    # The run goes on after the last flow until the last operation ends.
    assert whole["finish_ns"] == found["update"]["start_ns"] + 500_000
    assert whole["completion_ns"] == whole["finish_ns"] - 1_000


def test_a_send_alone_is_the_flow_that_bulk_traffic_has(tmp_path: Path) -> None:
    send = {"name": "a", "host": "h1", "to": "h2", "size_bytes": 300_000}
    flow = job(tmp_path, [send]).table("flows").row(0, named=True)
    traffic = {"kind": "bulk", "sources": "h1", "destinations": "h2", "size_bytes": 300_000, "start_ns": 1_000}
    other = run(tmp_path, scenario(topology=STAR, traffic=traffic, **DCQCN)).table("flows").row(0, named=True)
    assert flow["fct_ns"] > 0
    assert {**flow, "class": ""} == {**other, "class": ""}


def test_threads_change_nothing(tmp_path: Path) -> None:
    many = [
        {"name": f"{step}.{host}", "host": f"h{host}", "to": f"h{host % 8 + 1}", "size_bytes": 50_000 + 1_000 * host,
         "after_arrival": [] if step == 0 else [f"{step - 1}.{(host - 2) % 8 + 1}"]}
        for step in range(6)
        for host in range(1, 9)
    ]  # fmt: skip
    found = [job(tmp_path / str(threads), many, threads=threads) for threads in (1, 2)]
    for name in ("operations", "flows", "jobs"):
        assert found[0].table(name).equals(found[1].table(name))
    assert found[0].table("jobs")["ended"].item() == 48


def test_a_unit_does_one_thing_at_a_time(tmp_path: Path) -> None:
    both = [
        {"name": "a", "host": "h1", "compute_ns": 10_000, "unit": "gpu"},
        {"name": "b", "host": "h1", "compute_ns": 5_000, "unit": "gpu"},
        {"name": "c", "host": "h1", "compute_ns": 1_000, "start_ns": 300, "unit": "cpu"},
        {"name": "send", "host": "h1", "to": "h2", "size_bytes": 1_000, "after": ["b"]},
    ]
    found = rows(job(tmp_path, both))
    assert [(found[name]["start_ns"], found[name]["end_ns"]) for name in "abc"] == [
        (1_000, 11_000),
        (11_000, 16_000),
        (1_300, 2_300),
    ]


def test_what_did_not_end_is_null(tmp_path: Path) -> None:
    late = [
        {"name": "a", "host": "h1", "compute_ns": 200_000_000},
        {"name": "b", "host": "h1", "to": "h2", "size_bytes": 1_000, "after": ["a"]},
    ]
    ran = job(tmp_path, late)
    assert ran.table("operations").select("operation", "end_ns").rows() == [("a", None)]
    assert ran.table("jobs").select("ended", "finish_ns", "completion_ns").row(0) == (0, None, None)
    said = "seed 1: 2 of 2 operations of job had not ended when the run ended (100 ms)"
    assert sum(said in warning for warning in ran.outcome.warnings) == 1


def test_a_run_of_computing_alone_ends_with_it(tmp_path: Path) -> None:
    ran = job(tmp_path, [{"name": "a", "host": "h1", "compute_ns": 500}])
    assert [one["end_ns"] for one in ran.runs] == [1_500]
    assert not any("had not ended" in warning for warning in ran.outcome.warnings)


@pytest.mark.parametrize(
    ("operations", "said"),
    [
        (
            [{"name": "a", "host": "h1", "compute_ns": 1, "after": ["b"]}],
            "'a' waits for 'b', which is not an operation",
        ),
        (
            [{"name": "a", "host": "h1", "compute_ns": 1, "after": ["a"]}],
            "never starts, as each of a -> a waits",
        ),
        (
            [
                {"name": "a", "host": "h1", "compute_ns": 1, "after": ["b"]},
                {"name": "b", "host": "h1", "compute_ns": 1, "after": ["c"]},
                {"name": "c", "host": "h1", "compute_ns": 1, "after_start": ["b"]},
            ],
            "each of b -> c -> b waits for the next",
        ),
        (
            [
                {"name": "a", "host": "h1", "compute_ns": 1},
                {"name": "b", "host": "h1", "compute_ns": 1, "after_arrival": ["a"]},
            ],
            "waits for an arrival of 'a', which sends nothing",
        ),
        ([{"name": "a", "host": "h1", "compute_ns": 1}] * 2, "two operations are named 'a'"),
        ([{"name": "a", "host": "h1"}], "give to and size_bytes for a send, or compute_ns"),
        ([{"name": "a", "host": "h1", "to": "h1", "size_bytes": 1}], "'h1' would send to itself"),
        ([{"name": "a", "host": "h99", "compute_ns": 1}], "no host matches 'h99'"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, operations: list[dict[str, Any]], said: str) -> None:
    with pytest.raises(UserError, match=said):
        job(tmp_path, operations)
