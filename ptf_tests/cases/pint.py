"""`pint`: the utilisation of a port in one byte, against a model of its own (docs/algorithms/hpcc.md#pint-switch)."""

from math import ceil, floor, log, sqrt

from finsy import Action, Match, P4TableEntry
from scapy.layers.inet import IP

from controller.pint import PintLogarithm
from p4cc.wire import P4cc, Pint
from ptf_tests.base import OUT, SwitchTest, hop

BASE = 1.05
# A port for which a packet of 1,000 B is a utilisation of 1/2, with an interval that ends before each next
# packet: what is left is the size of the packet before.
INTERVAL_BYTES = 2_000
GAIN = (1 << 39) // INTERVAL_BYTES
FRAMING_BYTES = 24
PACKETS = 600


def powers(utilisation):
    """The two powers of which one is drawn, and how likely the upper one is."""
    number = max(1, ceil(512 * utilisation))
    lower = floor(log(number) / log(BASE))
    below, above = BASE**lower, BASE ** (lower + 1)
    return lower, lower + 1, (number - below) / (above - below)


class PintTest(SwitchTest):
    program = "pint"

    def prepare(self):
        self.route()
        self.insert_by_port(
            "egress.pint.ports",
            "egress.pint.set_port",
            length=2,
            share=1 << 47,
            byte_gain=GAIN,
            unit=80,
            framing=FRAMING_BYTES,
        )
        table, action = "egress.pint.logarithm.logarithm", "egress.pint.logarithm.set_cell"
        self.control.write(
            *(
                +P4TableEntry(
                    table,
                    match=Match(cell=row.key["cell"]),
                    action=Action(action, first=row.args["power"], rise=row.args["slope"]),
                )
                for row in PintLogarithm(BASE).rows("s1", {})
            )
        )

    def through(self, packet):
        """The power in a packet as it left; everything else is as forwarding leaves it."""
        self.send(packet)
        left = self.receive(OUT)
        power = left[P4cc].payload.power
        wanted = hop(packet)
        wanted[P4cc].payload.power = power
        self.assertEqual(bytes(left), bytes(wanted))
        return power

    def with_pint(self, payload_bytes=500, power=0):
        return self.packet(payload_bytes=payload_bytes, extension=Pint(power=power))


class WritesThePortsUtilisation(PintTest):
    """An idle port is 0; then each packet tells the size of the one before, whether that carried PINT or not."""

    def runTest(self):
        self.assertEqual(self.through(self.with_pint()), 0)
        for payload_bytes in (0, 100, 700, 1_400):
            plain = self.packet(payload_bytes=payload_bytes)
            self.send(plain)
            self.receive(OUT)
            lower, upper, _ = powers((len(plain[IP]) + FRAMING_BYTES) / INTERVAL_BYTES)
            self.assertIn(self.through(self.with_pint()), (lower, upper))


class DrawsTheUpperPowerByItsShare(PintTest):
    """The mean of what senders decode is the utilisation: five standard deviations."""

    def runTest(self):
        packet = self.with_pint()
        lower, upper, share = powers((len(packet[IP]) + FRAMING_BYTES) / INTERVAL_BYTES)
        self.through(packet)
        found = [self.through(packet) for _ in range(PACKETS)]
        self.assertEqual(set(found), {lower, upper})
        mean = found.count(upper) / PACKETS
        self.assertAlmostEqual(mean, share, delta=5 * sqrt(share * (1 - share) / PACKETS) + 0.01)


class RaisesOnly(PintTest):
    """A busier port before this one stays in the packet."""

    def runTest(self):
        self.through(self.with_pint())
        self.assertEqual(self.through(self.with_pint(power=200)), 200)
        self.assertGreater(self.through(self.with_pint(power=3)), 3)


class LeavesOthersAlone(PintTest):
    """Packets without PINT, and those of another length, pass as they are."""

    def runTest(self):
        plain = self.packet()
        for _ in range(2):
            self.send(plain)
            self.expect(hop(plain), OUT)
        odd = self.packet(payload_bytes=100, extension_type=Pint.code, extension_len=2, payload_len=98)
        self.send(odd)
        self.expect(hop(odd), OUT)
