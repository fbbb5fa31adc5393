"""Queues set over BF Runtime send as those of the scenario's `schedulers` (their judge: ns.py, tm_schedule.rs)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from p4cc.errors import UserError
from tests.p4cc.networks.test_queues import LINE_BPS, classes
from tests.p4cc.scenarios import run

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

PORTS = (1, 2, 3, 4)
PORTS_OF_A_GROUP, QUEUES_OF_A_PORT = 4, 8
PRIORITY, WEIGHT, RATE, BURST = "max_priority", "dwrr_weight", "max_rate", "max_burst_size"
CONFIG, SHAPING = "tf1.tm.queue.sched_cfg", "tf1.tm.queue.sched_shaping"


def rows(table: str, queue: int, **data: Any) -> list[dict[str, Any]]:
    """The rows of a queue at each port, by port group and its queue, as the chip knows them."""
    keys = [
        {"pg_id": port // PORTS_OF_A_GROUP, "pg_queue": port % PORTS_OF_A_GROUP * QUEUES_OF_A_PORT + queue}
        for port in PORTS
    ]
    return [{"switch": "s1", "bfrt": table, "key": key, "data": data} for key in keys]


def received(
    folder: Path, program: str, scheduler: dict[str, Any] | None, entries: list[dict[str, Any]]
) -> pl.DataFrame:
    folder.mkdir()
    data = classes(scheduler)
    data["switch"]["program"] = f"p4src/{program}/ack_priority.p4"
    data["switch"]["entries"] = entries
    return run(folder, data).table("flows")


@pytest.mark.parametrize(
    ("queues", "entries"),
    [
        (
            [{"queue": 1, "level": 1}, {"queue": 2, "level": 1, "weight": 3}, {"queue": 3, "level": 1, "weight": 6}],
            [
                *rows(CONFIG, 1, **{PRIORITY: "1", WEIGHT: 1}),
                *rows(CONFIG, 2, **{PRIORITY: "1", WEIGHT: 3}),
                *rows(CONFIG, 3, **{PRIORITY: "1"}),
                *rows(CONFIG, 3, **{WEIGHT: 6}),
            ],
        ),
        (
            [{"queue": 1, "level": 7}, {"queue": 3, "level": 0}],
            [
                *rows(CONFIG, 1, **{PRIORITY: "HIGH"}),
                *rows(CONFIG, 3, **{PRIORITY: "LOW"}),
            ],
        ),
        (
            [{"queue": 3, "rate_bps": LINE_BPS // 4, "burst_bytes": 3_000}],
            [
                *rows(SHAPING, 3, unit="BPS", **{RATE: LINE_BPS // 4_000, BURST: 3_000}),
                *rows(CONFIG, 3, max_rate_enable=True),
            ],
        ),
    ],
    ids=["weights", "levels", "rate"],
)
def test_a_run_is_the_same(tmp_path: Path, queues: list[dict[str, Any]], entries: list[dict[str, Any]]) -> None:
    wanted = received(tmp_path / "v1model", "v1model", {"queues": queues}, [])
    over_bfrt = received(tmp_path / "bfrt", "tna", None, entries)
    assert over_bfrt.equals(wanted)
    assert not wanted.equals(received(tmp_path / "neither", "v1model", None, []))


def test_a_weight_that_the_chip_has_not_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="dwrr_weight is 1024, and the chip has 10 bits"):
        received(tmp_path / "refused", "tna", None, rows(CONFIG, 1, dwrr_weight=1_024))
