"""Names of the programs' tables, actions and counters, as their P4Info spells them (p4src/)."""

from controller.entities import Scope

ROUTES = "ingress.forward.ipv4_lpm"
ROUTES_KEY = "hdr.ipv4.dst_addr"
NEXT_HOPS = "ingress.forward.ecmp"
SET_NEXT_HOP = "ingress.forward.set_next_hop"
ECMP_SEEDS = "ingress.forward.ecmp_seeds"
ETHERTYPE_IPV4 = 0x0800

THRESHOLDS = "egress.ecn.thresholds"
THRESHOLDS_KEY = "egress_port"
SET_THRESHOLDS = "egress.ecn.set_thresholds"

CODEPOINTS = "egress.ecn.codepoint_map"

LEVEL_PACKETS = "egress.ecn.level_packets"
"""Counter of packets by queue level; its cell is port * 4 + level."""

LEVELS_PER_PORT = 4

CURVES = "egress.red.curves"
SET_CURVE = "egress.red.set_curve"
RED_STEPS = "egress.red.steps"
SET_PROBABILITY = "egress.red.set_probability"
SET_ALWAYS = "egress.red.set_always"
DEPTH_KEY = "queue_depth"
WRED = "egress.red"
"""The chip's own filter in `ecn_wred.p4`, which only BF Runtime sets."""
WRED_KEY = "$WRED_INDEX"
SET_WRED = "$WRED_SPEC"
WRED_P_UNIT = 1_000_000
"""What a certain mark is in `p_max`."""
INT_PORTS = "egress.telemetry.ports"
SET_INT_PORT = "egress.telemetry.set_port"
PRIORITIES = "ingress.ack_priority.priorities"

D3_PORTS = "egress.allocator.ports"
D3_ESTIMATES = "egress.allocator.estimate.measured"
D3_RECIPROCALS = "egress.allocator.rule.reciprocals"
RCP_PORTS = "egress.rcp.ports"
RCP_STAMPED = "egress.rcp.stamped"
D3_STAMPED = "egress.allocator.stamped"
SET_D3_SHARE = "egress.allocator.set_share"

BOLT_PORTS = "ingress.bolt.ports"

FLOWLET_GAPS = "ingress.spray.gaps"

DUALPI2_PORTS = "egress.dualpi2.ports"
SET_DUALPI2_PORT = "egress.dualpi2.set_port"

SCOPE = Scope(tables=(ROUTES, ECMP_SEEDS, THRESHOLDS, CODEPOINTS), profiles=(NEXT_HOPS,))
"""Everything the controller owns in the dual-threshold program."""

CELL_BYTES = 80
"""Bytes of one unit of depth where the traffic manager counts cells."""
