// The extern Checksum16 of v1model's first version.
// packet 0 0102 0000 00000000
// expect 1 0102 fefd 00000000
#define OWN_COMPUTE
#include "include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
    }
}

control C(inout headers_t hdr, inout metadata_t meta) {
    Checksum16() sum;
    apply {
        hdr.data.c = sum.get({ hdr.data.a, hdr.data.b });
    }
}

#include "include/pipe.p4"
