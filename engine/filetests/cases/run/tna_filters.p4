// TNA: low-pass filters and WRED, by arrays and by entries.
// add I.rates 4 => I.rate()
// add I.rates 5 => I.rate()
// add I.drops 4 => I.drop()
// Without a configuration a filter gives back what it is given, and WRED drops nothing.
// packet 0 01 02 00000064
// expect 1 01 02 00000064
// packet 0 03 02 00000064
// expect 1 03 02 000000ff
// Samples: the first is the average; after one time constant 1 - 1/e of a step is there.
// set_filter I.average 2 lpf sample 1000 2000 0
// packet 0 01 02 000003e8
// expect 1 01 02 000003e8
// time 1000
// packet 0 01 02 00000bb8
// expect 1 01 02 000008d8
// It falls by the other time constant: 2264 * exp(-1/2).
// time 2000
// packet 0 01 02 00000000
// expect 1 01 02 0000055d
// Another cell has another average.
// packet 0 01 03 00000009
// expect 1 01 03 00000009
// Rates: a sum that fades, scaled down by two bits.
// set_direct_filter I.rates 4 => lpf rate 0 1000 2
// packet 0 02 04 00000190
// expect 1 02 04 00000064
// packet 0 02 04 00000190
// expect 1 02 04 000000c8
// time 3000
// packet 0 02 04 00000000
// expect 1 02 04 00000049
// An entry that nobody configured.
// packet 0 02 05 00000190
// expect 1 02 05 00000190
// WRED: the average is the sample where the time constant is 0.
// set_filter I.red 0 wred 0 100 200 0.5
// packet 0 03 00 00000063
// expect 1 03 00 000000ff
// packet 0 03 00 000000c8
// expect 1 03 00 00000001
// Between the thresholds chance decides, which is none here.
// set_filter I.red 0 wred 0 100 200 0
// packet 0 03 00 000000c7
// expect 1 03 00 000000ff
// set_direct_filter I.drops 4 => wred 0 10 10 1
// packet 0 04 04 00000009
// expect 1 04 04 00000000
// packet 0 04 04 0000000a
// expect 1 04 04 00000007
#include "include/tna_head.p4"

control I(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t intr,
          in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) {
    Lpf<bit<32>, bit<8>>(8) average;
    DirectLpf<bit<32>>() entry_rate;
    Wred<bit<32>, bit<8>>(8, 1, 255) red;
    DirectWred<bit<32>>(7, 0) entry_red;
    action rate() {
        hdr.data.c = entry_rate.execute(hdr.data.c);
    }
    table rates {
        key = { hdr.data.b: exact; }
        actions = { rate; NoAction; }
        const default_action = NoAction;
        filters = entry_rate;
        size = 16;
    }
    action drop() {
        hdr.data.c = 24w0 ++ entry_red.execute(hdr.data.c);
    }
    table drops {
        key = { hdr.data.b: exact; }
        actions = { drop; NoAction; }
        const default_action = NoAction;
        filters = entry_red;
        size = 16;
    }
    apply {
        tm.ucast_egress_port = 1;
        tm.bypass_egress = 1;
        if (hdr.data.a == 1) {
            hdr.data.c = average.execute(hdr.data.c, hdr.data.b);
        } else if (hdr.data.a == 2) {
            rates.apply();
        } else if (hdr.data.a == 3) {
            hdr.data.c = 24w0 ++ red.execute(hdr.data.c, hdr.data.b);
        } else {
            drops.apply();
        }
    }
}

#include "include/tna_tail.p4"
