// A value set, filled by the control plane, among other cases.
// packet 0 0500 0000 00000000
// expect 1 0500 0000 00000000
// set P.chosen 5 6
// packet 0 0500 0000 00000000
// expect 2 0500 0000 00000000
// packet 0 0400 0000 00000000
// expect 3 0400 0000 00000000
#define OWN_PARSER
#include "include/v1.p4"

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    value_set<bit<8>>(4) chosen;

    state start {
        packet.extract(hdr.data);
        transition select(hdr.data.a) {
            4: four;
            chosen: hit;
            default: accept;
        }
    }
    state four {
        meta.x = 2;
        transition accept;
    }
    state hit {
        meta.x = 1;
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = (bit<9>)meta.x + 1;
    }
}

#include "include/pipe.p4"
