// A header stack of more than 1024 elements.
// packet 0 0003 0a0b0c
// expect 1 0003 0a0b0c5d
#define OWN_TYPES
#define OWN_PARSER
#include "include/v1.p4"

header count_h {
    bit<16> elements;
}

header one_h {
    bit<8> x;
}

struct headers_t {
    count_h     count;
    one_h[2000] all;
}

struct metadata_t {
    bit<16> left;
}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.count);
        meta.left = hdr.count.elements;
        transition next;
    }
    state next {
        transition select(meta.left) {
            0: accept;
            default: one;
        }
    }
    state one {
        packet.extract(hdr.all.next);
        meta.left = meta.left - 1;
        transition next;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        hdr.all[1999].setValid();
        hdr.all[1999].x = 0x5d;
        sm.egress_spec = 1;
    }
}

#include "include/pipe.p4"
