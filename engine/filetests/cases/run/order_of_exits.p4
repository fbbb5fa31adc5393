// return and exit give back what is out or inout first, innermost first and from left to right each; what had not begun
// does not happen (P4-16 12.4, 12.5).
// packet 0 0107 0000 00000000
// expect 1 0107 0000 00000001 0402030105000000 0000000000000000
// packet 0 0207 0000 00000000
// expect 1 0207 0000 00000001 0402030102000000 0000000000000000
// packet 0 0307 0000 00000000
// expect 1 0307 0000 00000001 0402030100020000 0000000000000000
// packet 0 0407 0000 00000000
// expect 1 0407 0000 00000001 0402030100000909 0000000000000000
// packet 0 0507 0000 00000000
// expect 1 0507 0000 00000001 0402030100000000 0a00000000000000
// packet 0 0707 0000 00000000
// expect 1 0707 0000 00000001 0402030100240000 0000000000000000
// packet 0 0607 0000 00000000
// expect 1 0607 0000 00000001 0402030100000000 0007000000000000
#define OWN_EGRESS
#include "include/turns.p4"

bit<8> early(inout bit<8> x, out bit<8> y, in bit<8> z) {
    x = x + 1;
    y = z;
    if (z > 1) {
        return x + 2;
    }
    y = 0xee;
    return 0;
}

control Leaves(inout bit<8> x, inout bit<8> y) {
    apply {
        x = 1;
        y = 2;
        exit;
    }
}

control Nested(inout bit<8> x, inout bit<8> y) {
    Leaves() leaves;
    action leave(inout bit<8> p, inout bit<8> q) {
        p = 3;
        q = 4;
        if (x != 0) {
            exit;
        }
        q = 5;
    }
    apply {
        if (y == 0) {
            leaves.apply(x, x);
        }
        leave(q = x, p = y);
        x = 0xee;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    Leaves() leaves;
    Nested() nested;
    bit<8> v = 0;
    action leave() {
        exit;
    }
    action stay() {
        v = 0x0a;
    }
    action use(inout bit<8> x, in bool y) {
        x = 0xee;
    }
    table t {
        key = { hdr.data.a : exact; }
        actions = { leave; stay; }
        const default_action = leave();
        const entries = { 5 : stay(); }
    }
    apply {
        sm.egress_spec = 1;
        hdr.res.setValid();
        bit<8> w;
        v = 1;
        hdr.res.r0 = early(v, w, 3);
        hdr.res.r1 = v;
        hdr.res.r2 = w;
        // y is copied out behind x: what came of x is gone.
        hdr.res.r3 = early(w, w, 2) == 6 && w == 2 ? 8w1 : 0;
        if (hdr.data.a == 1) {
            hdr.res.r4 = 5;
            exit;
        }
        if (hdr.data.a == 2) {
            leaves.apply(hdr.res.r4, hdr.res.r4);
            hdr.res.r4 = 0xee;
        }
        if (hdr.data.a == 3) {
            meta.v = 0;
            nested.apply(hdr.res.r5, meta.v);
        }
        if (hdr.data.a == 7) {
            meta.v = 1;
            hdr.res.r5 = 1;
            nested.apply(hdr.res.r5, meta.v);
        }
        v = 9;
        hdr.res.r6 = hdr.data.a == 4 ? v : 0;
        hdr.res.r7 = hdr.res.r6;
        if (hdr.data.a >= 4 && hdr.data.a != 6) {
            // The table leaves: x is not given back, since the call never begins.
            use(hdr.res.r7, t.apply().hit);
            hdr.res.r7 = 0;
            hdr.res.r8 = v;
        }
        if (hdr.data.a == 6) {
            hdr.res.r9 = 7;
            hdr.res.r9 = (t.apply().hit ? 8w1 : 2) + bump(hdr.res.r9);
        }
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        hdr.data.d = 1;
        if (meta.v == 3) {
            hdr.res.r5 = hdr.res.r5 + 0x20;
        }
    }
}

#include "include/pipe.p4"
