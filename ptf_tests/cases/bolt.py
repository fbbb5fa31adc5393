"""`bolt`: queues told to senders, places of ended flows, room (docs/algorithms/bolt.md#bolt-switch)."""

from finsy import Action, Match, P4CloneSessionEntry, P4TableEntry
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from controller.bolt import FIRST_SESSION, HIGHEST_PRIORITY
from p4cc.wire import NOTICE, Bolt, P4cc
from ptf_tests.base import IN, OUT, SwitchTest

PAYLOAD_BYTES = 1424
SIZE = 1500
RATE_KBPS = 1_000_000
# 1 Gbit/s is 125 B in a microsecond; slow enough that no test waits for it.
SPEED = 125 << 20


class BoltTest(SwitchTest):
    program = "bolt"
    port = {}  # noqa: RUF012 - what a test changes of the port

    def prepare(self):
        self.route()
        self.control.write(+self.entry(**self.port))
        session = P4CloneSessionEntry(FIRST_SESSION + IN, class_of_service=HIGHEST_PRIORITY, replicas=[(IN, 1)])
        self.create(session)

    def entry(self, **changes):
        """The entry of the port that all packets leave by."""
        told = {"rate": RATE_KBPS, "speed": SPEED, "threshold": 2 * SIZE, "size": SIZE, "unit": SIZE, "framing": 0}
        told |= {"places": 0, "room": 0, "early": 1, **changes}
        action = Action("ingress.bolt.set_port", **told)
        return P4TableEntry("ingress.bolt.ports", match=Match(egress_port=OUT), action=action)

    def data(self, flags="inc", **fields):
        return self.packet(payload_bytes=PAYLOAD_BYTES, extension=Bolt(flags=flags), **fields)

    def sent(self, flags):
        """The flags with which a packet of these leaves."""
        self.send(self.data(flags))
        return str(self.receive(OUT)[Bolt].flags)

    def fill(self, pkts):
        """Stop the port and let so many packets wait there."""
        self.limit_queue(OUT)
        self.send(self.data())
        self.receive(OUT)
        for number in range(pkts):
            self.send(self.data(timestamp_ns=1_000 + number, flow_id=7))


class BoltTells(BoltTest):
    """From the threshold on each packet's sender hears of the queue, at once and from where it sent to."""

    def runTest(self):
        self.fill(4)
        sent = self.data()
        for waiting in (2, 3):
            told = self.receive(IN)
            self.assertEqual((told[Ether].src, told[Ether].dst), (sent[Ether].dst, sent[Ether].src))
            self.assertEqual((told[IP].src, told[IP].dst, told[IP].ttl), (sent[IP].dst, sent[IP].src, 64))
            self.assertEqual((told[IP].len, told[UDP].len, len(told)), (76, 56, 90))
            transport = told[P4cc]
            self.assertEqual((transport.type, transport.flow_id, transport.payload_len), (NOTICE, 7, 0))
            self.assertEqual((transport.timestamp_ns, transport.timestamp_echo_ns), (0, 1_000 + waiting))
            bolt = told[Bolt]
            self.assertEqual((str(bolt.flags), bolt.queue_bytes, bolt.link_kbps), ("dec", waiting * SIZE, RATE_KBPS))


class BoltTellsOnce(BoltTest):
    """A packet of which a switch told is told of no more, and its offer is gone."""

    port = {"threshold": 1}  # noqa: RUF012

    def runTest(self):
        self.fill(1)
        self.send(self.data("dec+inc"))
        self.open_queue(OUT)
        self.assertEqual([str(packet[Bolt].flags) for packet in self.receive_all(OUT, 2)], ["", "dec"])
        self.expect_nothing()


class BoltWithoutSrc(BoltTest):
    """Where the receiver is to tell, the packet carries the queue."""

    port = {"early": 0}  # noqa: RUF012

    def runTest(self):
        self.fill(4)
        self.open_queue(OUT)
        left = [packet[Bolt] for packet in self.receive_all(OUT, 4)]
        self.assertEqual([bolt.queue_bytes for bolt in left], [0, 0, 2 * SIZE, 3 * SIZE])
        self.assertEqual([bolt.link_kbps for bolt in left], [0, 0, RATE_KBPS, RATE_KBPS])


class BoltPlaces(BoltTest):
    """A last window leaves as many places as packets, and INC takes them; a flow of one window leaves none."""

    port = {"places": 2}  # noqa: RUF012

    def runTest(self):
        self.assertEqual(self.sent("inc"), "")
        self.assertEqual(self.sent("first+last"), "last+first")
        self.assertEqual(self.sent("inc"), "")
        for _ in range(3):
            self.assertEqual(self.sent("last"), "last")
        self.assertEqual([self.sent("inc") for _ in range(3)], ["inc", "inc", ""])


class BoltRoom(BoltTest):
    """A link that was idle has room for a packet more; one that it takes whole seconds to serve has none."""

    port = {"room": 1}  # noqa: RUF012

    def runTest(self):
        self.assertEqual(self.sent("inc"), "inc")
        # 100 B in 2^20 microseconds.
        self.control.write(~self.entry(room=1, speed=100))
        self.assertEqual([self.sent("inc") for _ in range(3)], ["", "", ""])
