// What an instance is made of cannot change with the place that applies it.
#include "../run/include/v1.p4"

control Sets(int value, out bit<8> x) {
    apply {
        x = value;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    Sets() sets;
    apply {
        sets.apply(1, hdr.data.a);
        sets.apply(2, hdr.data.b); //~ ERROR applied with two different compile-time arguments
    }
}

#include "../run/include/pipe.p4"
