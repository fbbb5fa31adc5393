"""`ecn_red`: the share of marked packets by the depth of a full queue, against the curve.

Source: docs/algorithms/marking.md#red.
"""

import time
from fractions import Fraction

from finsy import Action, Match, P4TableEntry
from scapy.layers.inet import IP

from controller.red import red_curve, red_steps
from ptf_tests.base import OUT, SwitchTest

K_MIN, K_MAX, P_MAX = 40, 240, Fraction(4, 5)
BURST = 300
BURSTS = 3
BAND = 50
PKTS_PER_S = 150
ECT, CE = 2, 3


class RedTest(SwitchTest):
    program = "ecn_red"

    def prepare(self):
        self.route()
        # The switch's unit of depth, of which each packet of the burst takes so many.
        self.units = self.depth(1, self.packet(payload_bytes=10))
        curve = red_curve(K_MIN * self.units, K_MAX * self.units, P_MAX, depth_bytes=1)
        if self.arch == "tna":
            self.insert_steps(curve)
        else:
            self.threshold = curve.threshold
            self.insert_by_port(
                "egress.red.curves", "egress.red.set_curve", low=curve.k_min, high=curve.k_max, rise=curve.slope
            )
        self.limit_queue(OUT, pkts_per_s=PKTS_PER_S)

    def insert_steps(self, curve):
        """The curve by steps, which the chip can look up."""
        steps = red_steps(curve, 1)
        for step in steps:
            always = step.probability is None
            action = Action("egress.red.set_always")
            if not always:
                action = Action("egress.red.set_probability", p=step.probability)
            match = Match(egress_port=OUT, queue_depth=f"{step.low}...{step.high}")
            self.control.write(+P4TableEntry("egress.red.steps", match=match, action=action, priority=1))

        def threshold(depth):
            (at,) = [step for step in steps if step.low <= depth <= step.high] or [None]
            if at is None:
                return 0
            return 65536 if at.probability is None else at.probability

        self.threshold = threshold

    def burst(self, ecn):
        """Codepoints of a burst as it left, by how many packets each left behind; those that left while it came in
        are not known that well and are left out."""
        packet = bytes(self.packet(ecn=ecn, payload_bytes=10))
        started = time.monotonic()
        for _ in range(BURST):
            self.send(packet)
        self.settle()
        left_early = int((time.monotonic() - started) * PKTS_PER_S) + 2
        codepoints = [left[IP].tos & 3 for left in self.receive_all(OUT, BURST)]
        return {BURST - 1 - at: codepoint for at, codepoint in enumerate(codepoints) if at >= left_early}


class MarksByTheCurve(RedTest):
    """In each band of depths the marked share is the curve's, within binomial error."""

    def runTest(self):
        drawn = [[] for _ in range(BURST // BAND)]
        for _ in range(BURSTS):
            for depth, codepoint in self.burst(ECT).items():
                drawn[depth // BAND].append((self.threshold(depth * self.units) / 65536, codepoint == CE))
        self.assertGreater(len(drawn[K_MAX // BAND]), BAND, "the switch sent most of the burst while it came in")
        for band, draws in enumerate(drawn):
            wanted = sum(p for p, _ in draws)
            marked = sum(mark for _, mark in draws)
            # Four standard deviations of a sum of independent draws.
            error = 4 * sum(p * (1 - p) for p, _ in draws) ** 0.5
            self.assertLessEqual(abs(marked - wanted), error, f"depths from {band * BAND}: {marked} of {len(draws)}")


class CountsItsMarks(RedTest):
    """The counter holds the packets that were marked here; one that came with CE is not among them."""

    def runTest(self):
        packet = bytes(self.packet(ecn=ECT, payload_bytes=10))
        self.send(self.packet(ecn=CE))
        for _ in range(BURST):
            self.send(packet)
        codepoints = [left[IP].tos & 3 for left in self.receive_all(OUT, BURST + 1)]
        self.assertGreater(codepoints.count(CE), BURST // 10)
        counted = self.control.counter_packets("egress.red.marked_packets", OUT)
        self.assertEqual(counted, codepoints.count(CE) - 1)


class NeverMarksWhatIsNotCapable(RedTest):
    """Codepoint 00 leaves as 00 at any depth."""

    def runTest(self):
        self.assertEqual(set(self.burst(0).values()), {0})
