// Types of width 0 have one value and take no room.
// packet 0 01 02
// expect 1 00 02
#define OWN_TYPES
#define OWN_PARSER
#include "include/v1.p4"

header pair_h {
    bit<0> none;
    bit<8> a;
    bit<0> nothing;
    bit<8> b;
}

struct headers_t {
    pair_h pair;
}

struct metadata_t {
    bit<0> empty;
}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.pair);
        transition accept;
    }
}

bit<0> pass(in bit<0> x) {
    return x;
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        bit<0> local = 0w0;
        hdr.pair.none = pass(local);
        meta.empty = hdr.pair.nothing + (bit<0>)hdr.pair.b;
        if (meta.empty == hdr.pair.none) {
            sm.egress_spec = 1;
        }
        hdr.pair.a = (bit<8>)meta.empty;
        hdr.pair.b = hdr.pair.none ++ hdr.pair.b ++ local;
    }
}

#include "include/pipe.p4"
