// Hashes and checksums leave out the fields of invalid headers.
// packet 0 0102 0000 00000000
// expect 1 0102 fefd 00000102
// packet 0 0304 0000 00000000
// expect 1 0304 fcfb 03120004
#define OWN_TYPES
#define OWN_COMPUTE
#include "include/v1.p4"

struct headers_t {
    data_h data;
    data_h extra;
}

struct metadata_t { }

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        if (hdr.data.a == 3) {
            hdr.extra.setValid();
        }
        hdr.extra.c = 0x1200;
        hash(hdr.data.d, HashAlgorithm.identity, 32w0, { hdr.data.a, hdr.extra.c, hdr.data.b }, 32w0xffffffff);
        hdr.extra.setInvalid();
        hdr.extra.c = 0x1200;
    }
}

control C(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(true, { hdr.data.a, hdr.extra.c, hdr.data.b }, hdr.data.c, HashAlgorithm.csum16);
    }
}

#include "include/pipe.p4"
