"""Computed claims: the round model of a slow start, and the utilisation model of the GST paper."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from controller.model import argmax_window_pkts, utilisation_slope
from p4cc import _engine
from p4cc.errors import UserError
from p4cc.planning.bottleneck import bottleneck
from p4cc.scenario.load import sender_config

if TYPE_CHECKING:
    from p4cc.scenario.claims import ModelSlopeMeasure, RoundModelMeasure
    from p4cc.scenario.schema import ScenarioModel

MAX_ROUNDS = 1_000


def rise_in_rounds(scenario: ScenarioModel, how: RoundModelMeasure) -> float | None:
    """Rounds or seconds between two windows of a variant's slow start, by the senders' own code on an ideal path."""
    variant = next((one for one in scenario.variants if one.name == how.variant), None)
    if variant is None:
        known = ", ".join(one.name for one in scenario.variants)
        raise UserError(f"no variant {how.variant!r}", remedy=f"variants: {known}")
    config, own = sender_config(scenario, variant)
    windows = _engine.windows_by_round(config, how.rtt_ns, MAX_ROUNDS, own)
    start = 0 if how.from_segments is None else _first(windows, how.from_segments)
    end = _first(windows, how.to_segments)
    if start is None or end is None:
        return None
    rounds = end - start
    return float(rounds) if how.unit == "rounds" else rounds * how.rtt_ns / 1e9


def peak_window(scenario: ScenarioModel, *, printed: bool) -> float:
    """The window of greatest utilisation in packets: by search on the curve, or by the formula as printed."""
    at = bottleneck(scenario)
    return at.corner_window_pkts / 2 if printed else argmax_window_pkts(at)


def flattest_slope(scenario: ScenarioModel, how: ModelSlopeMeasure) -> float | None:
    """dG/dw per packet at the whole window of a branch where it is nearest to 0; None for a branch without one."""
    at = replace(bottleneck(scenario), senders=how.senders)
    is_rising = how.branch == "rising"
    windows = [w for w in range(1, how.most_segments + 1) if (w <= at.corner_window_pkts) == is_rising]
    return (min if is_rising else max)((utilisation_slope(at, w) for w in windows), default=None)


def _first(windows: list[float], segments: float) -> int | None:
    return next((place for place, window in enumerate(windows) if window >= segments), None)
