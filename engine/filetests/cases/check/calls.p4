// Arguments: count, names, types, inference.
#include "../run/include/v1.p4"

bit<8> twice(in bit<8> x) {
    return x + x;
}

bit<8> maybe(in bit<8> x) { //~ ERROR function `maybe` may end without returning a value
    if (x == 1) {
        return 1;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        hdr.data.a = twice(); //~ ERROR `twice` takes 1 argument, but 0 are given
        hdr.data.a = twice(1, 2); //~ ERROR `twice` takes 1 argument, but 2 are given
        hdr.data.a = twice(y = 1); //~ ERROR `y` is not declared
        hdr.data.a = twice(hdr.data.c); //~ ERROR expected `bit<8>`, found `bit<16>`
        hdr.data.a = twice(_); //~ ERROR `_` cannot be the argument of parameter `x`
        hash(meta.y, HashAlgorithm.crc16, 0, { hdr.data.a }, 4); //~ ERROR the width of a number in this call of `hash`
        hash(meta.y, HashAlgorithm.crc99, 16w0, { hdr.data.a }, 16w4); //~ ERROR `HashAlgorithm` has no member `crc99`
        hdr.data.isValid(1); //~ ERROR `isValid` takes 0 arguments
        hdr.data.frob(); //~ ERROR `data_h` has no method `frob`
        hdr.data.a(); //~ ERROR `data_h` has no method `a`
        random(hdr.data.a, 1, 16w2); //~ ERROR expected `bit<8>`, found `bit<16>`
        truncate(); //~ ERROR `truncate` takes 1 argument, but 0 are given
        return 1; //~ ERROR no value can be returned here
    }
}
