// Whole stacks and unions as arguments: a copy is made before a later argument changes which headers are valid.
// packet 0 0507 0000 00000000
// expect 1 0507 0000 00000000 0102120003020701 0102040305000000
#include "include/turns.p4"

header wide_h {
    bit<16> v;
}

header_union either_t {
    elem_h one;
    wide_h two;
}

bit<8> push(inout elem_h[2] s) {
    s.push_front(1);
    s[0].setValid();
    s[0].v = 9;
    return 1;
}

// What the first argument's copy holds.
bit<8> look(inout elem_h[2] s, in bit<8> y) {
    bit<8> seen = cat(s[0].v, s[1].v);
    s[0].v = s[0].v + y;
    return seen;
}

bit<8> other(inout either_t u) {
    u.two.setValid();
    u.two.v = 5;
    return 7;
}

bit<8> which(inout either_t u, in bit<8> y) {
    return (u.one.isValid() ? 8w1 : 0) | (u.two.isValid() ? 8w2 : 0);
}

bit<8> read_only(in either_t u, in bit<8> y) {
    return (u.one.isValid() ? 8w1 : 0) | (u.two.isValid() ? 8w2 : 0);
}

bit<8> element(inout elem_h h, inout elem_h[2] s) {
    h.v = h.v + 1;
    s[0].v = s[1].v + 1;
    return h.v;
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    either_t u;
    apply {
        sm.egress_spec = 1;
        hdr.res.setValid();
        meta.s[0].setValid();
        meta.s[1].setValid();
        meta.s[0].v = 1;
        meta.s[1].v = 2;
        bit<8> seen = look(meta.s, push(meta.s));
        hdr.res.r0 = seen >> 4;
        hdr.res.r1 = seen & 15;
        // 1 + 1 and 2: what push did is gone.
        hdr.res.r2 = cat(meta.s[0].v - 1, meta.s[1].v);
        hdr.res.r3 = meta.s[0].isValid() && meta.s[1].isValid() ? 8w0 : 1;
        u.one.setValid();
        u.one.v = 3;
        hdr.res.r4 = which(u, other(u)) + 2;
        hdr.res.r5 = u.one.isValid() && !u.two.isValid() ? 8w2 : 0;
        hdr.res.r6 = read_only(u, other(u)) + 6;
        hdr.res.r7 = !u.one.isValid() && u.two.isValid() ? 8w1 : 0;
        hdr.res.r8 = read_only(y = other(u), u = u) - 1;
        // An element and its stack: both are copies, and the stack is copied out behind.
        meta.s[0].v = 1;
        meta.s[1].v = 3;
        hdr.res.r9 = element(meta.s[0], meta.s);
        hdr.res.r10 = meta.s[0].v;
        hdr.res.r11 = meta.s[1].v;
        // The other way around the element's copy stays.
        meta.s[0].v = 4;
        element(s = meta.s, h = meta.s[0]);
        hdr.res.r12 = meta.s[0].v;
        hdr.res.r13 = 0;
        hdr.res.r14 = 0;
        hdr.res.r15 = 0;
    }
}

#include "include/pipe.p4"
