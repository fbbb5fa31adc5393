"""`changes` of a scenario: entries of tables that are written on a run's way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from p4cc.errors import UserError
from tests.p4cc.scenarios import run, scenario

if TYPE_CHECKING:
    from pathlib import Path

AT_NS = 200_000
DCTCP = {"name": "DCTCP", "congestion_avoidance": {"name": "dctcp"}}


def _change(**of: Any) -> dict[str, Any]:
    row = {"table": "thresholds", "match": {"egress_port": "port(self, aggregator)"}, "action": "set_thresholds"}
    return {"at_ns": AT_NS, "switch": "s1", **row, "params": {"k": 0, "k_dc": 524_287}, **of}


def _scenario(*changes: dict[str, Any], **of: Any) -> dict[str, Any]:
    switch = {"program": "p4src/v1model/ecn_dual.p4", "thresholds": {"k_rule": "fixed", "k_pkts": 95}}
    return scenario(variants=[DCTCP], switch=switch, traffic={"kind": "incast", "sru_bytes": 60_000},
                    record={"rtts": True}, changes=list(changes), **of)  # fmt: skip


def test_marks_begin_when_a_threshold_is_written(tmp_path: Path) -> None:
    without = run(tmp_path, _scenario())
    assert without.runs[0]["marks_level1"] == 0
    changed = run(tmp_path, _scenario(_change()))
    assert changed.runs[0]["marks_level1"] > 0
    marked = changed.table("rtts").filter(pl.col("marked") > 0)["time_ns"]
    assert marked.min() > AT_NS  # pyright: ignore[reportOperatorIssue,reportOptionalOperand]
    before, after = (one.table("rtts").filter(pl.col("time_ns") < AT_NS) for one in (without, changed))
    assert before.equals(after)


def test_an_entry_is_changed_as_often_as_it_is_written_and_threads_do_not_matter(tmp_path: Path) -> None:
    ends = _change(at_ns=400_000, params={"k": 524_287, "k_dc": 524_287})
    twice = run(tmp_path, _scenario(ends, _change()))
    marked = twice.table("rtts").filter(pl.col("marked") > 0)
    assert 0 < marked["time_ns"].len() < run(tmp_path, _scenario(_change())).table("rtts")["marked"].sum()
    again = run(tmp_path, _scenario(ends, _change()), use_cache=False, threads=2)
    assert again.bytes() == run(tmp_path, _scenario(ends, _change())).bytes()


def test_a_change_at_the_end_of_a_run_is_none(tmp_path: Path) -> None:
    late = run(tmp_path, _scenario(_change(at_ns=900_000_000)))
    assert late.runs[0]["marks_level1"] == 0


@pytest.mark.parametrize(
    ("of", "told"),
    [
        ({"switch": "s9"}, "no switch matches 's9'"),
        ({"table": "treshold"}, "no table 'treshold'"),
        ({"action": "set_threshold"}, "no action 'set_threshold'"),
        ({"params": {"k": 1}}, "takes (k, k_dc)"),
        ({"params": {"k": 1 << 19, "k_dc": 1}}, "needs 20 bits"),
        ({"match": {"egress_port": "port(self, h99)"}}, "h99"),
        ({"at_ns": -1}, "changes[0].at_ns"),
        ({"default": True}, "cannot have match or priority"),
    ],
)
def test_what_cannot_be_written_is_refused_before_the_run(tmp_path: Path, of: dict[str, Any], told: str) -> None:
    with pytest.raises(UserError) as refused:
        run(tmp_path, _scenario(_change(**of)))
    assert told in str(refused.value)
    assert "changes[0]" in str(refused.value)
