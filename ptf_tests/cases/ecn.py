"""`ecn_dual`: codepoints by profile and by the depth of a queue that is really full.

Source: docs/algorithms/marking.md#dual-thresholds.
"""

import time
import unittest

from scapy.layers.inet import IP

from controller.ecn import NOT_ECT, Level, Profile, codepoint_map
from ptf_tests.base import OUT, STOPPED_PPS, SwitchTest, hop

K_PKTS, K_DC_PKTS = 3, 6
BURST = 9
# Time in which the slow queue takes its first packet, and sends no second one.
FIRST_LEAVES_S = 0.01
# A burst has to be in while the first packet is on the link; on a machine that is busy it is tried again.
BURST_TIME_S = 0.6 / STOPPED_PPS
LINK_IS_FREE_S = 1.1 / STOPPED_PPS
ATTEMPTS = 10
BUSY = f"this machine is too busy to send a burst within {BURST_TIME_S} s"


class EcnTest(SwitchTest):
    program = "ecn_dual"
    profile = Profile.GST

    def prepare(self):
        self.route()
        for rule in codepoint_map(self.profile):
            keys = {"level": int(rule.level), "ecn": rule.incoming}
            self.insert("egress.ecn.codepoint_map", keys, "egress.ecn.set_codepoint", ecn=rule.outgoing)

    def set_thresholds(self):
        k, k_dc = self.depth(K_PKTS), self.depth(K_DC_PKTS)
        self.insert_by_port("egress.ecn.thresholds", "egress.ecn.set_thresholds", k=k, k_dc=k_dc)

    def burst(self, ecn):
        """Codepoints of packets which found 0, 1, 2, ... others waiting."""
        sent = [self.packet(flow_id=2 + depth, ecn=ecn) for depth in range(BURST)]
        left = self.queue_up(sent)[1:]
        marks = [packet[IP].tos & 3 for packet in left]
        for before, after, mark in zip(sent, left, marks, strict=True):
            self.assertEqual(bytes(after), bytes(hop(before, tos=mark)), "nothing but the mark differs")
        return marks

    def queue_up(self, packets, wanted=None):
        """What leaves when one packet goes ahead and `packets` queue up behind it, `wanted` of them if not all."""
        first, rest = bytes(self.packet(flow_id=1)), [bytes(packet) for packet in packets]
        for _ in range(ATTEMPTS):
            time.sleep(LINK_IS_FREE_S)
            started = time.monotonic()
            self.send(first)
            time.sleep(FIRST_LEAVES_S)
            for packet in rest:
                self.send(packet)
            in_time = time.monotonic() - started < BURST_TIME_S
            left = self.receive_all(OUT, 1 + (len(packets) if wanted is None else wanted))
            if in_time:
                return left
        raise unittest.SkipTest(BUSY)


class MarksByGst(EcnTest):
    """11 unmarked, 10 above K, 01 above K_dc."""

    def runTest(self):
        self.set_thresholds()
        self.limit_queue(OUT)
        outgoing = {(rule.level, rule.incoming): rule.outgoing for rule in codepoint_map(self.profile)}
        for ecn in range(4):
            wanted = [outgoing.get((level_at(depth), ecn), ecn) for depth in range(BURST)]
            self.assertEqual(self.burst(ecn), wanted, f"codepoint {ecn:02b}")
            self.assertTrue(ecn != NOT_ECT or not any(wanted))


class MarksByRfc3168(MarksByGst):
    """CE above K_dc only."""

    profile = Profile.RFC3168


class MarksBySce(MarksByGst):
    """10 unmarked, 01 above K, 11 above K_dc."""

    profile = Profile.SCE


class MarksNothingWithoutThresholds(EcnTest):
    """A port that the controller gave no thresholds marks at no depth."""

    def runTest(self):
        self.limit_queue(OUT)
        self.assertEqual(self.burst(0b11), [0b11] * BURST)


class CountsLevels(EcnTest):
    """Packets are counted by port and by the level that their queue had."""

    def runTest(self):
        self.set_thresholds()
        self.limit_queue(OUT)
        for _ in range(ATTEMPTS):
            before = self.levels()
            marks = self.burst(0b11)
            counted = [now - then for now, then in zip(self.levels(), before, strict=True)]
            # A burst that came too slowly was sent again, and its packets are counted too.
            if sum(counted) == BURST + 1:
                # The packet that went ahead met an empty queue.
                self.assertEqual(counted, [marks.count(0b11) + 1, marks.count(0b10), marks.count(0b01)])
                return
        raise unittest.SkipTest(BUSY)

    def levels(self):
        return [self.control.counter_packets("egress.ecn.level_packets", OUT * 4 + level) for level in Level]


class DropsAtTheTail(EcnTest):
    """A queue holds as many packets as it was told, and no more."""

    def runTest(self):
        depth_pkts = 5
        self.limit_queue(OUT, depth_pkts=depth_pkts)
        self.queue_up([self.packet(flow_id=2 + flow) for flow in range(12)], wanted=depth_pkts)
        self.expect_nothing()


def level_at(depth):
    """Level that a packet meets which finds `depth` others waiting: with itself they are more than K from K on."""
    if depth >= K_DC_PKTS:
        return Level.KDC_MARK
    return Level.K_MARK if depth >= K_PKTS else Level.UNMARKED
