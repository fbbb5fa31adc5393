"""Packet-in and packet-out, multicast groups, clone sessions with truncation."""

from copy import copy

from finsy import P4CloneSessionEntry, P4MulticastGroupEntry
from scapy.layers.l2 import Ether

from ptf_tests.base import IN, OUT, SwitchTest, parameter

ADDRESS = "02:00:00:00:00:07"
GROUP = 3
CLONE_SESSION = 5
REASON = 42


class ReplicationTest(SwitchTest):
    program = "replication"

    def frame(self, dst=ADDRESS, payload_bytes=100):
        return Ether(dst=dst, src="02:00:00:00:00:01", type=0x88B5) / bytes(range(256))[:payload_bytes]

    def to(self, action, **arguments):
        self.insert("ingress.destinations", {"dst_addr": ADDRESS}, f"ingress.{action}", **arguments)


class PacketOut(ReplicationTest):
    """The controller's packet leaves by the port that it names, without its header."""

    def runTest(self):
        for port in (1, 4):
            frame = bytes(self.frame())
            self.control.packet_out(frame, egress_port=port, padding=0)
            self.expect(frame, port)


class PacketIn(ReplicationTest):
    """A packet for the controller comes with the header's fields, its bytes unchanged, and leaves by no port."""

    def runTest(self):
        self.to("to_controller", reason=REASON)
        for port in (1, 3):
            frame = bytes(self.frame())
            self.send(frame, port)
            packet = self.control.packet_in()
            self.assertEqual(packet.payload, frame)
            self.assertEqual((packet["ingress_port"], packet["reason"]), (port, REASON))
        self.expect_nothing()


class Multicast(ReplicationTest):
    """Every replica once, each with its instance, none back where the packet came from."""

    def runTest(self):
        replicas = [(1, 7), (2, 8), (3, 9), (3, 10)]
        self.create(P4MulticastGroupEntry(GROUP, replicas=replicas))
        self.to("multicast", group=GROUP)
        self.send(self.frame(), IN)
        left = [(port, int(self.receive(port).src[-5:].replace(":", ""), 16)) for port in (2, 3, 3)]
        self.assertEqual(sorted(left), [replica for replica in replicas if replica[0] != IN])
        self.expect_nothing()


class MulticastGroupIsGone(ReplicationTest):
    """A group that was deleted replicates nothing."""

    def runTest(self):
        group = P4MulticastGroupEntry(GROUP, replicas=[(OUT, 1)])
        self.control.write(+copy(group))
        self.control.write(-group)
        self.to("multicast", group=GROUP)
        self.send(self.frame())
        self.expect_nothing()


class Clone(ReplicationTest):
    """The packet goes its way, its clone to the session's port with the field that it was to keep."""

    def runTest(self):
        self.create(P4CloneSessionEntry(CLONE_SESSION, replicas=[(4, 1)]))
        self.to("forward_and_clone", port=OUT)
        frame = self.frame()
        self.send(frame, 3)
        self.assertEqual(bytes(self.receive(OUT)), bytes(frame))
        clone = self.receive(4)
        self.assertEqual(int(clone.src[-5:].replace(":", ""), 16), 3)
        self.assertEqual(bytes(clone)[12:], bytes(frame)[12:])
        self.expect_nothing()


class CloneIsCut(ReplicationTest):
    """A clone is at most as long as its session says."""

    def runTest(self):
        if parameter("target") == "bmv2":
            self.skipTest("BMv2 refuses a clone session with a length")
        length = 60
        self.create(P4CloneSessionEntry(CLONE_SESSION, replicas=[(4, 1)], packet_length_bytes=length))
        self.to("forward_and_clone", port=OUT)
        frame = self.frame(payload_bytes=200)
        self.send(frame, 3)
        self.assertEqual(bytes(self.receive(OUT)), bytes(frame))
        clone = bytes(self.receive(4))
        self.assertEqual(clone[12:], bytes(frame)[12:length])
