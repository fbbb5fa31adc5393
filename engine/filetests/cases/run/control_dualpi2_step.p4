// One step of DualPI2's controller (p4src/controls/dualpi2.p4, docs/algorithms/prague.md#dualpi2) at its ends:
// base, alpha, beta, decay, target, delay, before and idle in 32 bits each, then the coupling's shift.
// alpha (delay - target) in units of 2^-16: 3 * 0x20000 * (500 - 100) / 2^16 is 0x960 with alpha of three times 2.
// packet 0 00000064 00060000 00000000 00000000 00000064 000001f4 00000000 00000000 01
// expect 1 000009c4 00060000 00000000 00000000 00000064 000001f4 00000000 00000000 01
// beta (delay - before), a fall: 0x7d0 - 2 * (500 - 300).
// packet 0 000007d0 00000000 00020000 00000000 00000064 0000012c 000001f4 00000000 01
// expect 1 00000640 00000000 00020000 00000000 00000064 0000012c 000001f4 00000000 01
// decay * idle: 0x640 - 1000 / 2.
// packet 0 00000640 00000000 00000000 00008000 00000000 00000000 00000000 000003e8 01
// expect 1 0000044c 00000000 00000000 00008000 00000000 00000000 00000000 000003e8 01
// It stops at 0, and at the probability that the coupling makes 1.
// packet 0 00000005 00000000 00020000 00000000 00000000 00000000 00000003 00000000 01
// expect 1 00000000 00000000 00020000 00000000 00000000 00000000 00000003 00000000 01
// packet 0 7ffffffe 00010000 00000000 00000000 00000000 00000001 00000000 00000000 01
// expect 1 7fffffff 00010000 00000000 00000000 00000000 00000001 00000000 00000000 01
// packet 0 7fffffff 00010000 00000000 00000000 00000000 00000001 00000000 00000000 01
// expect 1 7fffffff 00010000 00000000 00000000 00000000 00000001 00000000 00000000 01
// packet 0 fffffff0 00010000 00000000 00000000 00000000 00000020 00000000 00000000 00
// expect 1 ffffffff 00010000 00000000 00000000 00000000 00000020 00000000 00000000 00
// Sums of products beyond 64 bits stay there: gains of 2^31 + 1 by 2^32 - 1, twice.
// packet 0 00000000 80000001 80000001 00000000 00000000 ffffffff 00000000 00000000 00
// expect 1 ffffffff 80000001 80000001 00000000 00000000 ffffffff 00000000 00000000 00
// packet 0 ffffffff 80000001 80000001 00000000 ffffffff 00000000 ffffffff 00000000 00
// expect 1 00000000 80000001 80000001 00000000 ffffffff 00000000 ffffffff 00000000 00
// packet 0 ffffffff 80000001 00000000 80000001 ffffffff 00000000 00000000 ffffffff 00
// expect 1 00000000 80000001 00000000 80000001 ffffffff 00000000 00000000 ffffffff 00
#include <core.p4>
#include <v1model.p4>
#include "../../../../p4src/controls/dualpi2.p4"

header data_h {
    bit<32> base;
    bit<32> alpha;
    bit<32> beta;
    bit<32> decay;
    bit<32> target;
    bit<32> delay;
    bit<32> before;
    bit<32> idle;
    bit<4>  reserved;
    bit<4>  shift;
}

struct headers_t {
    data_h data;
}

struct metadata_t {}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    DualPi2Step() step;

    apply {
        sm.egress_spec = 1;
        dualpi2_port_t port;
        port.target = hdr.data.target;
        port.interval = 0;
        port.alpha = hdr.data.alpha;
        port.beta = hdr.data.beta;
        port.decay = hdr.data.decay;
        port.l4s_step = 0;
        port.coupling_shift = hdr.data.shift;
        step.apply(hdr.data.base, port, hdr.data.delay, hdr.data.before, hdr.data.idle);
    }
}

#include "include/pipe.p4"
