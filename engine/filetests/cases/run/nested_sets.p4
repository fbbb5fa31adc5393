// A value set of a struct in a struct: its members have a value for each scalar.
// set P.known 1 2 0x304
// packet 0 0102 0304 00000000
// expect 1 0102 0304 00000001
// packet 0 0103 0304 00000000
// expect 1 0103 0304 00000000
#define OWN_PARSER
#include "include/v1.p4"

struct inner_t {
    bit<8>  b;
    bit<16> c;
}

struct outer_t {
    bit<8>  a;
    inner_t rest;
}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    value_set<outer_t>(4) known;
    state start {
        packet.extract(hdr.data);
        transition select(hdr.data.a, hdr.data.b, hdr.data.c) {
            known: met;
            default: accept;
        }
    }
    state met {
        meta.x = 1;
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        hdr.data.d = (bit<32>) meta.x;
    }
}

#include "include/pipe.p4"
