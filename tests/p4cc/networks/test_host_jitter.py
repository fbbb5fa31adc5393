"""A random processing time at hosts ends phase effects of drop-tail queues, on any number of threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from p4cc.errors import UserError
from tests.p4cc.scenarios import run, scenario

if TYPE_CHECKING:
    from pathlib import Path

PACKET_NS = 235_000
"""The time that a packet of 1,464 B takes at 50 Mb/s."""

TWO_FLOWS = {
    "topology": {
        "kind": "dumbbell",
        "pairs": 2,
        "access_rate_bps": 50_000_000,
        "bottleneck_rate_bps": 50_000_000,
        "rtt_ns": 4_002_000,
        "queue_capacity_pkts": 100,
    },
    "traffic": {
        "kind": "bulk",
        "size_bytes": 500_000,
        "sources": ["l1", "l2"],
        "destinations": ["r1", "r2"],
        "start_jitter_ns": 1_000_000,
    },
    "transport": {"recovery": "sack", "mss_bytes": 1_400, "iw": 10, "rwnd": 1_000, "rto_min_ns": 200_000_000},
    "variants": [{"name": "CUBIC", "congestion_avoidance": {"name": "cubic"}, "slow_start": {"name": "hystart"}}],
    "seeds": [1, 2, 3, 4, 5],
    "stop_ns": 5_000_000_000,
    "record": {"windows_interval_ns": None, "queues_interval_ns": None},
}


def timeouts(folder: Path, **settings: Any) -> list[int]:
    """Timeouts of each seed."""
    folder.mkdir()
    return [one["timeouts"] for one in run(folder, scenario(**TWO_FLOWS, **settings)).runs]


def test_jitter_ends_the_loss_of_a_whole_window(tmp_path: Path) -> None:
    """Without it one flow loses all that it sends to the full queue, whatever the seed."""
    assert timeouts(tmp_path / "none") == [2, 2, 2, 2, 2]
    assert timeouts(tmp_path / "jitter", host_jitter_ns=PACKET_NS) == [0, 0, 0, 0, 0]


def test_a_negative_jitter_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"host_jitter_ns: .*greater than or equal to 0"):
        run(tmp_path, scenario(**TWO_FLOWS, host_jitter_ns=-1))
