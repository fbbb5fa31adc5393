// Compile-time evaluation: widths, sizes, static assertions, constants of structs and lists.
// packet 0 0000 0000 00000000
// expect 1 0c2a 0102 ffffffff
#include "include/v1.p4"

const int WIDTH = 4 * 2;
typedef bit<(WIDTH)> byte_t;
const byte_t TWELVE = (1 << 3) + 4;
const bit<32> ONES = ~32w0;
const tuple<byte_t, byte_t> PAIR = { 1, 2 };
const bool BIG = WIDTH > 4 && TWELVE == 12;

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        static_assert(BIG, "the width is too small");
        sm.egress_spec = 1;
        hdr.data.a = TWELVE;
        hdr.data.b = (byte_t)(WIDTH == 8 ? 42 : 0);
        hdr.data.c = PAIR[0] ++ PAIR[1];
        hdr.data.d = ONES;
    }
}

#include "include/pipe.p4"
