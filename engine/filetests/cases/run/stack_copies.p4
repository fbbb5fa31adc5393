// A copied stack goes on where its source was; a stack that is passed `out` begins anew; `extract(_)` reads and throws
// away; a stack can be looked at ahead.
// packet 0 01 02 03 04
// expect 1 01 02 03 01 02 04 09
#define OWN_TYPES
#define OWN_PARSER
#include "include/v1.p4"

header one_h {
    bit<8> x;
}

struct ahead_t {
    one_h[2] both;
    one_h    third;
}

struct headers_t {
    one_h[3] a;
    one_h[3] b;
    one_h    sum;
}

struct metadata_t {
    bit<8> sum;
}

parser Fill(packet_in packet, out one_h[3] a) {
    state start {
        packet.extract(a.next);
        transition accept;
    }
}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    Fill() fill;
    state start {
        ahead_t ahead = packet.lookahead<ahead_t>();
        meta.sum = ahead.both[0].x + ahead.both[1].x + ahead.third.x;
        packet.extract(hdr.a.next);
        packet.extract(hdr.a.next);
        hdr.b = hdr.a;
        // The third byte comes into the first element, whatever was there.
        fill.apply(packet, hdr.a);
        one_h third = hdr.a[0];
        hdr.a = hdr.b;
        hdr.a.next.x = 0;
        hdr.a.next = third;
        packet.extract(hdr.b.next);
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        hdr.sum = { meta.sum + (hdr.b[2].x - 1) };
    }
}

#include "include/pipe.p4"
