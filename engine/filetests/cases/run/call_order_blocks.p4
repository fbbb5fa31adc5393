// The order of arguments of controls and of parsers within parsers, applied at one place and at several.
// packet 0 0507 0000 00000000 6162 6364
// expect 1 0507 0000 00000000 2303230212330c25 0b63 6164 34040000
#define OWN_PARSER
#include "include/turns.p4"

parser Sub(packet_in packet, inout bit<8> x, in bit<8> y, out bit<8> z) {
    state start {
        z = cat(x, y);
        x = x + 1;
        transition accept;
    }
}

// One element of a stack that begins empty at each call.
parser Elements(packet_in packet, out elem_h[2] s) {
    state start {
        packet.extract(s.next);
        transition accept;
    }
}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    Sub() sub;
    Elements() elements;
    elem_h skipped;
    state start {
        packet.extract(hdr.data);
        hdr.res.setValid();
        meta.v = 2;
        sub.apply(packet, meta.v, bump(meta.v), hdr.res.r0);
        hdr.res.r1 = meta.v;
        meta.w = 3;
        elements.apply(packet, meta.s);
        packet.extract(skipped);
        elements.apply(packet, meta.t);
        packet.extract(skipped);
        hdr.res.r9 = meta.t[0].isValid() ? meta.t[0].v : 0;
        hdr.res.r10 = meta.s[0].isValid() ? meta.s[0].v : 0;
        hdr.res.r11 = skipped.v;
        transition accept;
    }
}

control Inner(inout bit<8> x, in bit<8> y, out bit<8> z) {
    apply {
        z = cat(x, y);
        x = x + 1;
    }
}

// h is invalid when it begins, though g is the same place.
control More(out elem_h h, in elem_h g) {
    apply {
        if (!h.isValid()) {
            h = g;
            h.v = h.v + 1;
        }
    }
}

control Two(inout bit<8> x, inout bit<8> y, in bit<8> z) {
    apply {
        x = x + z;
        y = y + 1;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    Inner() once;
    Inner() twice;
    More() more;
    Two() two;
    apply {
        sm.egress_spec = 1;
        bit<8> v = 2;
        once.apply(v, bump(v), hdr.res.r2);
        v = 1;
        twice.apply(v, bump(v), hdr.res.r4);
        hdr.res.r3 = v;
        twice.apply(y = bump(v), z = hdr.res.r5, x = v);
        meta.s[0].setValid();
        meta.s[0].v = 11;
        more.apply(meta.s[0], meta.s[0]);
        hdr.res.r6 = meta.s[0].isValid() ? meta.s[0].v : 0;
        v = 0x11;
        two.apply(z = bump(v), y = v, x = v);
        // x: 0x12 + 0x12, copied out behind y.
        hdr.res.r7 = v + 1;
        v = 10;
        two.apply(v, v, bump(v));
        hdr.res.r8 = v;
        meta.v = 3;
        Inner.apply(meta.v, bump(meta.v), hdr.res.r12);
        hdr.res.r13 = meta.v;
        hdr.res.r14 = 0;
        hdr.res.r15 = 0;
    }
}

#include "include/pipe.p4"
