"""The properties of the engine's algorithms, tested on a user's class with random ACKs and losses.

Receivers are tested with the data of random flows (check_receivers.py).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from p4cc import _engine
from p4cc.user_algorithms.check_receivers import Receivers
from p4cc.user_algorithms.findings import BrokenError, Finding, same, tried
from p4cc.user_algorithms.load import load_any

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from p4cc.user_algorithms.load import UserSender

STEPS = 150
LINE_RATE_BPS = 100_000_000_000
_MARKS = ("one_ecn_threshold", "two_ecn_thresholds", "random_ecn")
_SLACK = 1e-9
"""Tolerance of sums of real numbers."""

WindowStep = tuple[str, int, int, int, "int | None"]
RateStep = tuple[int, "int | None", bool, int, "tuple[int, int, int] | None"]


def check_algorithm(file: Path | str, class_name: str, **parameters: float | str) -> list[Finding]:
    """Checks a class of a file for the invariants of algorithms, with these parameter values.

    Raises UserError for an invalid class or parameter.
    """
    return check(load_any(f"{Path(file).resolve()}:{class_name}", Path.cwd() / "-").with_values(parameters))


def check(sender: UserSender) -> list[Finding]:
    """Checks all invariants of an algorithm of its kind."""
    if sender.algorithm.entry.kind == "rate_control":
        return _Rates(sender).findings()
    if sender.algorithm.entry.kind == "receiver":
        return Receivers(sender).findings()
    return _Windows(sender).findings()


class _Windows:
    """Properties of congestion avoidances and slow starts."""

    def __init__(self, sender: UserSender) -> None:
        self._kind = sender.algorithm.entry.kind
        self._reads_marks = sender.algorithm.entry.switch_needs in _MARKS
        self._own = [sender.for_engine()]
        tried = {"name": sender.algorithm.entry.name, "own": 0}
        self._config = json.dumps({"congestion_avoidance": {"name": "reno"}, self._kind: tried})

    def findings(self) -> list[Finding]:
        found = [
            tried("survives", "no ACKs, losses or timeouts raise an exception", self._survives),
            tried("growth", "an ACK grows the window by at most the data it acknowledges", self._growth),
            tried("repeatable", "equal ACKs give equal windows", self._repeats),
        ]
        if self._reads_marks:
            found.insert(2, tried("marks", "marks never increase the window", self._marks))
        return found

    def _run(self, steps: list[WindowStep], ssthresh: float) -> list[tuple[float, float]]:
        return _engine.script_window(self._config, self._own, 1, ssthresh, steps)

    def _ssthresh(self, draw: random.Random) -> float:
        """The first threshold: with low ones, congestion avoidance begins immediately or soon."""
        return 2.0**30 if self._kind == "slow_start" else draw.choice((1.0, 64.0, 2.0**30))

    def _survives(self, draw: random.Random) -> None:
        self._run(list(_window_steps(draw, losses=True)), self._ssthresh(draw))

    def _growth(self, draw: random.Random) -> None:
        steps = list(_window_steps(draw, losses=False))
        before = 10.0
        windows = self._run(steps, self._ssthresh(draw))
        for number, (step, (cwnd, _)) in enumerate(zip(steps, windows, strict=True)):
            if cwnd > before + step[1] + _SLACK * before:
                grown = f"an ACK of {step[1]} segments grew the window from {before:g} to {cwnd:g}"
                raise BrokenError(f"step {number}: {grown}")
            before = cwnd

    def _marks(self, draw: random.Random) -> None:
        length = draw.randrange(1, STEPS)
        steps: list[WindowStep] = [("ack", 1, draw.choice((0, 1, 2)), 1_000, 100_000) for _ in range(length)]
        unmarked: list[WindowStep] = [(kind, n, 0, later, rtt) for kind, n, _, later, rtt in steps]
        ssthresh = self._ssthresh(draw)
        with_marks, without = self._run(steps, ssthresh)[-1][0], self._run(unmarked, ssthresh)[-1][0]
        if with_marks > without * (1 + _SLACK):
            marks = sum(step[2] > 0 for step in steps)
            raise BrokenError(
                f"the window ends at {with_marks:g} segments with {marks} marks in {len(steps)} ACKs, but at "
                f"{without:g} without marks"
            )

    def _repeats(self, draw: random.Random) -> None:
        steps, ssthresh = list(_window_steps(draw, losses=True)), self._ssthresh(draw)
        same(lambda: self._run(steps, ssthresh))


class _Rates:
    """Properties of rate controls."""

    def __init__(self, sender: UserSender) -> None:
        entry = sender.algorithm.entry
        self._needs = entry.switch_needs
        self._own = [sender.for_engine()]
        self._config = json.dumps({"name": entry.name, "own": 0})

    def findings(self) -> list[Finding]:
        found = [
            tried("survives", "no ACKs, notifications or timers raise an exception", self._survives),
            tried("repeatable", "equal ACKs give equal rates", self._repeats),
        ]
        if self._needs not in ("rate_allocation", "fair_rate"):
            found.insert(1, tried("sends", "the rate never becomes 0, which would stop the flow forever", self._sends))
        return found

    def _run(self, steps: list[RateStep]) -> list[tuple[float, float | None]]:
        return _engine.script_rate(self._config, LINE_RATE_BPS, self._own, 1, steps)

    def _survives(self, draw: random.Random) -> None:
        self._run(list(_rate_steps(draw)))

    def _sends(self, draw: random.Random) -> None:
        for number, (rate_bps, _) in enumerate(self._run(list(_rate_steps(draw)))):
            if rate_bps <= 0:
                raise BrokenError(f"step {number}: rate_bps is 0")

    def _repeats(self, draw: random.Random) -> None:
        steps = list(_rate_steps(draw))
        same(lambda: self._run(steps))


def _window_steps(draw: random.Random, *, losses: bool) -> Iterator[WindowStep]:
    kinds = ["ack"] * 12 + (["fast_retransmit", "partial_ack", "recovery_exit", "timeout"] if losses else [])
    for _ in range(draw.randrange(1, STEPS)):
        kind = draw.choice(kinds)
        segments = draw.choice((0, 1, 1, 1, 2, draw.randrange(40))) if kind == "ack" else draw.randrange(100)
        rtt_ns = draw.choice((None, 0, 1, 100_000, draw.randrange(10_000_000_000)))
        yield kind, segments, draw.choice((0, 0, 1, 2)), draw.choice((0, 1_000, draw.randrange(10**9))), rtt_ns


def _rate_steps(draw: random.Random) -> Iterator[RateStep]:
    timestamp = tx = 0
    for _ in range(draw.randrange(1, STEPS)):
        later_ns = draw.choice((0, 100, 1_000, draw.randrange(1_000_000)))
        timestamp, tx = (timestamp + later_ns) % (1 << 24), (tx + draw.randrange(100)) % (1 << 20)
        hop = None if draw.random() < 0.2 else (timestamp, tx, draw.choice((0, draw.randrange(1 << 17))))
        rtt_ns = draw.choice((None, 0, 1, 13_000, draw.randrange(10_000_000)))
        yield later_ns, rtt_ns, draw.random() < 0.2, draw.choice((0, 1_000, 64_000)), hop
