"""`trim`: data that finds its queue full leaves as its headers, first (docs/algorithms/trimming.md#trimming).

BMv2 deflects nothing, nor does the chip's model without a port in a loop: there the same packets are dropped.
"""

from scapy.layers.inet import IP, UDP

from ptf_tests.base import OUT, SwitchTest, hop, parameter
from ptf_tests.cases.ecn import EcnTest

DSCP_TRIMMED = 11
TRIMMED_FRAME_BYTES, TRIMMED_IP_BYTES, TRIMMED_UDP_BYTES = 78, 64, 44
QUEUE_PKTS = 4
BURST = 7


class TrimTest(SwitchTest):
    program = "trim"
    queue_up = EcnTest.queue_up

    def prepare(self):
        self.route()
        self.limit_queue(OUT, depth_pkts=QUEUE_PKTS)

    def burst(self):
        return [self.packet(flow_id=2 + number, ecn=2) for number in range(BURST)]

    def trims(self):
        """The switch deflects what finds no room."""
        return parameter("deflects") == "yes"


class TrimsDataThatFindsNoRoom(TrimTest):
    """Four packets wait, the other three leave as headers: each kind in order, by a queue of its own."""

    def runTest(self):
        sent = self.burst()
        refused = sent[QUEUE_PKTS:] if self.trims() else []
        left = self.queue_up(sent, wanted=QUEUE_PKTS + len(refused))
        headers = [packet for packet in left if packet[IP].len == TRIMMED_IP_BYTES]
        whole = [packet for packet in left if packet not in headers]
        for before, after in zip(sent[:QUEUE_PKTS], whole[1:], strict=True):
            self.assertEqual(bytes(after), bytes(hop(before)))
        for before, after in zip(refused, headers, strict=True):
            wanted = hop(before, tos=DSCP_TRIMMED << 2 | 2, len=TRIMMED_IP_BYTES)
            wanted[UDP].len = TRIMMED_UDP_BYTES
            self.assertEqual(bytes(after), bytes(wanted)[:TRIMMED_FRAME_BYTES])
        # A burst that came too slowly was sent again.
        trimmed = self.control.counter_packets("ingress.trim.trimmed_packets", OUT)
        self.assertGreaterEqual(trimmed, len(refused))
        self.expect_nothing()


class AnEntryRefusesACodepoint(TrimTest):
    """Data with a DSCP that is not to be trimmed is dropped."""

    def prepare(self):
        super().prepare()
        self.insert("ingress.trim.codepoints", {"dscp": 0}, "ingress.trim.refuse")

    def runTest(self):
        left = self.queue_up(self.burst(), wanted=QUEUE_PKTS)[1:]
        self.assertTrue(all(packet[IP].len > TRIMMED_IP_BYTES for packet in left))
        self.expect_nothing()
