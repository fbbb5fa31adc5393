"""Forwarding, which all programs share: routes, TTL, checksum, ECMP, and what is not forwarded."""

from collections import Counter

from scapy.layers.inet import IP, UDP, IPOption
from scapy.layers.l2 import Ether

from ptf_tests.base import IN, OUT, PORTS, SwitchTest, hop

ETHERNET_BYTES = 14
IPV4_BYTES = 20
FLOWS = 400


class ForwardingTest(SwitchTest):
    program = "ecn_dual"

    def prepare(self):
        self.route()


class Forwards(ForwardingTest):
    """A packet leaves with new addresses, one hop less and a right checksum; every other byte stays."""

    def runTest(self):
        for payload_bytes in (0, 1, 1000, 1436):
            packet = self.packet(payload_bytes=payload_bytes)
            self.send(packet)
            self.expect(hop(packet), OUT)


class FromEveryPort(ForwardingTest):
    """The port that a packet came in by makes no difference."""

    def runTest(self):
        for port in PORTS:
            packet = self.packet(flow_id=port)
            self.send(packet, port)
            self.expect(hop(packet), OUT)


class NoRoute(ForwardingTest):
    """What has no route is dropped."""

    def runTest(self):
        self.send(self.packet(dst="10.9.9.9"))
        self.expect_nothing()


class LongestPrefix(ForwardingTest):
    """The longest of the prefixes that match decides."""

    def runTest(self):
        mac = "02:00:00:00:00:0a"
        self.route("10.0.0.0/8", (3,), mac)
        self.route("10.0.1.0/24", (4,), mac)
        for dst, port in (("10.200.0.1", 3), ("10.0.1.77", 4), ("10.0.2.1", 3)):
            packet = self.packet(dst=dst)
            self.send(packet)
            self.expect(hop(packet, mac), port)
        packet = self.packet()
        self.send(packet)
        self.expect(hop(packet), OUT)


class Ttl(ForwardingTest):
    """A TTL of 0 or 1 ends here, any other loses one."""

    def runTest(self):
        for ttl in (0, 1):
            self.send(self.packet(ttl=ttl))
            self.expect_nothing()
        for ttl in (2, 255):
            packet = self.packet(ttl=ttl)
            self.send(packet)
            self.expect(hop(packet), OUT)


class Checksum(ForwardingTest):
    """Every bit of the IPv4 header is under the checksum."""

    def runTest(self):
        right = bytes(self.packet())
        for bit in range(IPV4_BYTES * 8):
            wrong = bytearray(right)
            wrong[ETHERNET_BYTES + bit // 8] ^= 0x80 >> bit % 8
            self.send(bytes(wrong))
        self.expect_nothing()
        self.send(right)
        self.expect(hop(Ether(right)), OUT)


class Malformed(ForwardingTest):
    """Packets that are cut, or are something else, do not come out; the next good one does."""

    def runTest(self):
        right = self.packet()
        whole = bytes(right)
        for length in range(ETHERNET_BYTES, ETHERNET_BYTES + IPV4_BYTES):
            self.send(whole[:length])
        for ether_type in (0x0806, 0x86DD, 0x8100, 0x0000):
            other = right.copy()
            other[Ether].type = ether_type
            self.send(other)
        with_options = right.copy()
        with_options[IP].ihl, with_options[IP].chksum = None, None
        with_options[IP].options = [IPOption(b"\x94\x04\x00\x00")]
        for packet in (with_options, self._version(right, 5), self._version(right, 6)):
            self.send(packet)
        self.expect_nothing()
        self.send(right)
        self.expect(hop(right), OUT)

    @staticmethod
    def _version(packet, version):
        other = packet.copy()
        other[IP].version, other[IP].chksum = version, None
        return other


class EcmpSpreads(ForwardingTest):
    """Flows spread over the next hops, a flow stays on one, and a member's share is near the even one."""

    def runTest(self):
        ports = (2, 3, 4)
        self.route("10.1.0.0/16", ports)
        chosen: dict[int, int] = {}
        for flow in range(FLOWS):
            chosen[flow] = self._port_of(flow)
        for flow in range(0, FLOWS, 50):
            self.assertEqual(self._port_of(flow), chosen[flow], f"flow {flow} moved")
        shares = Counter(chosen.values())
        self.assertEqual(set(shares), set(ports))
        for port, flows in shares.items():
            # Five standard deviations of a binomial count.
            even = FLOWS / len(ports)
            self.assertLess(abs(flows - even), 5 * (even * (1 - 1 / len(ports))) ** 0.5, f"port {port}: {shares}")

    def _port_of(self, flow):
        self.send(self.packet(dst="10.1.0.1", flow_id=flow, payload_bytes=10), IN)
        result = self.dataplane.poll(device_number=0, timeout=5)
        self.assertIsInstance(result, self.dataplane.PollSuccess, f"flow {flow} was lost")
        self.assertEqual(Ether(result.packet)[UDP].sport, self.packet(flow_id=flow)[UDP].sport)
        return result.port
