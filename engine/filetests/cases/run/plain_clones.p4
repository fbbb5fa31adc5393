// A clone without a field list: the copy keeps no metadata.
// session 7 3
// packet 0 0102 0000 00000000
// expect 1 0102 ab01 00000000
// expect 3 0102 0001 00000000
// packet 0 0202 0000 00000000
// expect 1 0202 ab01 00000000
// expect 3 0202 0002 00000000
#define OWN_EGRESS
#include "include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        meta.x = 0xab;
        if (hdr.data.a == 1) {
            clone(CloneType.I2E, 7);
        }
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        hdr.data.c = meta.x ++ 8w1;
        if (sm.instance_type == 2) {
            hdr.data.c = meta.x ++ 8w2;
        } else if (hdr.data.a == 2) {
            clone(CloneType.E2E, 7);
        }
    }
}

#include "include/pipe.p4"
