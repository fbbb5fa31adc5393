"""`int_hpcc`: what one switch adds to a packet with telemetry, and where it stops (wire format, extension 1)."""

from scapy.layers.inet import IP

from p4cc.wire import IntHpcc, IntRecord, P4cc
from ptf_tests.base import OUT, SwitchTest, hop

SWITCH_ID = 0x5A5
RATE_CODE = 6
MAX_HOPS = 5
CELLS_PER_PACKET = 19
RECORD_BYTES = 8
TX_UNIT_BYTES = 128


class TelemetryTest(SwitchTest):
    program = "int_hpcc"

    def prepare(self):
        self.route()
        self.insert_by_port(
            "egress.telemetry.ports",
            "egress.telemetry.set_port",
            id=SWITCH_ID,
            rate=RATE_CODE,
            shift=0,
            cells=CELLS_PER_PACKET,
            framing=0,
            hops=MAX_HOPS,
        )

    def through(self, packet):
        """The packet as it left; all but the extension and the lengths is as forwarding leaves it."""
        self.send(packet)
        left = self.receive(OUT)
        self.assertEqual(left[IP].len, len(left[IP]))
        wanted = hop(packet, len=None)
        self.assertEqual(left[IP].ttl, wanted[IP].ttl)
        self.assertEqual(left[P4cc].payload_len, packet[P4cc].payload_len or len(packet[P4cc].lastlayer()))
        return left

    def with_records(self, records, hop_count):
        stack = [IntRecord(tx_units=at) for at in range(records)]
        return self.packet(payload_bytes=200, extension=IntHpcc(hop_count=hop_count, path_id=3, records=stack))


class AddsARecord(TelemetryTest):
    """The record goes in front of the others, the shim counts the hop, all lengths grow by eight."""

    def runTest(self):
        for records in range(MAX_HOPS):
            sent = self.with_records(records, records)
            left = self.through(sent)
            telemetry = left[P4cc].payload
            self.assertEqual(telemetry.hop_count, records + 1)
            self.assertEqual(telemetry.path_id, 3 ^ SWITCH_ID)
            self.assertEqual(left[IP].len, len(sent[IP]) + RECORD_BYTES)
            self.assertEqual(left[P4cc].extension_len, 2 + RECORD_BYTES * (records + 1))
            self.assertEqual([one.tx_units for one in telemetry.records[1:]], list(range(records)))
            self.assertEqual(telemetry.records[0].rate_code, RATE_CODE)
            self.assertEqual(telemetry.records[0].queue_units, 0)


class StopsAtItsBound(TelemetryTest):
    """With all records there the packet grows no more, but its hop is still counted and in the path id."""

    def runTest(self):
        for records in (MAX_HOPS, MAX_HOPS + 1, 8):
            sent = self.with_records(records, records)
            left = self.through(sent)
            self.assertEqual(left[P4cc].payload.hop_count, records + 1)
            self.assertEqual(left[P4cc].payload.path_id, 3 ^ SWITCH_ID)
            self.assertEqual(left[IP].len, len(sent[IP]))
            self.assertEqual(left[P4cc].extension_len, 2 + RECORD_BYTES * records)
        saturated = self.through(self.with_records(8, 15))
        self.assertEqual(saturated[P4cc].payload.hop_count, 15)


class CountsBytes(TelemetryTest):
    """A record holds the bytes that the port sent before it, in units of 128 B."""

    def runTest(self):
        sent_bytes = 0
        for _ in range(20):
            left = self.through(self.with_records(0, 0))
            self.assertEqual(left[P4cc].payload.records[0].tx_units, sent_bytes // TX_UNIT_BYTES)
            sent_bytes += left[IP].len


class LeavesOthersAlone(TelemetryTest):
    """Packets without telemetry, and lengths that are not whole records, pass as they are."""

    def runTest(self):
        plain = self.packet()
        self.send(plain)
        self.expect(hop(plain), OUT)
        odd = self.packet(payload_bytes=100, extension_type=1, extension_len=7, payload_len=93)
        self.send(odd)
        self.expect(hop(odd), OUT)
