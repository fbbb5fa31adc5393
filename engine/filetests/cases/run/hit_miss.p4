// hit and miss of apply, in conditions and beside other conditions.
// add I.t 1 => NoAction()
// packet 0 0100 0000 00000000
// expect 1 0101 0000 00000000
// packet 0 0200 0000 00000000
// expect 1 0202 0001 00000000
#include "include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    table t {
        key = { hdr.data.a: exact; }
        actions = { NoAction; }
        default_action = NoAction();
    }
    table u {
        key = { hdr.data.a: exact; }
        actions = { NoAction; }
        const entries = { 2: NoAction(); }
        default_action = NoAction();
    }
    apply {
        sm.egress_spec = 1;
        if (t.apply().hit) {
            hdr.data.b = 1;
        } else {
            hdr.data.b = 2;
        }
        if (!u.apply().miss && hdr.data.a == 2) {
            hdr.data.c = 1;
        }
    }
}

#include "include/pipe.p4"
