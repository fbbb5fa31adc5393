// D3's rule (p4src/controls/d3.p4, docs/algorithms/d3-rcp.md#d3-switch) where grants meet their limits, with 1/2 for two
// flows and for the largest number of flows.
// add I.rule.reciprocals 2 => I.rule.set_reciprocal(0x7fffffff)
// add I.rule.reciprocals 65535 => I.rule.set_reciprocal(0x7fffffff)
//
// Given, wanted, flows; the desire, capacity, base; whether clamped; then the grant. As published: desire and share,
// which is half of 1000 - 100 - 400, where more is left than the desire ...
// packet 0 000001f4 000000000064 0001 00000190 000003e8 00000000 00 ffffffff
// expect 1 000001f4 000000000064 0001 00000190 000003e8 00000000 00 00000289
// ... and what is left where it is the desire.
// packet 0 00000258 000000000064 0001 00000190 000003e8 00000000 00 ffffffff
// expect 1 00000258 000000000064 0001 00000190 000003e8 00000000 00 00000190
// Clamped: what is left where desire and share are more; both where they are less, by one.
// packet 0 000001f4 000000000064 0001 00000190 000003e8 00000000 01 ffffffff
// expect 1 000001f4 000000000064 0001 00000190 000003e8 00000000 01 000001f4
// packet 0 0000015e 000000000064 0001 00000190 000003e8 00000000 01 ffffffff
// expect 1 0000015e 000000000064 0001 00000190 000003e8 00000000 01 00000289
// A grant of the base rate is one, a lower one is the base rate.
// packet 0 00000258 000000000064 0001 00000190 000003e8 00000190 00 ffffffff
// expect 1 00000258 000000000064 0001 00000190 000003e8 00000190 00 00000190
// packet 0 00000258 000000000064 0001 00000190 000003e8 00000191 00 ffffffff
// expect 1 00000258 000000000064 0001 00000190 000003e8 00000191 00 00000000
// Nothing is left of a capacity that was given away, and no share of one that others want.
// packet 0 000003e9 000000000064 0001 00000190 000003e8 00000000 00 ffffffff
// expect 1 000003e9 000000000064 0001 00000190 000003e8 00000000 00 00000000
// packet 0 000001f4 0000000003e9 0001 00000190 000003e8 00000000 00 ffffffff
// expect 1 000001f4 0000000003e9 0001 00000190 000003e8 00000000 00 00000190
// The number of flows stops at its largest.
// packet 0 000001f4 000000000064 ffff 00000190 000003e8 00000000 00 ffffffff
// expect 1 000001f4 000000000064 ffff 00000190 000003e8 00000000 00 00000289
#include <core.p4>
#include <v1model.p4>
#include "../../../../p4src/include/headers.p4"
#include "../../../../p4src/include/rate.p4"

header data_h {
    bit<32> given;
    bit<48> wanted_by_all;
    bit<16> flows;
    bit<32> wanted;
    bit<32> capacity;
    bit<32> base;
    bit<8>  is_clamped;
    bit<32> granted;
}

struct headers_t {
    data_h         data;
    ipv4_h         ipv4;
    rate_request_h rate_request;
    rate_hop_h     rate_hop;
}

struct metadata_t {}

#include "../../../../p4src/controls/d3.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    D3Rule() rule;

    apply {
        sm.egress_spec = 1;
        d3_account_t used;
        used.given = hdr.data.given;
        used.wanted = hdr.data.wanted_by_all;
        used.count = hdr.data.flows;
        rule.apply(used, hdr.data.wanted, hdr.data.capacity, hdr.data.base, hdr.data.is_clamped == 1, hdr.data.granted);
    }
}

#include "include/pipe.p4"
