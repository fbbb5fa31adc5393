// A packet is cut when it is sent: what is recirculated is whole.
// packet 0 0100 0000 00000000 aabb
// expect 1 0101 000a 00000000 aa
#define OWN_TYPES
#define OWN_EGRESS
#include "include/v1.p4"

struct headers_t {
    data_h data;
}

struct metadata_t {
    bit<1> is_again;
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        if (sm.instance_type == 4) {
            meta.is_again = 1;
            hdr.data.c = (bit<16>) sm.packet_length;
        } else {
            hdr.data.b = 1;
        }
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        truncate(9);
        if (meta.is_again == 0) {
            recirculate_preserving_field_list(1);
        }
    }
}

#include "include/pipe.p4"
