// Directional parameters of actions: direct calls copy in and out, tables bind them where the action is listed.
// add I.t 1 => I.add(0x10)
// packet 0 0102 0000 00000000
// expect 1 1104 0004 00000000
// packet 0 0202 0000 00000000
// expect 1 0204 0004 00000000
#include "include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    action add(inout bit<8> target, bit<8> amount) {
        target = target + amount;
    }
    action clobber(inout bit<8> target) {
        hdr.data.b = 99;
        target = target * 2;
    }
    table t {
        key = { hdr.data.a: exact; }
        actions = { add(hdr.data.a); NoAction; }
        default_action = NoAction();
    }
    apply {
        sm.egress_spec = 1;
        t.apply();
        clobber(hdr.data.b);
        bit<8> n = 1;
        add(n, 3);
        hdr.data.c = (bit<16>)n;
    }
}

#include "include/pipe.p4"
