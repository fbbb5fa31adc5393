// The order of arguments of extern functions and methods.
// register I.reg 1 0x21
// register I.reg 2 0x32
// packet 0 0507 0000 00000000 61 62
// expect 1 0507 0000 00000000 61 2114323205050803 6101040706020000 62
// expect_register I.reg 3 4
// packet 0 0507 0000 00000000 71 72
// expect 1 0507 0000 00000000 71 2114323205050803 7101040706020000 72
#define OWN_PARSER
#include "include/turns.p4"

error { Wrong }

error wrong(inout bit<8> x) {
    x = x + 1;
    return error.Wrong;
}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.data);
        hdr.res.setValid();
        meta.v = 1;
        verify(meta.v == 1, wrong(meta.v));
        packet.extract(hdr.got.next);
        hdr.res.r15 = 1;
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    register<bit<8>>(8) reg;
    apply {
        sm.egress_spec = 1;
        meta.s[0].setValid();
        meta.s[1].setValid();
        meta.s[0].v = 10;
        meta.s[1].v = 20;
        bit<32> i = 0;
        reg.read(meta.s[i].v, step(i));
        hdr.res.r0 = meta.s[0].v;
        hdr.res.r1 = meta.s[1].v;
        reg.read(index = step(i), result = hdr.res.r2);
        reg.read(index = i, result = meta.s[i - 2].v);
        hdr.res.r3 = meta.s[0].v;
        reg.write(step(i), (bit<8>)step(i));
        bit<8> v = 4;
        bit<32> j = 0;
        // Both ends of the range are 5.
        random(meta.s[j].v, bump(v), v);
        hdr.res.r4 = meta.s[0].v;
        hdr.res.r5 = v;
        random(hi = bump(v) + 2, lo = v + 2, result = v);
        hdr.res.r6 = v;
        v = 1;
        // The base is the value from before.
        hash(v, HashAlgorithm.identity, v, { bump(v) }, 8w16);
        hdr.res.r7 = v;
        hdr.res.r8 = hdr.got[0].isValid() ? hdr.got[0].v : 0;
        hdr.res.r9 = sm.parser_error == error.NoError ? 8w1 : 0;
        hdr.res.r10 = (bit<8>)i;
        // An element is found once, of a built-in method too.
        i = 0;
        v = 6;
        meta.s[step(i)].setInvalid();
        hdr.res.r11 = meta.s[0].isValid() && !meta.s[1].isValid() && i == 1 ? 8w7 : 0;
        hdr.res.r12 = v;
        hdr.res.r13 = meta.v;
        hdr.res.r14 = 0;
        hdr.res.r15 = hdr.res.r15 - 1;
    }
}

#include "include/pipe.p4"
