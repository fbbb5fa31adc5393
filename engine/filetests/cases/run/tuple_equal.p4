// Lists beside tuples: numbers without width take those of the tuple.
// packet 0 0102 0000 00000000
// expect 1 0102 0003 00000000
// packet 0 0103 0000 00000000
// expect 1 0103 0000 00000000
#include "include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        tuple<bit<8>, bit<8>> both = { hdr.data.a, hdr.data.b };
        if (both == { 1, 2 }) {
            hdr.data.c = hdr.data.c + 1;
        }
        if ({ 1, 2 } == both) {
            hdr.data.c = hdr.data.c + 2;
        }
    }
}

#include "include/pipe.p4"
