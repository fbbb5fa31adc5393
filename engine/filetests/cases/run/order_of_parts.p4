// Parts of expressions are evaluated from left to right, those of && || ?: only where they count (P4-16 8.1); values
// written out with names in the order written.
// packet 0 0507 0000 00000000
// expect 1 0507 0000 00000000 050845027778a9bb 1b0a1207fcd00e1f
#include "include/turns.p4"

bit<16> wide(inout bit<8> x) {
    x = x + 1;
    return 8w0 ++ x;
}

bit<0> nothing(inout bit<8> x) {
    x = x + 1;
    return 0;
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        hdr.res.setValid();
        bit<8> v = 2;
        hdr.res.r0 = v + bump(v);
        hdr.res.r1 = bump(v) + v;
        hdr.res.r2 = v[3:0] ++ bump(v)[3:0];
        hdr.res.r3 = v == bump(v) ? 8w1 : 2;
        // One of the two sides only.
        v = 6;
        hdr.res.r4 = cat(bump(v) == 7 ? v : bump(v), v);
        meta.p = { v, bump(v) };
        hdr.res.r5 = cat(meta.p.a, meta.p.b);
        meta.p = { b = bump(v), a = bump(v) };
        hdr.res.r6 = cat(meta.p.a, meta.p.b);
        meta.p = { b = bump(v), a = v };
        hdr.res.r7 = cat(meta.p.a, meta.p.b);
        bool same = meta.p == (pair_t){ b = 0x0b, a = bump(meta.p.a) };
        meta.p.a = meta.p.a + (same ? 8w1 : 0);
        hdr.res.r8 = 16 + meta.p.a - 1;
        v = 10;
        bool none = v == 0 && bump(v) == 1;
        bool any = v != 0 || bump(v) == 1;
        hdr.res.r9 = any && !none ? v : 0;
        tuple<bit<8>, bit<8>> t = { bump(v) & 1, bump(v) & 2 };
        // Its parts: 1 and 0; v is 12.
        hdr.res.r10 = cat(t[0], t[1]) + 2 + (v - 12);
        v = 1;
        hdr.res.r11 = v + (v << bump(v)) + (bit<8>)(bit<1>)(v > 1 && v < bump(v)) + 1;
        // Left: all bits of -3 and above; the cast is of what the call gave.
        hdr.res.r12 = -(bit<8>)wide(v);
        v = 0x0c;
        hdr.res.r13 = (bit<8>)(bit<4>)bump(v) << 4;
        v = 0x0e;
        hdr.res.r14 = v ++ nothing(v);
        hdr.res.r15 = (v |+| bump(v)) | (v & ~bump(v));
    }
}

#include "include/pipe.p4"
