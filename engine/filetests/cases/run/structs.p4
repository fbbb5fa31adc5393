// Structs and headers as values: copies, lists, comparison, overlapping assignment, validity.
// packet 0 0102 0304 05060708
// expect 1 0201 0304 05060708 0201 0304 05060708
// packet 0 0101 0000 00000000
// expect 1 0101 0000 00000001
#define OWN_TYPES
#define OWN_PARSER
#include "include/v1.p4"

struct pair_t {
    bit<8> x;
    bit<8> y;
}

struct headers_t {
    data_h data;
    data_h copy;
}

struct metadata_t {
    pair_t pair;
    data_h saved;
}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.data);
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        pair_t p = { hdr.data.a, hdr.data.b };
        p = { p.y, p.x };
        meta.pair = p;
        pair_t q = { y = p.y, x = p.x };
        if (q == meta.pair && p.x != p.y) {
            hdr.data.a = q.x;
            hdr.data.b = q.y;
            meta.saved = hdr.data;
            hdr.copy = meta.saved;
        } else {
            hdr.copy = {#};
        }
        if (hdr.copy == meta.saved && !hdr.copy.isValid()) {
            hdr.data.d = 1;
        }
    }
}

#include "include/pipe.p4"
