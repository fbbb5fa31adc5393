// DualPI2 at a port (p4src/controls/dualpi2.p4, docs/algorithms/prague.md#dualpi2) at chosen times. A packet of kind 0
// joins its queue and gets its number, one of kind 1 leaves after `waited`, in the byte `result` whether it is dropped.
// Port 2: target 100, interval 1000, alpha 1 and decay 1/2 of a unit of the base probability for a unit of time.
// add I.dualpi2.ports 2 => I.dualpi2.set_port(100, 1000, 0x10000, 0, 0x8000, 0xffffffff, 0)
//
// Kind, codepoint, port, result, waited, now. L4S goes by queue 1; a Classic packet leaves its time behind.
// packet 0 00 01 02 ff 00000000 000000000001
// expect 1 00 01 02 01 00000000 000000000001
// packet 0 00 03 02 ff 00000000 000000000002
// expect 1 00 03 02 01 00000000 000000000002
// expect_register dualpi2_classic_arrivals 2 0
// packet 0 00 02 02 ff 00000000 000000000003
// expect 1 00 02 02 00 00000000 000000000003
// packet 0 00 00 02 ff 00000000 000000000004
// expect 1 00 00 02 00 00000000 000000000004
// expect_register dualpi2_classic_arrivals 2 4
//
// Just before the interval's end nothing moves, at its end a step is made: 1000 + (300 - 100).
// register I.dualpi2.interval_starts 2 10000
// register I.dualpi2.base_probabilities 2 1000
// packet 0 01 02 02 ff 0000012b 000000002af7
// expect 1 01 02 02 00 0000012b 000000002af7
// expect_register I.dualpi2.base_probabilities 2 1000
// packet 0 01 02 02 ff 0000012c 000000002af8
// expect 1 01 02 02 00 0000012c 000000002af8
// expect_register I.dualpi2.base_probabilities 2 1200
// expect_register I.dualpi2.interval_starts 2 11000
// expect_register I.dualpi2.delays_before 2 300
// expect_register I.dualpi2.classic_delays 2 300
// expect_register I.dualpi2.classic_departures 2 11000
// 1999 later: one interval, which ended 1000 after the last.
// packet 0 01 02 02 ff 0000012c 0000000032c7
// expect 1 01 02 02 00 0000012c 0000000032c7
// expect_register I.dualpi2.base_probabilities 2 1400
// expect_register I.dualpi2.interval_starts 2 12000
// Two intervals: the first was idle, so half of 1000 is taken off, and the time begins anew.
// packet 0 01 02 02 ff 0000012c 0000000036b0
// expect 1 01 02 02 00 0000012c 0000000036b0
// expect_register I.dualpi2.base_probabilities 2 1100
// expect_register I.dualpi2.interval_starts 2 14000
//
// L4S packets alone: until an interval after the last Classic packet left its delay counts ...
// packet 0 01 01 02 ff 00000000 000000003a97
// expect 1 01 01 02 00 00000000 000000003a97
// expect_register I.dualpi2.base_probabilities 2 1100
// register dualpi2_classic_arrivals 2 13700
// packet 0 01 01 02 ff 00000000 000000003a98
// expect 1 01 01 02 00 00000000 000000003a98
// ... and then 0, as no other Classic packet came: it had joined 300 before it left.
// expect_register I.dualpi2.base_probabilities 2 1000
// expect_register I.dualpi2.delays_before 2 0
// register I.dualpi2.classic_delays 2 300
// A Classic packet came behind it: it waits since the last one joined, at the latest.
// register dualpi2_classic_arrivals 2 13701
// packet 0 01 01 02 ff 00000000 000000003e80
// expect 1 01 01 02 00 00000000 000000003e80
// expect_register I.dualpi2.delays_before 2 2300
// expect_register I.dualpi2.base_probabilities 2 3200
// One that came before does not wait, on the circle of 2^48.
// register dualpi2_classic_arrivals 2 13699
// packet 0 01 01 02 ff 00000000 000000004268
// expect 1 01 01 02 00 00000000 000000004268
// expect_register I.dualpi2.delays_before 2 0
// register dualpi2_classic_arrivals 2 0x800000003584
// packet 0 01 01 02 ff 00000000 000000004650
// expect 1 01 01 02 00 00000000 000000004650
// expect_register I.dualpi2.delays_before 2 0
// register dualpi2_classic_arrivals 2 0x800000003583
// packet 0 01 01 02 ff 00000000 000000004a38
// expect 1 01 01 02 00 00000000 000000004a38
// expect_register I.dualpi2.delays_before 2 5300
//
// A wait and a silence beyond 32 bits count as 2^32 - 1. Port 3 has no gain and a decay of 0x8001 / 2^16.
// add I.dualpi2.ports 3 => I.dualpi2.set_port(0, 1000, 0, 0, 0x8001, 0xffffffff, 0)
// register I.dualpi2.base_probabilities 3 0xffffffff
// register dualpi2_classic_arrivals 3 1
// packet 0 01 03 03 ff 00000000 000200000000
// expect 1 01 03 03 00 00000000 000200000000
// expect_register I.dualpi2.delays_before 3 0xffffffff
// expect_register I.dualpi2.base_probabilities 3 0x7fff0000
// A short wait is itself at such a time too.
// register I.dualpi2.classic_departures 3 0x200000000
// register dualpi2_classic_arrivals 3 0x200000001
// packet 0 01 03 03 ff 00000000 0002000003e8
// expect 1 01 03 03 00 00000000 0002000003e8
// expect_register I.dualpi2.delays_before 3 1000
//
// Signals are counted by kind: a Classic mark, a drop of what cannot be marked, an L4S mark.
// register I.dualpi2.base_probabilities 3 0xffffffff
// packet 0 01 02 03 ff 00000000 0002000003e9
// expect 1 01 03 03 00 00000000 0002000003e9
// expect_counter I.dualpi2.signals 12 1
// packet 0 01 00 03 ff 00000000 0002000003e9
// expect 1 01 00 03 01 00000000 0002000003e9
// expect_counter I.dualpi2.signals 13 1
// packet 0 01 01 03 ff 00000000 0002000003e9
// expect 1 01 03 03 00 00000000 0002000003e9
// expect_counter I.dualpi2.signals 14 1
#include <core.p4>
#include <v1model.p4>
#include "../../../../p4src/controls/dualpi2.p4"

header data_h {
    bit<8>  kind;
    bit<6>  reserved;
    bit<2>  ecn;
    bit<8>  port;
    bit<8>  result;
    bit<32> waited;
    bit<48> now;
}

struct headers_t {
    data_h data;
}

struct metadata_t {}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    DualQueue() queue;
    DualPi2() dualpi2;

    apply {
        sm.egress_spec = 1;
        port_t port = (port_t)hdr.data.port;
        if (hdr.data.kind == 0) {
            bit<3> priority = 7;
            queue.apply(hdr.data.ecn, port, hdr.data.now, priority);
            hdr.data.result = (bit<8>)priority;
        } else {
            bool drops;
            dualpi2.apply(hdr.data.ecn, port, hdr.data.waited, hdr.data.now, drops);
            hdr.data.result = drops ? 8w1 : 8w0;
        }
    }
}

#include "include/pipe.p4"
