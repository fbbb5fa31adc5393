// Arguments of functions are evaluated from left to right, inout ones are copied in at their turn, and what was written
// is copied out in the same order (P4-16 6.8).
// packet 0 0507 0000 00000000
// expect 1 0507 0000 00000000 5605070b14010a0b 1804156223346601
#include "include/turns.p4"

bit<8> both(inout bit<8> x, in bit<8> y) {
    return cat(x, y);
}

void give(out bit<8> x, in bit<8> y) {
    x = y + 1;
}

void three(inout bit<8> x, inout bit<8> y, in bit<8> z) {
    x = x + z;
    y = y + 1;
}

bit<8> more(inout elem_h h, in bit<8> y) {
    h.v = h.v + y;
    return h.v;
}

void sum(inout pair_t p, in bit<8> y) {
    p.a = p.a + p.b + y;
}

void add_low(inout bit<4> x, in bit<8> y) {
    x = x + y[3:0];
}

bit<8> one(inout bit<8> x) {
    x = 9;
    return 1;
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        hdr.res.setValid();
        hdr.res.r0 = both(hdr.data.a, bump(hdr.data.a));
        // The copy that was not changed goes back over what bump made of it.
        hdr.res.r1 = hdr.data.a;
        bit<8> v = 3;
        add_to(v, bump(v));
        hdr.res.r2 = v;
        // The element is chosen at its turn, once.
        meta.s[0].setValid();
        meta.s[1].setValid();
        meta.s[0].v = 10;
        meta.s[1].v = 20;
        bit<32> i = 0;
        add_to(meta.s[i].v, (bit<8>)step(i));
        hdr.res.r3 = meta.s[0].v;
        hdr.res.r4 = meta.s[1].v;
        hdr.res.r5 = (bit<8>)i;
        v = 8;
        give(v, bump(v));
        hdr.res.r6 = v;
        // Of two copies to one place the right one stays.
        three(v, v, bump(v));
        hdr.res.r7 = v;
        // Names: in the order written, not in that of the parameters.
        three(z = bump(v), y = v, x = v);
        hdr.res.r8 = v;
        bit<8> w = 1;
        add_to(y = bump(w), x = w);
        hdr.res.r9 = w;
        more(meta.s[1], wipe(meta.s[1]));
        hdr.res.r10 = meta.s[1].isValid() ? meta.s[1].v : 0;
        meta.p = { 1, 2 };
        sum(meta.p, bump(meta.p.b));
        hdr.res.r11 = cat(meta.p.a, meta.p.b);
        v = 0x21;
        add_low(v[3:0], bump(v));
        hdr.res.r12 = v;
        v = 3;
        hdr.res.r13 = cat(v, bump(v));
        v = 3;
        v = add_to(v, v);
        hdr.res.r14 = cat(v, v);
        v = one(v);
        hdr.res.r15 = v;
    }
}

#include "include/pipe.p4"
