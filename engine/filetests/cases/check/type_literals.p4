// What a number without width is not: an operand beside a `type`, as p4c has it.
#include "../run/include/v1.p4"

type bit<8> small_t;
type bool flag_t;
type error error_t;

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        small_t x = 256; //~ WARN 256 does not fit in `bit<8>`
        if (x == 1) { } //~ ERROR `==` cannot be applied to `small_t` and `int`
        x = x + 1; //~ ERROR `+` cannot be applied to `small_t` and `int`
        x = 8w1; //~ ERROR expected `small_t`, found `bit<8>`
        flag_t f = 1; //~ ERROR expected `flag_t`, found `int`
        error_t e = 1; //~ ERROR expected `error_t`, found `int`
        hdr.data.a = x; //~ ERROR expected `bit<8>`, found `small_t`
    }
}

#include "../run/include/pipe.p4"
