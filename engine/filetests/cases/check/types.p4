// Types of operands, conditions, assignments.
#include "../run/include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        hdr.data.a = hdr.data.c; //~ ERROR expected `bit<8>`, found `bit<16>`
        hdr.data.a = hdr.data.a + hdr.data.c; //~ ERROR `+` cannot be applied to `bit<8>` and `bit<16>`
        hdr.data.a = 256; //~ WARN 256 does not fit in `bit<8>`
        hdr.data.a = -1; //~ WARN -1 does not fit in `bit<8>`
        if (hdr.data.a) { } //~ ERROR a condition must be a `bool`
        bool b = hdr.data.a && true; //~ ERROR `&&` cannot be applied
        bool c = !hdr.data.a; //~ ERROR `!` cannot be applied to `bit<8>`
        int<8> s = (int<8>)hdr.data.c; //~ ERROR cannot cast `bit<16>` to `int<8>`
        s = s / 2; //~ ERROR not defined for `int<W>`
        bit<8> n = 4 / 0; //~ ERROR division by zero
        n = n << s; //~ ERROR the shift amount must be unsigned
        n = n << -1; //~ ERROR shift by a negative amount
        n = n << 8; //~ WARN shifting 8 bits by 8
        n = hdr.data.c[8:1]; 
        n = hdr.data.c[1:8]; //~ ERROR less than its low index
        n = hdr.data.c[16:9]; //~ ERROR bit 16 of the slice is outside
        n = true ? 8w1 : 16w1; //~ ERROR have types `bit<8>` and `bit<16>`
        n = error.NoError; //~ ERROR expected `bit<8>`, found `error`
        n = hdr.data; //~ ERROR expected `bit<8>`, found `data_h`
        int count = 1; //~ ERROR `int` has no width
        hdr.data = { 1, 2 }; //~ ERROR `data_h` has 4 members, but 2 are given
        hdr.data = { a = 1, b = 2, c = 3, e = 4 }; //~ ERROR has no field `e`
        hdr.data = { a = 1, b = 2, c = 3 }; //~ ERROR field `d` of `data_h` has no value
    }
}
