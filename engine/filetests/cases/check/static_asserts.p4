// An assertion on constructor parameters that an instance does not meet.
#include "../run/include/v1.p4"

control Add(inout bit<8> x)(bit<8> n) {
    apply {
        static_assert(n < 10, "n is small"); //~ ERROR static assertion failed: n is small
        x = x + n;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    Add(12) add;
    apply {
        add.apply(hdr.data.a);
    }
}

#include "../run/include/pipe.p4"
