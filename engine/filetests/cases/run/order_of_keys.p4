// Each key of a table is evaluated before the next one (P4-16 14.2.3); an exit on the way stops all that is under way.
// add I.t 5 2 6 => I.hit(1)
// add I.t 5 4 5 => I.hit(2)
// add I.last 4 5 => I.hit(3)
// add I.with_hit 9 1 => I.hit(4)
// packet 0 0507 0000 00000000
// expect 1 0507 0000 00000000 0106030400000000 0000000000000000
// packet 0 0607 0000 00000000
// expect 1 0607 0000 00000000 0007000000000000 0000000000000000
#include "include/turns.p4"

// The example of the text.
bit<8> f1(in bit<8> a, inout bit<8> b) {
    b = a + 1;
    return a >> 1;
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    bit<8> x;
    bit<8> y;
    action hit(bit<8> value) {
        meta.v = value;
    }
    action inner() {
        x = x + 4;
    }
    action leave() {
        exit;
    }
    table t {
        key = {
            y        : exact @name("y_before");
            f1(x, y) : exact @name("f1");
            y        : exact;
        }
        actions = { hit; NoAction; }
    }
    table last {
        key = {
            bump(x) - 1 : exact @name("old");
            x           : exact;
        }
        actions = { hit; NoAction; }
    }
    table one {
        key = { x : exact; }
        actions = { inner; NoAction; }
        const entries = { 9 : inner(); }
    }
    table with_hit {
        key = {
            x                         : exact;
            (bit<1>)(one.apply().hit) : exact @name("hit");
        }
        actions = { hit; NoAction; }
    }
    table leaves {
        key = { hdr.data.a : exact; }
        actions = { leave; NoAction; }
        const entries = { 6 : leave(); }
    }
    table never {
        key = { (bit<1>)(leaves.apply().hit) : exact @name("never"); }
        actions = { hit; }
        const default_action = hit(0xee);
    }
    apply {
        sm.egress_spec = 1;
        hdr.res.setValid();
        x = 5;
        y = hdr.data.a;
        t.apply();
        hdr.res.r0 = meta.v;
        hdr.res.r1 = hdr.data.a == 5 ? y : 7;
        x = 4;
        meta.v = 0;
        if (hdr.data.a == 5) {
            last.apply();
            hdr.res.r2 = meta.v;
            x = 9;
            with_hit.apply();
            hdr.res.r3 = meta.v;
            x = 0;
        }
        never.apply();
        hdr.res.r4 = hdr.data.a == 5 ? 8w0 : 0xff;
    }
}

#include "include/pipe.p4"
