"""Names of the dual-threshold ECN program's tables, actions and counters, as its P4Info spells them (p4src/)."""

from controller.entities import Scope

ROUTES = "ingress.forward.ipv4_lpm"
ROUTES_KEY = "hdr.ipv4.dst_addr"
NEXT_HOPS = "ingress.forward.ecmp"
SET_NEXT_HOP = "ingress.forward.set_next_hop"

THRESHOLDS = "egress.ecn.thresholds"
THRESHOLDS_KEY = "egress_port"
SET_THRESHOLDS = "egress.ecn.set_thresholds"

CODEPOINTS = "egress.ecn.codepoint_map"
CODEPOINTS_LEVEL_KEY = "level"
CODEPOINTS_ECN_KEY = "ecn"
SET_CODEPOINT = "egress.ecn.set_codepoint"

LEVEL_PACKETS = "egress.ecn.level_packets"
"""Counter of packets by queue level; its cell is port * 4 + level."""

LEVELS_PER_PORT = 4

SCOPE = Scope(tables=(ROUTES, THRESHOLDS, CODEPOINTS), profiles=(NEXT_HOPS,))
"""Everything the controller owns in the program."""
