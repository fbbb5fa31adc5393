// Copies of a multicast group; `a` is the group, and 0 means none.
#define OWN_EGRESS
#include "../../../engine/filetests/cases/run/include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 5;
        sm.mcast_grp = (bit<16>) hdr.data.a;
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        hdr.data.c = sm.egress_rid;
        hdr.data.d = (bit<8>) sm.instance_type ++ (bit<8>) sm.ingress_port ++ (bit<16>) sm.egress_port;
    }
}

#include "../../../engine/filetests/cases/run/include/pipe.p4"
