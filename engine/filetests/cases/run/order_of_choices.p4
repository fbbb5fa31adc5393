// select, switch, loops and conditions: what chooses is evaluated once, from left to right, before what is chosen.
// packet 0 0507 0000 00000000
// expect 1 0507 0000 00000000 0302050403040105 0706000000000000
#define OWN_PARSER
#include "include/turns.p4"

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.data);
        hdr.res.setValid();
        meta.v = 1;
        transition select(meta.v, bump(meta.v), meta.v) {
            (2, 2, 2): wrong;
            (1, 2, 2): right;
            default: wrong;
        }
    }
    state wrong {
        hdr.res.r0 = 0xee;
        transition accept;
    }
    state right {
        hdr.res.r0 = meta.v + 1;
        // The operand on the right has no place; it does not count.
        bool none = meta.v == 0 && meta.s.last.v == 0;
        bool any = meta.v != 0 || meta.s.last.v == 0;
        hdr.res.r1 = any && !none ? 8w2 : 0;
        transition again;
    }
    state again {
        // A set of values that is known at run time only.
        transition select(meta.v) {
            meta.v + 1 .. 8w10 : wrong;
            meta.v : third;
            default: wrong;
        }
    }
    state third {
        hdr.res.r2 = meta.v + 3;
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        bit<8> v = 3;
        switch (bump(v)) {
            3: { hdr.res.r3 = 0xee; }
            4: { v = 3; hdr.res.r3 = 4; }
            default: { hdr.res.r3 = 0xdd; }
        }
        hdr.res.r4 = v;
        // Ends of a range: 1 + 1 and v, once.
        v = 1;
        bit<8> rounds = 0;
        for (bit<8> k in bump(v) .. v + 3) {
            v = v + 1;
            rounds = rounds + 1;
        }
        hdr.res.r5 = rounds;
        hdr.res.r6 = v - 5;
        // A list is evaluated before the first round.
        v = 1;
        bit<8> total = 0;
        for (bit<8> k in { v, bump(v), v }) {
            total = total + k;
            v = 100;
        }
        hdr.res.r7 = total;
        v = 0;
        for (bit<8> k = 0; bump(v) < 6; k = k + bump(v) - v) {
            if (k > 100) {
                break;
            }
        }
        hdr.res.r8 = v;
        v = 4;
        if (v == 4 && bump(v) == 5 && (v == 4 || bump(v) == 6) && v == 6) {
            hdr.res.r9 = v;
        }
    }
}

#include "include/pipe.p4"
