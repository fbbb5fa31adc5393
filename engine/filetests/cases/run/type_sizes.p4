// Sizes of types, as of values: headers, structs, unions, stacks, `type` and `typedef`.
// packet 0 0102 0304 00000000
// expect 1 0828 8008 40300107
#include "include/v1.p4"

header options_h {
    bit<8>      kind;
    varbit<320> rest;
}

header_union any_h {
    data_h    data;
    options_h options;
}

struct both_t {
    data_h   data;
    bit<3>   odd;
    data_h[2] more;
}

type bit<48> address_t;
typedef bit<7> seven_t;
enum bit<4> kind_t { a = 1 }

const int OPTIONS = options_h.maxSizeInBytes() - 1;

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    bit<64> whole = 1;
    apply {
        sm.egress_spec = 1;
        hdr.data.a = data_h.minSizeInBytes();
        hdr.data.b = OPTIONS;
        hdr.data.c[15:8] = 2 * any_h.minSizeInBits();
        hdr.data.c[7:0] = data_h.maxSizeInBytes();
        hdr.data.d[31:24] = whole.minSizeInBits();
        hdr.data.d[23:16] = address_t.minSizeInBits();
        hdr.data.d[15:8] = both_t.minSizeInBits() == 3 * 64 + 3 ? 8w1 : 0;
        hdr.data.d[7:0] = seven_t.maxSizeInBits() + kind_t.minSizeInBytes() - 1;
    }
}

#include "include/pipe.p4"
