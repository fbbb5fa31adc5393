// What cannot be written.
#include "../run/include/v1.p4"

const bit<8> LIMIT = 3;

control Inner(in bit<8> x, out bit<8> y)(bit<8> z) {
    apply {
        x = 1; //~ ERROR `x` is an `in` parameter
        z = 1; //~ ERROR `z` is a constructor parameter
        y = x + z;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    Inner(1) inner;
    action set(bit<8> value) {
        value = 1; //~ ERROR `value` is a parameter without direction
    }
    apply {
        LIMIT = 4; //~ ERROR a constant cannot be assigned
        inner.apply(hdr.data.a, 3); //~ ERROR a constant cannot be assigned
        inner.apply(1, hdr.data.c); //~ ERROR has type `bit<8>`, found `bit<16>`
    }
}
