// Arguments are copied in and out, also when they overlap; return leaves at once.
// packet 0 0507 0000 00000000
// expect 1 0705 0009 00000000
// packet 0 0606 0000 00000000
// expect 1 0606 0063 00000000
#include "include/v1.p4"

void swap(inout bit<8> x, inout bit<8> y) {
    bit<8> old = x;
    x = y;
    y = old;
}

bit<16> pick(in bit<8> x, in bit<8> y) {
    if (x == y) {
        return 99;
    }
    return 9;
}

// The last copy out wins: y's.
void both(inout bit<8> x, inout bit<8> y) {
    x = 1;
    y = y + 1;
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        swap(hdr.data.a, hdr.data.b);
        hdr.data.c = pick(hdr.data.a, hdr.data.b);
        bit<8> z = 41;
        both(z, z);
        if (z != 42) {
            sm.egress_spec = 2;
        }
    }
}

#include "include/pipe.p4"
