"""Codepoint maps: the max rule over all states and levels, the table of profiles, and NOT_ECT left alone.

Source: docs/algorithms/marking.md#dual-thresholds.
"""

import pytest

from controller import Level, Profile, codepoint_map
from controller.ecn import NOT_ECT

# (incoming, outgoing at level 0, 1, 2), from docs/algorithms/marking.md#codepoints.
EXPECTED = {
    Profile.GST: [(0b11, 0b11, 0b10, 0b01), (0b10, 0b10, 0b10, 0b01), (0b01, 0b01, 0b01, 0b01)],
    Profile.RFC3168: [(0b01, 0b01, 0b01, 0b11), (0b10, 0b10, 0b10, 0b11), (0b11, 0b11, 0b11, 0b11)],
    Profile.SCE: [(0b10, 0b10, 0b01, 0b11), (0b01, 0b01, 0b01, 0b11), (0b11, 0b11, 0b11, 0b11)],
}


@pytest.mark.parametrize("profile", list(Profile))
def test_the_map_is_that_of_the_design(profile: Profile) -> None:
    found = {(rule.level, rule.incoming): rule.outgoing for rule in codepoint_map(profile)}
    expected = {(Level(level), row[0]): row[1 + level] for row in EXPECTED[profile] for level in range(3)}
    assert found == expected


@pytest.mark.parametrize("profile", list(Profile))
def test_a_packet_that_is_not_capable_has_no_row_and_none_becomes_so(profile: Profile) -> None:
    rules = codepoint_map(profile)
    assert len(rules) == 9
    assert all(NOT_ECT not in (rule.incoming, rule.outgoing) for rule in rules)


@pytest.mark.parametrize("profile", list(Profile))
def test_a_second_switch_never_lowers_a_mark(profile: Profile) -> None:
    step = {(rule.level, rule.incoming): rule.outgoing for rule in codepoint_map(profile)}
    for marked in step.values():
        for later in Level:
            twice = step[later, marked]
            assert step[Level.UNMARKED, twice] == twice
            assert step[later, twice] == twice, "marking again changes nothing"
            if step[Level.KDC_MARK, marked] == marked:
                assert twice == marked, "the highest mark stays"
