// The internet checksum over a list, updated under a condition; a hash with base and bound.
// packet 0 0102 0000 03040506
// expect 1 0102 f6f3 03040506
// packet 0 0002 0000 03040506
// expect 1 0002 0000 03040506
#define OWN_COMPUTE
#include "include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        bit<16> h;
        hash(h, HashAlgorithm.crc16, 16w5, { hdr.data.a, hdr.data.d }, 16w1);
        if (h != 5) {
            sm.egress_spec = 2;
        }
    }
}

control C(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.data.a != 0, { hdr.data.a, hdr.data.b, hdr.data.d }, hdr.data.c,
                        HashAlgorithm.csum16);
    }
}

#include "include/pipe.p4"
