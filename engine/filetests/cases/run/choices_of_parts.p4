// Written-out headers behind `?:`, and shifts by signed constants.
// packet 0 0100000000000000
// expect 1 0110000300000004
// packet 0 0200000000000000
// expect 1 0530000700000008
// packet 0 0400000000000000
// expect 1 0950000b0000000c
// packet 0 0300000000000000
// expect 1 0018000100000002
// packet 0 0304000000000000
// expect 1 0320000300000004
#include "include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    const int<6> by = 3;
    apply {
        sm.egress_spec = 1;
        bit<8> a = hdr.data.a;
        bit<8> b = hdr.data.b;
        hdr.data = a == 1 ? { 1, 2, 3, 4 } : a == 2 ? { 5, 6, 7, 8 } : { 9, 10, 11, 12 };
        if (a == 3) {
            hdr.data = b == 0 ? { b, a, 16w1, 32w2 } : { a, b, 16w3, 32w4 };
        }
        hdr.data.b = hdr.data.b << by;
    }
}

#include "include/pipe.p4"
