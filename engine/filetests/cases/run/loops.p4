// for loops, with break and continue; a range includes both ends and may end at the largest value.
// packet 0 0500 0000 00000000
// expect 1 050a 000c 00000006
#include "include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        bit<8> sum = 0;
        for (bit<8> i = 0; i < hdr.data.a; i = i + 1) {
            sum = sum + i;
        }
        hdr.data.b = sum;
        bit<16> odd = 0;
        for (bit<8> i in 1 .. 20) {
            if (i[0:0] == 0) {
                continue;
            }
            if (i > 6) {
                break;
            }
            odd = odd + (bit<16>)i;
        }
        hdr.data.c = odd + 3;
        for (bit<8> i in 250 .. 255) {
            hdr.data.d = hdr.data.d + 1;
        }
    }
}

#include "include/pipe.p4"
