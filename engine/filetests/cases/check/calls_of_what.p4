// What cannot be called is named.
#include "../run/include/v1.p4"

bit<8> f() {
    return 1;
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        hdr.data.a = f()(); //~ ERROR the result of a call cannot be called
        hdr.data.a = (hdr.data.b + 1)(); //~ ERROR the result of an operator cannot be called
        hdr.data.a = data_h.isValid(); //~ ERROR type `data_h` has no method `isValid`
        hdr.data.a = data_h.minSizeInBit(); //~ ERROR type `data_h` has no method `minSizeInBit`
        hdr.data.a = 1(); //~ ERROR a number cannot be called
        hdr.data.a = packet_in.minSizeInBits(); //~ ERROR `minSizeInBits` is not defined for `packet_in`
        hdr.data.a = data_h.minSizeInBits(1); //~ ERROR `minSizeInBits` takes no arguments
    }
}

#include "../run/include/pipe.p4"
