"""`p4cc explain` on the headroom of lossless ports: configured, by the formula, most used, and what would suffice."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from typer.testing import CliRunner

from p4cc.analysis.recorded import read_results
from p4cc.cli import app
from p4cc.explain.explained import explain
from tests.p4cc.explain.cases import GBPS, RED, fixed, paced, paced_star

if TYPE_CHECKING:
    from pathlib import Path

from tests.p4cc.scenarios import run

RATE_BPS, RTT_NS = 25 * GBPS, 8_000
LARGEST_BYTES = 1_064 + 255
"""A packet with headers and the largest extension (docs/algorithms/pfc.md#headroom)."""


def incast(**buffer: Any) -> dict[str, Any]:
    """Eight senders at line rate into a buffer that is soon full."""
    return paced(
        topology=paced_star(8),
        switch={**RED, "buffer": {"bytes": 1_000_000, "lossless_priorities": [3], **buffer}},
        traffic={"kind": "incast", "sru_bytes": 500_000, "priority": 3},
        transport={"kind": "rdma", "rto_ns": 1_000_000},
        variants=[fixed(0)],
    )


def told(folder: Path, *options: str) -> str:
    done = CliRunner().invoke(app, ["explain", str(folder), *options])
    assert done.exit_code == 0, done.output
    return done.output


def test_the_formula_is_the_default_and_no_more_is_used(tmp_path: Path) -> None:
    folder = run(tmp_path, incast()).outcome.folder
    (explained,) = explain(read_results(folder))
    (headroom,) = explained.headroom
    delay_ns = RTT_NS // 4
    assert headroom.formula_bytes == 3 * LARGEST_BYTES + 2 * 64 + 2 * RATE_BPS * delay_ns // 8_000_000_000
    assert (headroom.rate_bps, headroom.ports) == (RATE_BPS, 9)
    assert 0 < headroom.used_bytes <= headroom.formula_bytes == headroom.configured_bytes
    assert not explained.losses
    assert str(headroom) in told(folder)
    assert json.loads(told(folder, "--json"))["runs"][0]["headroom"][0]["used_bytes"] == headroom.used_bytes


def test_what_was_too_small_is_said_with_what_suffices(tmp_path: Path) -> None:
    for name in ("small", "enough"):
        (tmp_path / name).mkdir()
    small = run(tmp_path / "small", incast(headroom_bytes=3_000))
    (explained,) = explain(read_results(small.outcome.folder))
    (headroom,) = explained.headroom
    dropped = int(small.table("port_queues")["dropped_headroom"].sum())
    assert dropped > 0
    assert headroom.configured_bytes == 3_000 >= headroom.used_bytes
    assert f"{dropped:,} packets found the headroom full" in told(small.outcome.folder)
    losses = json.loads(told(small.outcome.folder, "--json"))["runs"][0]["losses"]
    assert losses == list(explained.losses) != []
    enough = run(tmp_path / "enough", incast(headroom_bytes=headroom.formula_bytes))
    assert int(enough.table("port_queues")["dropped_headroom"].sum()) == 0


def test_runs_without_lossless_priorities_have_none(tmp_path: Path) -> None:
    folder = run(tmp_path, incast(lossless_priorities=[])).outcome.folder
    (explained,) = explain(read_results(folder))
    assert not explained.headroom
    assert "headroom" not in told(folder)
    assert not any("headroom" in case for case in json.loads((folder / "run.json").read_text())["cases"])
