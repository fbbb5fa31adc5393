// Hop records in reserved room (p4src/controls/int_fixed.p4, docs/algorithms/int.md#hpcc-int) with a bound of eight, which
// is more than the five places: IP bytes, time, the shim and five records. Switch 5 puts its own in front, with the bytes
// that were sent before in units of 128.
// add I.telemetry.ports 2 => I.telemetry.set_port(5, 3, 0, 1, 24, 8)
// packet 0 03e8 000000000123 0000 0000000000000000 0000000000000000 0000000000000000 0000000000000000 0000000000000000
// expect 1 03e8 000000000123 1005 3000123000000000 0000000000000000 0000000000000000 0000000000000000 0000000000000000
// packet 0 03e8 000000000123 4000 1111111111111110 1111111111111111 1111111111111112 1111111111111113 0000000000000000
// expect 1 03e8 000000000123 5005 3000123000080000 1111111111111110 1111111111111111 1111111111111112 1111111111111113
// expect_register I.telemetry.tx_bytes 2 2048
// A sixth hop finds no place: it is counted, and no record is pushed out. No packet is longer on the link for a record.
// packet 0 03e8 000000000123 5000 1111111111111110 1111111111111111 1111111111111112 1111111111111113 1111111111111114
// expect 1 03e8 000000000123 6005 1111111111111110 1111111111111111 1111111111111112 1111111111111113 1111111111111114
// packet 0 03e8 000000000123 6000 1111111111111110 1111111111111111 1111111111111112 1111111111111113 1111111111111114
// expect 1 03e8 000000000123 7005 1111111111111110 1111111111111111 1111111111111112 1111111111111113 1111111111111114
// packet 0 03e8 000000000123 f000 1111111111111110 1111111111111111 1111111111111112 1111111111111113 1111111111111114
// expect 1 03e8 000000000123 f005 1111111111111110 1111111111111111 1111111111111112 1111111111111113 1111111111111114
// expect_register I.telemetry.tx_bytes 2 5120
#include <core.p4>
#include <v1model.p4>
#include "../../../../p4src/include/headers.p4"
#include "../../../../p4src/include/transport.p4"
#include "../../../../p4src/include/int.p4"

header data_h {
    bit<16> ip_bytes;
    bit<48> now;
}

struct headers_t {
    data_h      data;
    ipv4_h      ipv4;
    udp_h       udp;
    transport_h transport;
    int_shim_h  int_shim;
    int_hop_h   int_hop;
    int_hop_h[INT_FIXED_RECORDS] int_hops;
}

struct metadata_t {}

#include "../../../../p4src/controls/int_fixed.p4"
#include "../../../../p4src/controls/int_hpcc.p4"

#define OWN_PARSER
parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.data);
        packet.extract(hdr.int_shim);
        packet.extract(hdr.int_hops[0]);
        packet.extract(hdr.int_hops[1]);
        packet.extract(hdr.int_hops[2]);
        packet.extract(hdr.int_hops[3]);
        packet.extract(hdr.int_hops[4]);
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    IntHpcc() telemetry;

    apply {
        sm.egress_spec = 1;
        hdr.ipv4.setValid();
        hdr.ipv4.total_len = hdr.data.ip_bytes;
        telemetry.apply(hdr, 2, hdr.data.now, 0);
        hdr.ipv4.setInvalid();
    }
}

#include "include/pipe.p4"
