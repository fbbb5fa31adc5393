// Parameters of type int take numbers that are known where the call stands.
// packet 0 0100 0000 00000000
// expect 1 0403 0000 00000000
#include "include/v1.p4"

bit<8> plus(in bit<8> x, int by) {
    return x + by;
}

control Sets(int value, out bit<8> x) {
    apply {
        x = value;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        hdr.data.a = plus(plus(hdr.data.a, 1), 2);
        Sets.apply(3, hdr.data.b);
    }
}

#include "include/pipe.p4"
