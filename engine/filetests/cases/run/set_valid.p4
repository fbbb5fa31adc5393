// setValid of an invalid header makes its fields zero, of a valid one it changes nothing.
// packet 0 0100 0000 00000000
// expect 1 0100 0000 00000000 0003 0000 00000000
#define OWN_TYPES
#include "include/v1.p4"

struct headers_t {
    data_h data;
    data_h extra;
}

struct metadata_t { }

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        hdr.extra.a = 5;
        hdr.extra.setValid();
        hdr.extra.b = 3;
        hdr.extra.setValid();
    }
}

#include "include/pipe.p4"
