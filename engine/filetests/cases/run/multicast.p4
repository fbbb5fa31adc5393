// Multicast to a group; drop.
// multicast 5 1 2 4
// packet 0 0500 0000 00000000
// expect 1 0501 0000 00000000
// expect 2 0502 0000 00000000
// expect 4 0504 0000 00000000
// packet 0 0000 0000 00000000
// expect nothing
#define OWN_EGRESS
#include "include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        if (hdr.data.a == 0) {
            mark_to_drop(sm);
        } else {
            sm.mcast_grp = (bit<16>)hdr.data.a;
        }
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        hdr.data.b = (bit<8>)sm.egress_port;
    }
}

#include "include/pipe.p4"
