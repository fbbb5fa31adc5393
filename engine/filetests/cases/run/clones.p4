// A clone keeps the fields of its list and takes the packet as it came in.
// session 7 3
// packet 0 0102 0000 00000000
// expect 1 0202 0000 00000000
// expect 3 0102 00ab 00000000
#define OWN_TYPES
#define OWN_EGRESS
#include "include/v1.p4"

struct headers_t {
    data_h data;
}

struct metadata_t {
    @field_list(1)
    bit<8> kept;
    bit<8> lost;
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        meta.kept = 0xab;
        meta.lost = 0xcd;
        clone_preserving_field_list(CloneType.I2E, 7, 1);
        hdr.data.a = 2;
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        if (sm.instance_type == 1) {
            hdr.data.c = meta.lost ++ meta.kept;
        }
    }
}

#include "include/pipe.p4"
