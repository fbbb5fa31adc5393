// An invalid header that is assigned makes the target invalid and leaves its fields alone, until setValid zeroes them.
// packet 0 07 00 0000 00000000
// expect 1 00 07 0000 00000000
#include "include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        data_h none;
        none.a = 9;
        hdr.data = none;
        bit<8> kept = hdr.data.a;
        hdr.data.setValid();
        hdr.data.b = kept;
    }
}

#include "include/pipe.p4"
