// Digests of lists are tuples without a type's name: they are numbered.
// packet 0 0102 0003 00000000
// expect 1 0102 0003 00000000
// expect_digest digest_0 1 3
// expect_digest digest_1 2
#include "include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        digest(1, { hdr.data.a, hdr.data.c });
        digest(1, { hdr.data.b });
    }
}

#include "include/pipe.p4"
