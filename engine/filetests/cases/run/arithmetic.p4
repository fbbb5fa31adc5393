// Unsigned arithmetic wraps, saturates, shifts out.
// packet 0 fb0a 0102 00000003
// expect 1 05f1 0a14 00001f82
#include "include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        bit<8> a = hdr.data.a;
        bit<8> b = hdr.data.b;
        hdr.data.a = a + b;
        hdr.data.b = a - b;
        hdr.data.c = 16w0xa00 | (bit<16>)((b << 1) & 0xff);
        bit<8> sum = a |+| b;
        bit<8> difference = b |-| a;
        bit<8> product = a * b;
        hdr.data.d = (bit<32>)((sum >> 3) ++ (difference | (product ^ 0x4c)));
    }
}

#include "include/pipe.p4"
