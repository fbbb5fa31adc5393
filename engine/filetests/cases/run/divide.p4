// Division and modulo of unsigned numbers; a zero divisor gives zero.
// packet 0 6407 0000 00000000
// expect 1 0e02 0000 00000000
// packet 0 6400 0001 00000000
// expect 1 0000 0001 00000000
#include "include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        bit<8> a = hdr.data.a;
        bit<8> b = hdr.data.b;
        if (b == 0) {
            hdr.data.a = 0;
            hdr.data.b = 0;
        } else {
            hdr.data.a = a / b;
            hdr.data.b = a % b;
        }
    }
}

#include "include/pipe.p4"
