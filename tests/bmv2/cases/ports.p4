// Ports of every number: 511 drops, in ingress and in egress; nothing is sent on a port that is not there.
#define OWN_EGRESS
#include "../../../engine/filetests/cases/run/include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = (bit<9>) hdr.data.c;
        if (hdr.data.a == 4) {
            mark_to_drop(sm);
            sm.egress_spec = 1;
        } else if (hdr.data.a == 5) {
            sm.mcast_grp = 1;
            mark_to_drop(sm);
        }
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        hdr.data.d = (bit<16>) sm.egress_port ++ (bit<16>) sm.egress_spec;
        if (hdr.data.a == 1) {
            sm.egress_spec = 3;
        } else if (hdr.data.a == 2) {
            mark_to_drop(sm);
        } else if (hdr.data.a == 3) {
            mark_to_drop(sm);
            sm.egress_spec = 0;
        }
    }
}

#include "../../../engine/filetests/cases/run/include/pipe.p4"
