// An argument that is a computed value keeps it while the function uses it again and again.
// packet 0 0305 0000 00000000
// expect 1 0808 0010 00000008
#include "include/v1.p4"

void spread(in bit<8> x, inout bit<8> y, inout bit<8> z) {
    y = x;
    z = x;
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        bit<8> a = hdr.data.a;
        spread(a + hdr.data.b, hdr.data.a, hdr.data.b);
        hdr.data.c = (bit<16>)(hdr.data.a + hdr.data.b);
        hdr.data.d = (bit<32>)hdr.data.a;
    }
}

#include "include/pipe.p4"
