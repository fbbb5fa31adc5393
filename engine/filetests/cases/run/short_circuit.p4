// The right side of && and || runs only when the left side does not decide.
// packet 0 0000 0000 00000000
// expect 1 0000 0001 00000000
// packet 0 0100 0000 00000000
// expect 1 0100 0002 00000000
#include "include/v1.p4"

bool bump(inout bit<16> counter, in bool result) {
    counter = counter + 1;
    return result;
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        bool first = hdr.data.a != 0;
        bit<16> count = 0;
        bool both = first && bump(count, false);
        bool any = both || bump(count, true);
        if (any) {
            hdr.data.c = count;
        }
    }
}

#include "include/pipe.p4"
