// Run-time indexes, signed too: outside the stack nothing is written and zero is read.
// packet 0 01 10 20
// expect 1 01 10 aa 20
// packet 0 ff 10 20
// expect 1 ff 10 20 00
// packet 0 05 10 20
// expect 1 05 10 20 00
#define OWN_TYPES
#define OWN_PARSER
#include "include/v1.p4"

header at_h {
    int<8> at;
}

header one_h {
    bit<8> x;
}

struct headers_t {
    at_h     at;
    one_h[2] all;
    one_h    seen;
}

struct metadata_t { }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.at);
        packet.extract(hdr.all.next);
        packet.extract(hdr.all.next);
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        hdr.seen = { hdr.all[hdr.at.at].x };
        hdr.all[hdr.at.at].x = 0xaa;
        // Four bits: -1 is not element 15 but none.
        int<4> narrow = -1;
        hdr.all[narrow].x = 0xbb;
    }
}

#include "include/pipe.p4"
