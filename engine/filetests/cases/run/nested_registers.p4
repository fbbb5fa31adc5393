// Registers of headers, of structs in structs and of stacks: what was written comes back, invalid headers invalid.
// packet 0 0102 0304 05060708
// expect 1 0000 0000 00000002
// packet 0 1112 1314 15161718
// expect 1 0104 0301 05060708
// expect_register I.whole 1 0x11112131415161718
// expect_register I.nested 0 0x23130801
#include "include/v1.p4"

struct inner_t {
    bit<8> a;
    bit<4> b;
}

struct outer_t {
    bit<8>  first;
    inner_t inner;
    bool    seen;
    bit<11> rest;
}

struct pair_t {
    data_h[2] both;
}

header small_h {
    bit<8> x;
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    register<data_h>(2) whole;
    register<outer_t>(1) nested;
    register<pair_t>(1) pairs;
    register<small_h>(1) smalls;
    apply {
        sm.egress_spec = 1;
        data_h before;
        whole.read(before, 1);
        whole.write(1, hdr.data);
        outer_t kept;
        nested.read(kept, 0);
        nested.write(0, { hdr.data.b + 0x11, { hdr.data.c[7:0] - 1, 0 }, true, 1 });
        pair_t pair;
        pairs.read(pair, 0);
        pair.both[1].setValid();
        pair.both[1].c = pair.both[1].c + 1;
        pairs.write(0, pair);
        small_h small;
        smalls.read(small, 0);
        bit<32> state = 0;
        if (!before.isValid()) {
            state = 2;
        }
        if (pair.both[0].isValid() || small.isValid()) {
            state = 4;
        }
        hdr.data.a = before.isValid() ? before.a : 0;
        hdr.data.b = kept.seen ? kept.inner.a + 1 : 0;
        hdr.data.c = 0;
        hdr.data.d = state;
        if (before.isValid()) {
            hdr.data.c = before.c[15:8] ++ (bit<8>) kept.rest[7:0];
            hdr.data.d = before.d;
        }
    }
}

#include "include/pipe.p4"
