"""Packet spraying: one flow uses all equal paths, and each of its packets arrives unchanged; with ECMP it uses one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from p4cc.errors import UserError
from tests.p4cc.scenarios import run, scenario, skewed

if TYPE_CHECKING:
    from pathlib import Path


def bytes_up(folder: Path, **variant: Any) -> list[int]:
    """What each link from the first leaf to a spine carried of a flow of 100 packets of 1000 B at 1 Gb/s."""
    sender = {"name": "fixed", "rate_control": {"name": "fixed", "rate_mbps": 1_000}, **variant}
    traffic = {"kind": "bulk", "sources": ["h1"], "destinations": ["h5"], "size_bytes": 100_000, "priority": 3}
    ran = run(folder, skewed(traffic=traffic, variants=[sender], sweep={}, seeds=[1], measure=[]))
    assert ran.runs[0]["outcome"] == "finished"
    links = ran.table("links").iter_rows(named=True)
    up = [row["bytes"] for row in links if row["link"].startswith("leaf1") and "spine" in row["link"]]
    # ACKs of what comes the other way are left out.
    return [count for count in up if count > 50 * 64]


# A packet comes every 8.5 us: no pause of 20 us, and one of 5 us before each.
@pytest.mark.parametrize(
    ("program", "gap_ns", "used"),
    [("ecn_red", None, 1), ("ecn_red_spray", None, 2), ("ecn_red_spray", 20_000, 1), ("ecn_red_spray", 5_000, 2)],
)
def test_a_flow_takes_one_path_or_all(tmp_path: Path, program: str, gap_ns: int | None, used: int) -> None:
    carried = bytes_up(tmp_path, program=f"p4src/v1model/{program}.p4", flowlet_gap_ns=gap_ns)
    # At 1 Gb/s none overtakes another, so none is sent twice.
    assert len(carried) == used, carried
    assert 100_000 < sum(carried) < 115_000
    assert min(carried) > (20_000 if used > 1 else 100_000)


# A flow has one path by its port, whatever the program does else; values in turn, or at random, take both.
@pytest.mark.parametrize("program", ["ecn_red", "ecn_red_spray"])
@pytest.mark.parametrize(("entropy", "values", "used"), [("reps", 1, 1), ("oblivious", 64, 2), ("bitmap", 64, 2)])
def test_a_sender_chooses_paths(tmp_path: Path, program: str, entropy: str, values: int, used: int) -> None:
    chosen = {"recovery": "selective_repeat", "entropy": entropy, "entropy_values": values}
    carried = bytes_up(tmp_path, program=f"p4src/v1model/{program}.p4", transport=chosen)
    assert len(carried) == used, carried
    assert 100_000 < sum(carried) < 115_000
    assert min(carried) > (20_000 if used > 1 else 100_000)


def test_what_comes_back_unmarked_is_reused(tmp_path: Path) -> None:
    # A packet every 8.5 us, and its ACK comes back before: the first value is the only one.
    slow = {"name": "fixed", "rate_mbps": 100}
    chosen = {"recovery": "selective_repeat", "entropy": "reps"}
    assert len(bytes_up(tmp_path, program="p4src/v1model/ecn_red.p4", transport=chosen, rate_control=slow)) == 1


@pytest.mark.parametrize(
    ("variant", "message"),
    [
        ({"transport": {"entropy": "reps"}}, r"entropy: packets on several paths arrive out of order"),
        (
            {"transport": {"entropy": "reps", "recovery": "selective_repeat", "entropy_values": 12}},
            r"entropy_values: 12 is not a power of two",
        ),
        (
            {
                "transport": {"entropy": "reps", "recovery": "selective_repeat"},
                "program": "p4src/v1model/int_hpcc.p4",
                "rate_control": {"name": "hpcc"},
            },
            r"entropy: hpcc goes by what the switches of one path say",
        ),
        (
            {
                "transport": {"entropy": "reps", "recovery": "selective_repeat"},
                "program": "p4src/v1model/ecn_red_spray.p4",
                "flowlet_gap_ns": 5_000,
            },
            r"flowlet_gap_ns.*lets senders choose",
        ),
    ],
)
def test_what_knows_one_path_only_is_refused(tmp_path: Path, variant: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        bytes_up(tmp_path, **{"program": "p4src/v1model/ecn_red.p4", **variant})


def test_window_senders_keep_one_path(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"entropy: window senders take packets out of order for losses"):
        run(tmp_path, scenario(transport={"kind": "window", "entropy": "reps"}))


def test_a_gap_without_flowlets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"flowlet_gap_ns.*no table of the program has the role spray.gaps"):
        bytes_up(tmp_path, program="p4src/v1model/ecn_red.p4", flowlet_gap_ns=5_000)
