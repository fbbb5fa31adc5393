// An assertion on constructor parameters is looked at when the instance is made.
// packet 0 0102 0304 00000000
// expect 1 0302 0304 00000000
#include "include/v1.p4"

control Add(inout bit<8> x)(bit<8> n, bool really) {
    apply {
        static_assert(n < 10, "n is small");
        static_assert(really);
        x = x + n;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    Add(2, true) add;
    apply {
        sm.egress_spec = 1;
        add.apply(hdr.data.a);
    }
}

#include "include/pipe.p4"
