// Which entry wins: the smallest `@priority`, the position standing for those without; or the written priority.
// packet 0 1100 0000 00000000
// expect 1 1103 0301 00000000
// packet 0 1000 0000 00000000
// expect 1 1001 0101 00000000
#include "include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    action put(bit<8> rank) {
        hdr.data.b = rank;
    }
    action put_c(bit<8> rank) {
        hdr.data.c[15:8] = rank;
    }
    action put_last(bit<8> rank) {
        hdr.data.c[7:0] = rank;
    }
    table annotated {
        key = { hdr.data.a: ternary; }
        actions = { put; }
        const entries = {
            0x10 &&& 0x10: put(1) @priority(3);
            0x11: put(2);
            0x01 &&& 0x01: put(3) @priority(1);
        }
    }
    table smallest_wins {
        key = { hdr.data.a: ternary; }
        actions = { put_c; }
        largest_priority_wins = false;
        entries = {
            priority = 30: 0x10 &&& 0x10: put_c(1);
            const priority = 20: 0x11: put_c(2);
            priority = 10: 0x01 &&& 0x01: put_c(3);
        }
    }
    table in_steps {
        key = { hdr.data.a: ternary; }
        actions = { put_last; }
        priority_delta = 10;
        entries = {
            priority = 30: 0x10 &&& 0x10: put_last(1);
            0x01 &&& 0x01: put_last(2);
            priority = 5: _: put_last(3);
        }
    }
    apply {
        sm.egress_spec = 1;
        annotated.apply();
        smallest_wins.apply();
        in_steps.apply();
    }
}

#include "include/pipe.p4"
