"""`dualpi2`: two queues, the step and the coupled marks (docs/algorithms/prague.md#dualpi2)."""

from fractions import Fraction

from scapy.layers.inet import IP

from controller.dualpi2 import dualpi2_port
from ptf_tests.base import OUT, SwitchTest

NOT_CAPABLE, ECT_1, ECT_0, CE = range(4)
PACKET_BYTES = 100


class DualPi2Test(SwitchTest):
    program = "dualpi2"
    port = {}  # noqa: RUF012 - what a test changes of the port

    def prepare(self):
        self.route()
        # The daemon and BMv2 count microseconds.
        at = dualpi2_port(rate_bps=10**9, packet_bytes=PACKET_BYTES, time_unit_ns=1_000, **self.port)
        self.insert_by_port(
            "egress.dualpi2.ports",
            "egress.dualpi2.set_port",
            target=at.target,
            t=at.interval,
            alpha=at.alpha,
            beta=at.beta,
            decay=at.decay,
            l4s_step=at.l4s_step,
            coupling=at.coupling_shift,
        )

    def sent(self, *codepoints):
        """Codepoints of what leaves, in order."""
        for codepoint in codepoints:
            self.send(self.packet(ecn=codepoint, payload_bytes=10))
        return [left[IP].tos & 3 for left in self.receive_all(OUT, len(codepoints))]


class LeavesCalmPacketsAlone(DualPi2Test):
    """Behind empty queues nothing is marked and nothing dropped."""

    def runTest(self):
        for codepoint in range(4):
            self.assertEqual(self.sent(codepoint), [codepoint])


class MarksL4sBehindTheStep(DualPi2Test):
    """Of packets that waited longer than the step those of L4S are marked, the others are not."""

    # The PI controller all but rests: no Classic packet is dropped for the time that the port is stopped.
    port = {"alpha_hz": Fraction(1, 10**6), "beta_hz": Fraction(1, 10**6)}  # noqa: RUF012

    def runTest(self):
        self.limit_queue(OUT)
        # Each queue lets its first packet go.
        self.sent(ECT_0, ECT_1)
        for codepoint in (ECT_0, NOT_CAPABLE, ECT_1, CE):
            self.send(self.packet(ecn=codepoint, payload_bytes=10))
        self.settle()
        self.open_queue(OUT)
        left = [packet[IP].tos & 3 for packet in self.receive_all(OUT, 4)]
        self.assertEqual(sorted(left), [NOT_CAPABLE, ECT_0, CE, CE])
        self.assertEqual(self.control.counter_packets("egress.dualpi2.signals", OUT * 4 + 3), 1, "one came with CE")
