// Slices are read and written, concatenation puts the left side high.
// packet 0 12ab cdef 01234567
// expect 1 2bab defc 01a34567
#include "include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        hdr.data.a = hdr.data.a[3:0] ++ hdr.data.b[3:0];
        hdr.data.c = hdr.data.c[11:0] ++ hdr.data.c[15:12];
        hdr.data.d[23:20] = hdr.data.b[7:4] & 0xa;
        hdr.data.d[19:16][2:0] = 3;
    }
}

#include "include/pipe.p4"
