// Numbers wider than a machine word.
// packet 0 ffffffffffffffff ffffffffffffffff 00000000000000000000000000000001
// expect 1 0000000000000000 0000000000000000 ffffffffffffffffffffffffffffffff
#define OWN_TYPES
#define OWN_PARSER
#include "include/v1.p4"

header wide_h {
    bit<128> a;
    bit<128> b;
}

struct headers_t {
    wide_h wide;
}

struct metadata_t { }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.wide);
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        bit<128> a = hdr.wide.a;
        hdr.wide.a = a + hdr.wide.b;
        hdr.wide.b = (a ^ 0) & 128w0xffffffffffffffffffffffffffffffff;
        if (hdr.wide.a >= hdr.wide.b) {
            sm.egress_spec = 2;
        }
    }
}

#include "include/pipe.p4"
