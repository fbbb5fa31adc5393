// RED by steps (p4src/controls/ecn_red_steps.p4, docs/algorithms/marking.md#red): which codepoints are marked, and
// counted. From a depth of 5 on everything capable is.
// add I.red.steps 2 5..0x7ffff => I.red.set_always() priority 1
//
// Codepoint, depth.
// packet 0 02 00000004
// expect 1 02 00000004
// packet 0 02 00000005
// expect 1 03 00000005
// packet 0 01 00000005
// expect 1 03 00000005
// expect_counter I.red.marked_packets 2 2
// Not capable, and marked before.
// packet 0 00 00000005
// expect 1 00 00000005
// packet 0 03 00000005
// expect 1 03 00000005
// expect_counter I.red.marked_packets 2 2
// A probability of nothing marks nothing.
// add I.red.steps 2 1..2 => I.red.set_probability(0) priority 1
// packet 0 02 00000001
// expect 1 02 00000001
#include <core.p4>
#include <v1model.p4>
#include "../../../../p4src/controls/ecn_red_steps.p4"

header data_h {
    bit<6>  reserved;
    bit<2>  ecn;
    bit<32> depth;
}

struct headers_t {
    data_h data;
}

struct metadata_t {}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    EcnRedSteps() red;

    apply {
        sm.egress_spec = 1;
        red.apply(hdr.data.ecn, 2, (queue_depth_t)hdr.data.depth);
    }
}

#include "include/pipe.p4"
