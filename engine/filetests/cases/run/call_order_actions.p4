// The order of arguments of actions, called and bound in a table's list, with and without directions.
// packet 0 0507 0000 00000000
// expect 1 0507 0000 00000000 033455060811 0b14 070f 0304 08 000000
#include "include/turns.p4"

action add_global(inout bit<8> x, in bit<8> y) {
    x = x + y;
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    bit<8> v = 1;
    bit<8> w = 1;
    action add(inout bit<8> x, in bit<8> y) {
        x = x + y;
        // Gone when x is copied out.
        v = v + 16;
    }
    action put(bit<8> y, bit<8> z) {
        hdr.res.r1 = cat(y, z);
    }
    action two(inout bit<8> x, inout bit<8> y) {
        x = x + 1;
        y = y + 2;
    }
    action listed(inout bit<8> x, in bit<8> y, bit<8> k) {
        x = x + y + k;
    }
    action listed_in_order(inout bit<8> x, in bit<8> y) {
        x = x + y;
    }
    action listed_names(inout bit<8> x, inout bit<8> y) {
        x = 3;
        y = 4;
    }
    table names {
        actions = { listed(y = bump(w), x = w); }
        const default_action = listed(3);
    }
    table positions {
        actions = { listed_in_order(w, bump(w)); }
        const default_action = listed_in_order(w, bump(w));
    }
    table y_first {
        actions = { listed_names(y = v, x = v); }
        const default_action = listed_names();
    }
    table x_first {
        actions = { listed_names(v, v); }
        const default_action = listed_names();
    }
    apply {
        sm.egress_spec = 1;
        hdr.res.setValid();
        add(v, bump(v));
        hdr.res.r0 = v;
        put(v, bump(v));
        bit<8> kept = hdr.res.r1;
        put(z = bump(v), y = v);
        hdr.res.r2 = hdr.res.r1;
        hdr.res.r1 = kept;
        two(y = v, x = v);
        hdr.res.r3 = v;
        two(v, v);
        hdr.res.r4 = v;
        add_global(v, bump(v));
        hdr.res.r5 = v;
        meta.s[0].setValid();
        meta.s[1].setValid();
        meta.s[0].v = 10;
        meta.s[1].v = 20;
        bit<32> i = 0;
        add(meta.s[i].v, (bit<8>)step(i));
        hdr.res.r6 = meta.s[0].v;
        hdr.res.r7 = meta.s[1].v;
        names.apply();
        hdr.res.r8 = w;
        positions.apply();
        hdr.res.r9 = w;
        y_first.apply();
        hdr.res.r10 = v;
        x_first.apply();
        hdr.res.r11 = v;
        v = 3;
        // The action runs with what v was, whatever it does to v meanwhile.
        add(x = w, y = v);
        w = w - 0x0f + 5;
        hdr.res.r12 = w;
        hdr.res.r13 = 0;
        hdr.res.r14 = 0;
        hdr.res.r15 = 0;
    }
}

#include "include/pipe.p4"
