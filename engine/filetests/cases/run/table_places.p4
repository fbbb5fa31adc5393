// One table at several places, which ask for the hit, for the miss, for the action, or for nothing.
// add I.hits 1 => I.add(1)
// add I.acts 1 => I.add(1)
// add I.acts 2 => I.twice()
// add I.leaves 3 => I.leave()
// packet 0 0100 0000 00000000
// expect 1 0106 aa01 00000000
// packet 0 0200 0000 00000000
// expect 1 0202 bb02 00000000
// packet 0 0300 0000 00000000
// expect 1 0300 bb0f 00000000
// packet 0 0400 0000 00000000
// expect 1 0400 bb0f 000000ff
// The packet after one that left between two places.
// packet 0 0100 0000 00000000
// expect 1 0106 aa01 00000000
#include "include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    action add(bit<8> value) {
        hdr.data.b = hdr.data.b + value;
    }
    action twice() {
        hdr.data.b = hdr.data.b + 2;
    }
    action leave() {
        exit;
    }
    table hits {
        key = { hdr.data.a: exact; }
        actions = { add; NoAction; }
        default_action = NoAction();
    }
    table acts {
        key = { hdr.data.a: exact; }
        actions = { add; twice; NoAction; }
        default_action = NoAction();
    }
    table leaves {
        key = { hdr.data.a: exact; }
        actions = { leave; NoAction; }
        default_action = NoAction();
    }
    apply {
        sm.egress_spec = 1;
        hits.apply();
        if (hits.apply().hit) {
            hdr.data.c = 0xaa00;
        }
        if (hits.apply().miss) {
            hdr.data.c = 0xbb00;
        }
        hits.apply();
        switch (acts.apply().action_run) {
            add: { hdr.data.c = hdr.data.c | 1; }
            twice: { hdr.data.c = hdr.data.c | 2; }
            default: { hdr.data.c = hdr.data.c | 0xf; }
        }
        if (hdr.data.a == 1 && !hits.apply().hit) {
            hdr.data.c = 0;
        }
        if (hdr.data.a == 3) {
            leaves.apply();
            hdr.data.d = 1;
        }
        leaves.apply();
        if (hdr.data.a == 4) {
            hdr.data.d = 0xff;
        }
    }
}

#include "include/pipe.p4"
