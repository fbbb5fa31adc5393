// The body of a loop may write the loop's variable: the next round has the next value all the same.
// packet 0 0000 0000 00000000
// expect 1 1e03 0017 0000000a
#include "include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        bit<8> rounds = 0;
        for (bit<8> i in 1 .. 3) {
            i = i * 5;
            hdr.data.a = hdr.data.a + i;
            rounds = rounds + 1;
        }
        hdr.data.b = rounds;
        for (bit<16> each in { 16w1, 2, 20 }) {
            each = each ^ 16w0;
            hdr.data.c = hdr.data.c + each;
        }
        bit<32> never = 10;
        bit<32> low = 5;
        for (bit<32> each in low .. 2) {
            never = each;
        }
        hdr.data.d = never;
    }
}

#include "include/pipe.p4"
