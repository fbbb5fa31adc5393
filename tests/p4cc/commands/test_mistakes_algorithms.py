"""What people get wrong with algorithms in Python: a message with place and remedy, exit code 2, and no results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from p4cc.errors import UserError
from tests.p4cc.scenarios import run, scenario

if TYPE_CHECKING:
    from pathlib import Path

TOP = "from p4cc import RateAlgorithm, SlowStart, WindowAlgorithm, choice, number\n"
WINDOW = TOP + "class Mine(WindowAlgorithm):\n    {}\n"
SLOW = TOP + "class Mine(SlowStart):\n    {}\n"
RATE = TOP + "class Mine(RateAlgorithm):\n    {}\n"
PLAIN = WINDOW.format("step = number(1, min=0.5, max=2, unit='segments')")

MISTAKES: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "no such file": (PLAIN, {"python": "yours.py:Mine"}, ("no algorithm 'yours.py'", "searched ")),
    "no such class": (
        PLAIN,
        {"python": "mine.py:Yours"},
        ("mine.py: has no class 'Yours'", "classes in the file: Mine"),
    ),
    "no class at all": (PLAIN, {"python": "mine.py"}, ("congestion_avoidance.python", "FILE.py:CLASS")),
    "name and class": (PLAIN, {"python": "mine.py:Mine", "name": "reno"}, ("not both",)),
    "no Python": ("class Mine(:\n", {}, ("the algorithm cannot be loaded", "SyntaxError", "line 1")),
    "no algorithm": ("class Mine:\n    pass\n", {}, ("Mine is not a p4cc.WindowAlgorithm", "derive the class")),
    "another kind": (RATE.format("pass"), {}, ("is an algorithm for rate_control, not for congestion_avoidance",)),
    "no such parameter": (PLAIN, {"stop": 1}, ("congestion_avoidance.stop", 'has no parameter "stop"', "'step'?")),
    "a parameter out of range": (PLAIN, {"step": 3}, ("congestion_avoidance.step", "0.5 to 2 segments")),
    "a parameter that is a word": (PLAIN, {"step": "big"}, ("'big' is not a number",)),
    "a needed parameter": (
        WINDOW.format("step = number(min=0, max=1)"),
        {},
        ("requires this parameter, which has no default",),
    ),
    "no such word": (WINDOW.format("how = choice('a', options=['a', 'b'])"), {"how": "c"}, ("give one of: a, b",)),
    "a default out of range": (WINDOW.format("step = number(5, min=0, max=1)"), {}, ("the default must lie between",)),
    "a parameter's name that is taken": (
        WINDOW.format("cwnd = number(1, min=0, max=1)"),
        {},
        ("cwnd is already an attribute",),
    ),
    "needs of nothing": (WINDOW.format("needs = 'marks'"), {}, ("needs = 'marks'", "one_ecn_threshold")),
    "marks that never come": (
        WINDOW.format("def on_mark(self, ack): pass"),
        {},
        ("on_mark is never called", 'set needs = "one_ecn_threshold"'),
    ),
    "a method that p4cc never calls": (
        WINDOW.format("def on_akc(self, ack): pass"),
        {},
        ("on_akc that p4cc never calls",),
    ),
    "no method": (WINDOW.format("on_ack = 5"), {}, ("on_ack is not a method", "write def on_ack")),
    "an exception at the start": (
        WINDOW.format("def start(self): self.x = 1 / 0"),
        {},
        ("an algorithm failed", "line 3, in start", "ZeroDivisionError", "flow 0"),
    ),
    "an exception within a run": (
        WINDOW.format("def observe(self, ack): self.x = 1 / (ack.ack < 10_000)"),
        {},
        ("case Mine seed 1: Mine, flow ", " ns: an algorithm failed", "line 3, in observe", "ZeroDivisionError"),
    ),
    "a window of nothing": (
        WINDOW.format("def on_ack(self, ack): self.cwnd -= 100"),
        {},
        ("ValueError: cwnd = -", "segments; give a number above 0"),
    ),
    "a threshold of nothing": (
        WINDOW.format("def on_loss(self, flight_segments): return None"),
        {},
        ("an algorithm failed: TypeError: the threshold after a loss is None; return segments",),
    ),
    "a class without a constructor that works": (
        WINDOW.format("def __init__(self, more): pass"),
        {},
        ("Mine cannot be made", "missing 1 required positional argument"),
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_with_algorithms_in_python(tmp_path: Path, name: str) -> None:
    code, chosen, said = MISTAKES[name]
    (tmp_path / "mine.py").write_text(code)
    variants = [{"name": "Mine", "congestion_avoidance": {"python": "mine.py:Mine", **chosen}}]
    lossy = {"kind": "star", "senders": 4, "queue_capacity_pkts": 8}
    with pytest.raises(UserError) as raised:
        run(tmp_path, scenario(variants=variants, topology=lossy))
    assert raised.value.exit_code == 2
    assert all(part in str(raised.value) for part in said), str(raised.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def on_ack(self, ack): self.rate_bps = -1", "rate_bps = -1; give a number from 0 on"),
        ("def on_ack(self, ack): self.window_bytes = 0", "window_bytes = 0; give a number from 1 on"),
        ("def on_ack(self, ack): self.timer_ns = float('nan')", "timer_ns = NaN; give a virtual time"),
    ],
)
def test_what_a_rate_algorithm_sets_is_checked(tmp_path: Path, code: str, said: str) -> None:
    (tmp_path / "mine.py").write_text(RATE.format(code))
    variants = [{"name": "Mine", "rate_control": {"python": "mine.py:Mine"}}]
    with pytest.raises(UserError, match=said):
        run(tmp_path, scenario(variants=variants, transport={"kind": "rdma", "rto_ns": 1_000_000}))


def test_a_slow_start_has_to_grow(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(SLOW.format("pass"))
    variants = [{"name": "Mine", "congestion_avoidance": {"name": "reno"}, "slow_start": {"python": "mine.py:Mine"}}]
    with pytest.raises(UserError, match="has no on_ack, so the window would never grow"):
        run(tmp_path, scenario(variants=variants))


@pytest.mark.parametrize(("asked", "fails"), [("1e9", False), ("None", False), ("-1", True), ("float('inf')", True)])
def test_what_a_flow_asks_of_switches_is_checked(tmp_path: Path, asked: str, fails: bool) -> None:
    method = f"def request_rate(self, now_ns, left_bytes, deadline_ns, srtt_ns): return {asked}"
    code = f"needs = 'rate_allocation'\n    {method}"
    (tmp_path / "mine.py").write_text(RATE.format(code))
    own = {"name": "Mine", "program": "p4src/v1model/d3.p4", "rate_control": {"python": "mine.py:Mine"}}
    plain = scenario(variants=[own], transport={"kind": "rdma", "rto_ns": 1_000_000}, stop_ns=5_000_000)
    plain["switch"] |= {"timestamp_unit": "ns", "qdepth_unit": "cells_80B"}
    if fails:
        with pytest.raises(UserError, match="; return a rate from 0 on, in bit/s, or None to give up"):
            run(tmp_path, plain)
    else:
        assert run(tmp_path, plain).runs
