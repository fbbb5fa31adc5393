// An assignment finds the place on its left first, then the value on its right, then it copies; `a op= b` finds the
// place once (P4-16 12.1).
// packet 0 0507 0000 00000000
// expect 1 0507 0000 00000000 0114021702181515 2163362a19310421
#include "include/turns.p4"

bit<8> grow(inout metadata_t m) {
    m.p.a = m.p.a + 1;
    m.s[1].v = m.s[1].v + 1;
    return 1;
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        hdr.res.setValid();
        meta.s[0].setValid();
        meta.s[1].setValid();
        meta.s[0].v = 10;
        meta.s[1].v = 20;
        bit<32> i = 0;
        meta.s[i].v = (bit<8>)step(i);
        hdr.res.r0 = meta.s[0].v;
        hdr.res.r1 = meta.s[1].v;
        // The old value of s[1] and what step gives: 20 + 2.
        meta.s[i].v += (bit<8>)step(i);
        hdr.res.r2 = (bit<8>)i;
        hdr.res.r3 = meta.s[1].v + 1;
        i = 0;
        meta.s[step(i)].v += (bit<8>)step(i);
        hdr.res.r4 = (bit<8>)i;
        hdr.res.r5 = meta.s[1].v;
        bit<8> v = 10;
        v += bump(v);
        hdr.res.r6 = v;
        v = 10;
        v = v + bump(v);
        hdr.res.r7 = v;
        meta.p = { 1, 2 };
        meta.p = { meta.p.b, meta.p.a };
        hdr.res.r8 = cat(meta.p.a, meta.p.b);
        meta.p = { b = bump(meta.p.a), a = bump(meta.p.b) + bump(meta.p.a) };
        hdr.res.r9 = cat(meta.p.a, meta.p.b);
        meta.p = { b = meta.p.a, a = meta.p.b };
        hdr.res.r10 = cat(meta.p.a, meta.p.b);
        v = 0x1f;
        v[7:4] = bump(v)[7:4];
        v[3:0] = v[7:4] + 8;
        hdr.res.r11 = v;
        bit<8> at = 0;
        v = 0;
        // 5 at bit 0, then 2 + 2 in place of what stands at bit 1.
        v[at +: 4] = bump(at)[3:0] + 4;
        v[at +: 4] += bump(at)[3:0];
        v = v + 0x10;
        hdr.res.r12 = v;
        meta.p.a = 3;
        meta.s[1].v = 0x30;
        elem_h e = { meta.s[1].v + grow(meta) };
        hdr.res.r13 = e.v;
        meta.p.a = meta.p.a - grow(meta);
        hdr.res.r14 = meta.p.a + 1 + (meta.s[1].v - 0x32);
        // swapped by way of values
        meta.s[0].v = 1;
        meta.s[1].v = 2;
        meta.s = { meta.s[1], meta.s[0] };
        hdr.res.r15 = cat(meta.s[0].v, meta.s[1].v);
    }
}

#include "include/pipe.p4"
