"""The planner: K and K_dc by every rule, that they never fall as the rate grows, warnings where marks vanish."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller import (
    Bottleneck,
    KRule,
    PlannerError,
    ThresholdRule,
    Thresholds,
    choose_thresholds,
    plan_link,
    threshold_warnings,
)
from controller.ecn import THRESHOLDS
from controller.entities import ActionCall
from controller.planner import RuleOf, bound_warning, bound_warnings, k_readings, longest_rtt_ns, threshold_entry
from tests.controller.planned import roles
from topos import Paths, generate

PAPER = Bottleneck(buffer_pkts=100, rate_bps=10_000_000_000, rtt_ns=100_000, packet_bytes=1500, senders=25)


@pytest.mark.parametrize(
    ("buffer_pkts", "k", "printed", "halved", "no_bdp", "quarter"),
    [(100, 8, -37.5, 8.333, 45.833, 25.0), (150, 33, -25.0, 33.333, 58.333, 37.5)],
)
def test_the_readings_of_docs_algorithms(
    buffer_pkts: int, k: int, printed: float, halved: float, no_bdp: float, quarter: float
) -> None:
    at = replace(PAPER, buffer_pkts=buffer_pkts)
    assert choose_thresholds(at, ThresholdRule(KRule.HALVE_ONCE)) == Thresholds(k, 65)
    # docs/algorithms/slow-start.md#gst-parameters: 25 at either buffer, beside K_dc 65.
    assert choose_thresholds(at) == Thresholds(25, 65)
    readings = k_readings(at, 65)
    values = {reading.name: reading.value_pkts for reading in readings}
    assert values == pytest.approx(
        {
            "proportional": 25.0,
            "printed": printed,
            "halve_once": halved,
            "no_bdp": no_bdp,
            "quarter_buffer": quarter,
            "argmax": halved,
        },
        abs=1e-3,
    )
    assert [reading.name for reading in readings if not reading.usable] == ["printed"]


@pytest.mark.parametrize("senders", [1, 4, 70, 1000])
def test_the_bound_does_not_depend_on_the_number_of_senders(senders: int) -> None:
    readings = k_readings(replace(PAPER, senders=senders), 65)
    assert [round(reading.value_pkts, 6) for reading in readings[1:]] == [-37.5, 8.333333, 45.833333, 25.0, 8.333333]


def test_rules() -> None:
    at = replace(PAPER, buffer_pkts=150)
    assert choose_thresholds(at, ThresholdRule(KRule.QUARTER_BUFFER)).k_pkts == 37
    assert choose_thresholds(at, ThresholdRule(KRule.FIXED, 25, 40)) == Thresholds(25, 40)
    assert choose_thresholds(at, ThresholdRule(k_dc_pkts=40)) == Thresholds(15, 40)
    with pytest.raises(PlannerError, match="requires a value"):
        choose_thresholds(at, ThresholdRule(KRule.FIXED))
    with pytest.raises(PlannerError, match="accepts no value"):
        choose_thresholds(at, ThresholdRule(k_pkts=25))


def test_a_k_of_one_packet_can_be_taken() -> None:
    readings = {reading.name: reading for reading in k_readings(replace(PAPER, buffer_pkts=4), 65)}
    assert (readings["quarter_buffer"].value_pkts, readings["quarter_buffer"].usable) == (1.0, True)


def test_a_whole_number_is_not_rounded_away() -> None:
    # BDP = 80 packets exactly, so K = (100 - 80)/2 = 10.
    assert choose_thresholds(replace(PAPER, rtt_ns=96_000), ThresholdRule(KRule.HALVE_ONCE)).k_pkts == 10


def test_a_buffer_below_the_pipe_has_no_threshold_by_the_rule() -> None:
    with pytest.raises(PlannerError) as caught:
        choose_thresholds(replace(PAPER, buffer_pkts=60), ThresholdRule(KRule.HALVE_ONCE))
    assert "K = -11.7" in str(caught.value)
    assert "fixed" in caught.value.remedy
    with pytest.raises(PlannerError, match=r"K = 0\.8"):
        choose_thresholds(replace(PAPER, buffer_pkts=3), ThresholdRule(KRule.QUARTER_BUFFER, k_dc_pkts=2))


@pytest.mark.parametrize(
    ("rate_bps", "buffer_pkts", "k_dc", "taken"),
    [
        # DCTCP's own settings, and in proportion beyond.
        (500_000_000, 1000, 20, "by_rate"),
        (1_000_000_000, 1000, 20, "by_rate"),
        # Half of the way from 20 to 65 packets.
        (5_500_000_000, 1000, 42, "by_rate"),
        (10_000_000_000, 100, 65, "by_rate"),
        (25_000_000_000, 1000, 162, "by_rate"),
        (100_000_000_000, 1000, 650, "by_rate"),
        # 65 % of the buffer; then a seventh of the 833.3 packets in flight, rounded up.
        (100_000_000_000, 200, 130, "buffer_share"),
        (100_000_000_000, 150, 120, "bound"),
        # The share of the buffer is the bound; all of it but an eighth is.
        (100_000_000_000, 185, 120, "buffer_share"),
        (100_000_000_000, 137, 120, "bound"),
        # The bound is above the buffer: all of it but an eighth.
        (100_000_000_000, 120, 105, "buffer_end"),
        # An eighth of 25 is three whole packets.
        (100_000_000_000, 25, 22, "buffer_end"),
        (100_000_000_000, 1, 1, "buffer_end"),
    ],
)
def test_k_dc_follows_the_rate_within_the_buffer_and_above_dctcps_bound(
    rate_bps: int, buffer_pkts: int, k_dc: int, taken: str
) -> None:
    plan = plan_link(replace(PAPER, rate_bps=rate_bps, buffer_pkts=buffer_pkts))
    assert plan.thresholds.k_dc_pkts == k_dc
    assert plan.chosen("k_dc").reading == taken
    assert plan.pkts(plan.chosen("k_dc").size_bytes or 0.0) == k_dc


def test_a_buffer_below_dctcps_bound_is_warned_of_with_one_that_is_enough() -> None:
    at = replace(PAPER, rate_bps=100_000_000_000, buffer_pkts=120)
    text = bound_warning(at) or ""
    assert text.startswith("DCTCP's bound requires K_dc of 120 packets (a seventh of the 833.3 in flight)")
    assert "the queue has room for 120: K_dc is set to 105, and the link may run idle after a window cut" in text
    assert text.endswith("a queue of 138 packets is enough (queue_capacity_pkts)")
    assert bound_warning(at) in plan_link(at).warnings
    assert bound_warning(replace(at, buffer_pkts=137)) is None
    assert bound_warning(replace(at, buffer_pkts=138)) is None
    assert bound_warning(at, k_dc_pkts=65) is None
    assert choose_thresholds(replace(at, buffer_pkts=138)).k_dc_pkts == 120


GROWING = ("k", "k_dc", "k_min", "k_max", "w_init", "w_ai")


@given(
    st.lists(st.integers(1_000_000, 1_600_000_000_000), min_size=2, max_size=2).map(sorted),
    st.integers(1_000, 10_000_000),
    st.integers(2, 400_000),
    st.integers(64, 9_000),
    st.integers(1, 500),
)
def test_a_faster_link_never_gets_a_smaller_threshold(
    rates_bps: list[int], rtt_ns: int, buffer_pkts: int, packet_bytes: int, senders: int
) -> None:
    ats = [Bottleneck(buffer_pkts, rate_bps, rtt_ns, packet_bytes, senders) for rate_bps in rates_bps]
    slow, fast = map(plan_link, ats)
    for name in GROWING:
        assert (slow.chosen(name).size_bytes or 0.0) <= (fast.chosen(name).size_bytes or 0.0), name
    for plan in (slow, fast):
        thresholds = plan.thresholds
        assert 1 <= thresholds.k_pkts <= thresholds.k_dc_pkts < buffer_pkts
        # Buffers of a packet or three have no room for two thresholds.
        assert thresholds.k_pkts < thresholds.k_dc_pkts or thresholds.k_dc_pkts == 1
        assert 7 * thresholds.k_dc_pkts > plan.at.bdp_ratio or bound_warning(plan.at)


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


def test_the_largest_threshold_fits_the_switch() -> None:
    assert Thresholds(0, (1 << 19) - 1).k_dc_pkts == 524_287


@pytest.mark.parametrize("k", [-1, 1 << 19])
def test_a_threshold_fits_the_switch(k: int) -> None:
    with pytest.raises(PlannerError, match="not between 0 and 524287"):
        Thresholds(k, 65)


def test_ports_whose_queues_end_before_the_bound_are_named_in_one_line() -> None:
    rule = ThresholdRule(rtt_ns=100_000)

    def lines(senders: int, queue_capacity_pkts: int, of: RuleOf | ThresholdRule = rule) -> tuple[str, ...]:
        link = {"rate_bps": 100_000_000_000, "queue_capacity_pkts": queue_capacity_pkts}
        return bound_warnings(generate("star", {"senders": senders, **link}), of, packet_bytes=1500)

    (line,) = lines(2, 120)
    assert line.startswith("port s1:1 to h1, port s1:2 to h2, port s1:3 to aggregator: DCTCP's bound")
    (line,) = lines(3, 120)
    assert line.startswith("port s1:1 to h1, port s1:2 to h2 and 2 other ports: DCTCP's bound")
    (line,) = lines(2, 120, lambda _, peer: rule if peer == "h2" else None)
    assert line.startswith("port s1:2 to h2: DCTCP's bound")
    assert lines(2, 1_000) == ()


def test_the_round_trip_is_the_networks_longest() -> None:
    topology = generate("star", {"senders": 2, "rate_bps": 100_000_000_000})
    rtt_ns = Paths(topology).longest_rtt_ns(1500)
    assert rtt_ns > 100
    assert longest_rtt_ns(topology, 1500) == longest_rtt_ns(topology, 1500, Paths(topology)) == rtt_ns


def test_an_entry_has_the_programs_units_and_ends_at_its_width() -> None:
    table = roles("ecn_dual").table(THRESHOLDS)

    def args(k: int, k_dc: int, units: int) -> tuple[list[int], tuple[str, ...]]:
        entry, cut = threshold_entry(3, Thresholds(k, k_dc), units, table)
        assert isinstance(entry.action, ActionCall)
        return sorted(value for _, value in entry.action.args), cut

    assert args(25, 65, 19) == ([475, 1_235], ())
    # 19 bits: 524,287 fits.
    assert args(25, 524_287, 1) == ([25, 524_287], ())
    values, cut = args(25, 524_287, 2)
    assert values == [50, 524_287]
    assert cut == (
        "k_dc of 524287 packets is 1048574 units of depth, which exceeds the limit, so it is reduced to 524287",
    )
