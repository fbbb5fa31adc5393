// Copies of a packet that was cut: of a multicast group, and of egress.
#define OWN_TYPES
#define OWN_EGRESS
#include "../../../engine/filetests/cases/run/include/v1.p4"

struct headers_t {
    data_h data;
}

struct metadata_t {
    @field_list(1)
    bit<8> x;
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        if (hdr.data.a == 1) {
            truncate(9);
            sm.mcast_grp = 1;
        }
        sm.egress_spec = 1;
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        if (hdr.data.a == 2 && sm.instance_type == 0) {
            truncate(9);
            clone_preserving_field_list(CloneType.E2E, 7, 1);
        }
    }
}

#include "../../../engine/filetests/cases/run/include/pipe.p4"
