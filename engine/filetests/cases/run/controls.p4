// Instances with constructor parameters, applied at one and at two places; each has tables of its own.
// add I.inc.t 5 => I.inc.set(0x11)
// add I.twice.t 7 => I.twice.set(0x22)
// packet 0 0507 0000 00000000
// expect 1 0507 1100 00002222
// packet 0 0705 0000 00000000
// expect 1 0705 0000 00000000
#include "include/v1.p4"

control Lookup(in bit<8> wanted, out bit<8> result)(bit<8> otherwise) {
    bit<8> found;
    action set(bit<8> value) {
        found = value;
    }
    table t {
        key = { wanted: exact; }
        actions = { set; NoAction; }
        default_action = NoAction();
    }
    apply {
        found = otherwise;
        t.apply();
        result = found;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    Lookup(0) inc;
    Lookup(8w0) twice;
    apply {
        sm.egress_spec = 1;
        inc.apply(hdr.data.a, hdr.data.c[15:8]);
        bit<8> x;
        bit<8> y;
        twice.apply(hdr.data.b, x);
        twice.apply(hdr.data.b, y);
        hdr.data.d[15:8] = x;
        hdr.data.d[7:0] = y;
    }
}

#include "include/pipe.p4"
