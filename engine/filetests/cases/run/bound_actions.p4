// One action listed by two tables with different bound arguments is one action to the control plane.
// add I.first 1 => I.put(7)
// add I.second 2 => I.put(9)
// packet 0 0102 0000 00000000
// expect 1 0709 0000 00000000
// packet 0 0002 0000 00000000
// expect 1 0009 0000 00000000
// default I.first I.put(4)
// packet 0 0002 0000 00000000
// expect 1 0409 0000 00000000
#include "include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    action put(out bit<8> where, bit<8> value) {
        where = value;
    }
    table first {
        key = { hdr.data.a: exact; }
        actions = { put(hdr.data.a); NoAction; }
    }
    table second {
        key = { hdr.data.b: exact; }
        actions = { put(hdr.data.b); NoAction; }
    }
    apply {
        sm.egress_spec = 1;
        first.apply();
        second.apply();
    }
}

#include "include/pipe.p4"
