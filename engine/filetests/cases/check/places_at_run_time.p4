// Slices and loops whose place or range is found at run time.
#include "../run/include/v1.p4"

struct pair_t {
    bit<8> a;
    bit<8> b;
}

header bad_h {
    varbit<8> v;
}

struct var_t {
    varbit<8> v;
}

header nested_h { var_t x; } //~ ERROR a header cannot have a field of type `var_t`

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        bit<16> n = 0;
        int<8> signed = 1;
        n = (bit<16>)hdr.data.c[signed +: 4]; //~ ERROR the index of a slice must be `bit<W>`, not `int<8>`
        n = hdr.data.a[hdr.data.b +: 16]; //~ ERROR outside the 8 bits of the value
        pair_t pair = { 1, 2 };
        for (bit<8> each in pair) { } //~ ERROR a loop cannot iterate over a value of type `pair_t`
        for (bit<8> each in { 1, true }) { } //~ ERROR expected `bit<8>`, found `bool`
    }
}

#include "../run/include/pipe.p4"
