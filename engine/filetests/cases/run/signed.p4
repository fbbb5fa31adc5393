// Two's complement: comparison, arithmetic shift, sign extension, negation.
// packet 0 f003 0000 00000000
// expect 1 fc01 fff0 00000010
#include "include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        int<8> a = (int<8>)hdr.data.a;
        int<8> b = (int<8>)hdr.data.b;
        hdr.data.a = (bit<8>)(a >> 2);
        hdr.data.b = a < b ? 8w1 : 8w0;
        hdr.data.c = (bit<16>)(int<16>)a;
        hdr.data.d = (bit<32>)(int<32>)(-a);
    }
}

#include "include/pipe.p4"
