"""The planner: K = 8 and 33 by its default rule, the other readings beside it, and warnings where marks vanish."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller import Bottleneck, KRule, PlannerError, Thresholds, plan_thresholds, threshold_warnings

PAPER = Bottleneck(buffer_pkts=100, rate_bps=10_000_000_000, rtt_ns=100_000, packet_bytes=1500, senders=25)


@pytest.mark.parametrize(
    ("buffer_pkts", "k", "printed", "halved", "no_bdp", "quarter"),
    [(100, 8, -37.5, 8.333, 45.833, 25.0), (150, 33, -25.0, 33.333, 58.333, 37.5)],
)
def test_the_readings_of_the_specification(
    buffer_pkts: int, k: int, printed: float, halved: float, no_bdp: float, quarter: float
) -> None:
    plan = plan_thresholds(replace(PAPER, buffer_pkts=buffer_pkts))
    assert plan.thresholds == Thresholds(k, 65)
    values = {reading.name: reading.k_pkts for reading in plan.readings}
    assert values == pytest.approx(
        {"printed": printed, "halve_once": halved, "no_bdp": no_bdp, "quarter_buffer": quarter, "argmax": halved},
        abs=1e-3,
    )
    assert [reading.usable for reading in plan.readings] == [False, True, True, True, True]
    assert plan.warnings == (), "a reading that gives no K is no warning about the one that is taken"


@pytest.mark.parametrize("senders", [1, 4, 70, 1000])
def test_the_bound_does_not_depend_on_the_number_of_senders(senders: int) -> None:
    plan = plan_thresholds(replace(PAPER, senders=senders))
    assert [round(reading.k_pkts, 6) for reading in plan.readings] == [-37.5, 8.333333, 45.833333, 25.0, 8.333333]


def test_rules() -> None:
    at = replace(PAPER, buffer_pkts=150)
    assert plan_thresholds(at, rule=KRule.QUARTER_BUFFER).thresholds.k_pkts == 37
    assert plan_thresholds(at, rule=KRule.FIXED, fixed_k_pkts=25, k_dc_pkts=40).thresholds == Thresholds(25, 40)
    with pytest.raises(PlannerError, match="needs a value"):
        plan_thresholds(at, rule=KRule.FIXED)
    with pytest.raises(PlannerError, match="takes no value"):
        plan_thresholds(at, fixed_k_pkts=25)


def test_a_whole_number_is_not_rounded_away() -> None:
    # BDP = 80 packets exactly, so K = (100 - 80)/2 = 10.
    assert plan_thresholds(replace(PAPER, rtt_ns=96_000)).thresholds.k_pkts == 10


def test_a_buffer_below_the_pipe_has_no_threshold_by_the_rule() -> None:
    with pytest.raises(PlannerError) as caught:
        plan_thresholds(replace(PAPER, buffer_pkts=60))
    assert "K = -11.7" in str(caught.value)
    assert "fixed" in caught.value.remedy
    with pytest.raises(PlannerError, match=r"K = 0\.8"):
        plan_thresholds(replace(PAPER, buffer_pkts=3), rule=KRule.QUARTER_BUFFER)


@pytest.mark.parametrize(
    ("k", "k_dc", "words"),
    [
        (33, 65, []),
        (149, 149, ["level 1 never occurs"]),
        (150, 150, ["no packet is ever marked"]),
        (200, 150, ["no packet is ever marked"]),
        (33, 150, ["level 2 never occurs"]),
        (65, 65, ["level 1 never occurs"]),
        (80, 65, ["level 1 never occurs"]),
        (150, 65, ["level 1 never occurs"]),
        (0, 65, ["marks every packet"]),
        (0, 0, ["level 1 never occurs", "marks every packet"]),
    ],
)
def test_thresholds_at_which_marks_vanish_are_allowed_with_a_warning(k: int, k_dc: int, words: list[str]) -> None:
    warnings = threshold_warnings(Thresholds(k, k_dc), buffer_pkts=150)
    assert len(warnings) == len(words)
    for warning, word in zip(warnings, words, strict=True):
        assert word in warning


@given(st.integers(0, 200), st.integers(0, 200), st.integers(1, 150))
def test_the_warnings_are_true(k: int, k_dc: int, buffer_pkts: int) -> None:
    """Against the P4 program's rule, at every depth at which a packet can be enqueued."""
    levels = {2 if depth >= k_dc else 1 if depth >= k else 0 for depth in range(buffer_pkts)}
    text = " ".join(threshold_warnings(Thresholds(k, k_dc), buffer_pkts))
    assert ("no packet is ever marked" in text) == (levels == {0})
    assert ("every packet" in text) == (0 not in levels)
    assert ("level 2 never" in text) == (2 not in levels and 1 in levels)
    assert ("level 1 never" in text) == (1 not in levels and 2 in levels)


@pytest.mark.parametrize("k", [-1, 1 << 19])
def test_a_threshold_fits_the_switch(k: int) -> None:
    with pytest.raises(PlannerError, match="not between 0 and 524287"):
        Thresholds(k, 65)


def test_plain_data_names_its_units() -> None:
    plain = plan_thresholds(PAPER).to_plain()
    assert plain["k_pkts"] == 8
    assert plain["readings"][0] == {
        "name": "printed",
        "formula": "(B + BDP)/4 - BDP",
        "k_pkts": pytest.approx(-37.5),
        "usable": False,
    }
