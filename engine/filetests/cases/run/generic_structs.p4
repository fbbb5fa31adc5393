// Generic structs as parameters and results of generic functions.
// packet 0 0102 0304 00000005
// expect 1 0201 0304 00000006
#include "include/v1.p4"

struct pair_t<A, B> {
    A first;
    B second;
}

pair_t<B, A> turned<A, B>(in pair_t<A, B> p) {
    pair_t<B, A> made = { p.second, p.first };
    return made;
}

T first_of<T>(in pair_t<T, T> p) {
    return p.first;
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        pair_t<bit<8>, bit<8>> bytes = { hdr.data.a, hdr.data.b };
        bytes = turned(bytes);
        hdr.data.a = first_of(bytes);
        hdr.data.b = bytes.second;
        pair_t<bit<16>, bit<32>> mixed = { hdr.data.c, hdr.data.d + 1 };
        pair_t<bit<32>, bit<16>> back = turned<bit<16>, bit<32>>(mixed);
        hdr.data.d = back.first;
    }
}

#include "include/pipe.p4"
