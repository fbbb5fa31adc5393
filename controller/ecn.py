"""ECN codepoint profiles: the meaning of the two ECN bits, and the map from (level, incoming) to outgoing codepoint.

Four states, NOT_ECT apart, UNMARKED < K_MARK < KDC_MARK
(docs/algorithms/marking.md#dual-thresholds). The map is `max(state, level)`: it never lowers a
mark, and it has no row for packets that are not ECN capable, so the switch leaves those alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum

THRESHOLDS, CODEPOINTS, LEVEL_PACKETS = "ecn_dual.thresholds", "ecn_dual.codepoints", "ecn_dual.level_packets"
"""Tables of `ecn_dual.p4`, and its counter of packets by queue level, whose cell is port * 4 + level."""
LEVELS_PER_PORT = 4

NOT_ECT = 0b00
"""The codepoint of a packet that is not ECN capable, in every profile."""


class Level(IntEnum):
    """Congestion level of a queue, and of a mark: the P4 programs' `ecn_level_t`."""

    UNMARKED = 0
    K_MARK = 1
    KDC_MARK = 2


class Profile(StrEnum):
    """Codepoints by mark."""

    GST = "gst"
    RFC3168 = "rfc3168"
    SCE = "sce"


@dataclass(frozen=True)
class CodepointRule:
    """One row of the map: a packet with codepoint `incoming` leaves a queue at `level` with codepoint `outgoing`."""

    level: Level
    incoming: int
    outgoing: int


# State of each capable codepoint. In rfc3168 both ECT values are unmarked and only CE is a mark.
_STATES: Mapping[Profile, Mapping[int, Level]] = {
    Profile.GST: {0b11: Level.UNMARKED, 0b10: Level.K_MARK, 0b01: Level.KDC_MARK},
    Profile.RFC3168: {0b01: Level.UNMARKED, 0b10: Level.UNMARKED, 0b11: Level.KDC_MARK},
    Profile.SCE: {0b10: Level.UNMARKED, 0b01: Level.K_MARK, 0b11: Level.KDC_MARK},
}


def codepoint_map(profile: Profile) -> tuple[CodepointRule, ...]:
    """All rows of a profile: three levels times three capable codepoints, in ascending order."""
    states = _STATES[profile]
    codepoints = {state: codepoint for codepoint, state in states.items()}
    rules: list[CodepointRule] = []
    for level in Level:
        for incoming in sorted(states):
            raised = level > states[incoming] and level in codepoints
            rules.append(CodepointRule(level, incoming, codepoints[level] if raised else incoming))
    return tuple(rules)
