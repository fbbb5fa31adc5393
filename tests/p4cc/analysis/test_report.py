"""The table that a run prints: columns that say something, whole digits, as wide as the terminal."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from p4cc.analysis.summary_table import aggregate, table

RUN: dict[str, Any] = {
    "variant": "GST-DCTCP",
    "senders": 16,
    "seed": 1,
    "goodput_bps": 9.87654e9,
    "total_goodput_bps": 9.91e9,
    "flows_finite": 16,
    "finish_ns": 123_456_789,
    "fct_p50_ns": 1_234_567,
    "fct_p99_ns": 12_345_678,
    "slowdown_p99": 123.456,
    "timeouts": 1_234_567,
    "drops": 7_654_321,
    "pauses": 0,
    "marks_level1": 1_111_111,
    "marks_level2": 2_222_222,
    "peak_queue_pkts": 150,
}


def printed(*runs: dict[str, Any], width: int = 80) -> str:
    rows = aggregate([{**RUN, **run} for run in runs], ["variant", "senders"])
    console = Console(width=width, record=True, file=StringIO())
    console.print(table("title", rows, ["variant", "senders"], width))
    return console.export_text()


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_digits_are_never_cut(width: int) -> None:
    text = printed({}, width=width)
    lines = text.splitlines()
    assert max(map(len, lines)) <= width
    assert "9.88" in text
    assert "\u2026" not in text
    (row,) = [line for line in lines if "GST-DCTCP" in line]
    told = {"123.46", "1.235", "12.346", "1/1", "1234567", "7654321", "1111111", "2222222", "150"}
    shown = {word for word in row.replace("\u2502", " ").split() if word in told}
    assert (shown == told) == (width == 200)
    if width < 200:
        assert "in summary.json also" in text


def test_columns_follow_what_happened() -> None:
    text = printed({"timeouts": 0, "marks_level1": 0, "marks_level2": 0, "drops": 0, "pauses": 12}, width=200)
    assert "pauses" in text
    for absent in ("marks", "timeouts", "timed out", "drops"):
        assert absent not in text


def test_percentiles_of_few_flows_are_marked() -> None:
    few = {"few_values": ["fct_p99_ns"]}
    text = printed(few, {"seed": 2, "few_values": []}, width=200)
    assert "12.346*" in text
    assert "123.46*" not in text
    assert "* of fewer values than 100 (p99) in a run" in text
    assert "*" not in printed({"few_values": []}, width=200)
    assert "12.346, 1 of 2 seeds" in printed({}, {"seed": 2, "fct_p99_ns": None}, width=200)


def test_what_did_not_finish_is_said() -> None:
    assert "123.46, 1 of 2 finished" in printed({}, {"seed": 2, "finish_ns": None}, width=200)
    assert "0 of 1 finished" in printed({"finish_ns": None}, {"senders": 17}, width=200)


def test_goodput_of_flows_without_end_is_shown() -> None:
    assert "9.91" not in printed({}, width=200)
    text = printed({"flows_finite": 0, "goodput_bps": 0.0, "finish_ns": None}, width=200)
    assert "9.91" in text
    assert "0.00" not in text
