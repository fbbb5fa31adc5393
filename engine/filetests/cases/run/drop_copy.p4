// mark_to_drop on a copy of the standard metadata: by the arguments of an action, of a control applied twice, and on
// a variable that is never given back.
// packet 0 0100 0000 00000000
// expect nothing
// packet 0 0200 0000 00000000
// expect nothing
// packet 0 0300 0000 00000000
// expect 1 0300 0000 00000000
#include "include/v1.p4"

control Filter(inout standard_metadata_t m, in bit<8> x, in bit<8> y) {
    apply {
        if (x == y) {
            mark_to_drop(m);
        }
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    Filter() filter;
    action refuse(inout standard_metadata_t m) {
        mark_to_drop(m);
    }
    apply {
        sm.egress_spec = 1;
        if (hdr.data.a == 1) {
            refuse(sm);
        }
        filter.apply(sm, hdr.data.a, 2);
        filter.apply(sm, hdr.data.a, 9);
        standard_metadata_t other = sm;
        mark_to_drop(other);
    }
}

#include "include/pipe.p4"
