// Slices whose place is known at run time only: read, written, past the end; compound assignment to places that are
// found by a call, once.
// packet 0 04 03 abcd 01020304
// expect 1 06 7f 1b5d 01010384
// packet 0 0e 03 abcd 00000000
// expect 1 10 05 ab5d 3c020000
#include "include/v1.p4"

bit<8> next(inout bit<8> x) {
    bit<8> old = x;
    x = x + 1;
    return old;
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        bit<8> at = hdr.data.a;
        // Bits past the end read as zero and are lost when written.
        hdr.data.b = (bit<8>)hdr.data.c[at +: 4] + (hdr.data.b & 0x73);
        if (at == 4) {
            hdr.data.b = hdr.data.b + 0x70;
        }
        hdr.data.c[4 +: 4] = 5;
        hdr.data.c[at + 8 +: 4] = 1;
        hdr.data.d[next(hdr.data.a) + 12 +: 4] += 15;
        hdr.data.d[next(hdr.data.a) +: 6] |= 4;
    }
}

#include "include/pipe.p4"
