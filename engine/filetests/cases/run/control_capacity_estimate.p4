// D3's capacity estimate and the load meter (p4src/controls/capacity_estimate.p4, load_meter.p4,
// docs/algorithms/d3-rcp.md#d3-switch) at chosen times: an interval of 1000, one byte in a unit of time, gains of one
// kbit/s for a byte that is offered or waits, 80 bytes in a unit of depth, 24 of framing, a floor of 100 kbit/s.
// add I.estimate.measured 2 => I.estimate.set_estimate(100, 1000, 0x100000, 0x10000, 0x10000, 80, 24)
//
// Port, depth, IP bytes, time, capacity; the last becomes C_e. The first packet of all starts at the capacity.
// packet 0 02 00000064 03e8 000000000005 00002710
// expect 1 02 00000064 03e8 000000000005 00002710
// expect_register I.estimate.estimates 2 10000
// expect_register I.estimate.load_meter.sent_bytes 2 1024
// expect_register I.estimate.load_meter.start_depths 2 100
// expect_register I.estimate.load_meter.interval_starts 2 5
// packet 0 02 00000064 03e8 0000000003ec 00002710
// expect 1 02 00000064 03e8 0000000003ec 00002710
// expect_register I.estimate.load_meter.sent_bytes 2 2048
// The interval's end: 1000 carried, 2048 sent, the queue shrank from 8000 to 7200: 10000 + 1000 - 1248 - 7200.
// packet 0 02 0000005a 03e8 0000000003ed 00002710
// expect 1 02 0000005a 03e8 0000000003ed 000009f8
// expect_register I.estimate.estimates 2 2552
// expect_register I.estimate.load_meter.sent_bytes 2 1024
// A capacity that the controller lowers holds at once.
// packet 0 02 0000005a 03e8 0000000003ee 000007d0
// expect 1 02 0000005a 03e8 0000000003ee 000007d0
// expect_register I.estimate.estimates 2 2552
// The smallest estimate is one too: it stays within an interval, and rises by 1000 after one without load.
// register I.estimate.estimates 2 1
// packet 0 02 0000005a 03e8 0000000003ef 00002710
// expect 1 02 0000005a 03e8 0000000003ef 00000001
// expect_register I.estimate.load_meter.sent_bytes 2 3072
// packet 0 02 00000000 03e8 0000000007d5 00002710
// expect 1 02 00000000 03e8 0000000007d5 000003e9
// A fall beyond 0 stops at the floor, a rise at the capacity; what was sent stops at its largest number.
// register I.estimate.load_meter.sent_bytes 2 0xffffffff
// packet 0 02 00000000 03e8 0000000007d6 00002710
// expect 1 02 00000000 03e8 0000000007d6 000003e9
// expect_register I.estimate.load_meter.sent_bytes 2 0xffffffff
// packet 0 02 00000000 03e8 000000000bbd 00002710
// expect 1 02 00000000 03e8 000000000bbd 00000064
// register I.estimate.load_meter.sent_bytes 2 0
// packet 0 02 00000000 03e8 000000003fa5 00002710
// expect 1 02 00000000 03e8 000000003fa5 00002710
// At most sixteen intervals count: by a gain of 1/256, 16000 / 256.
// add I.estimate.measured 3 => I.estimate.set_estimate(100, 1000, 0x100000, 0x100, 0, 80, 24)
// register I.estimate.estimates 3 1000
// packet 0 03 00000000 03e8 0000000f4240 00002710
// expect 1 03 00000000 03e8 0000000f4240 00000426
// An interval of 0 never ends.
// add I.estimate.measured 4 => I.estimate.set_estimate(100, 0, 0x100000, 0x10000, 0x10000, 80, 24)
// register I.estimate.estimates 4 1000
// packet 0 04 00000000 03e8 0000000f4240 00002710
// expect 1 04 00000000 03e8 0000000f4240 000003e8
// expect_register I.estimate.load_meter.interval_starts 4 0
#include <core.p4>
#include <v1model.p4>
#include "../../../../p4src/include/headers.p4"
#include "../../../../p4src/controls/capacity_estimate.p4"

header data_h {
    bit<8>  port;
    bit<32> depth;
    bit<16> ip_bytes;
    bit<48> now;
    bit<32> capacity;
}

struct headers_t {
    data_h data;
}

struct metadata_t {}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    CapacityEstimate() estimate;

    apply {
        sm.egress_spec = 1;
        estimate.apply((port_t)hdr.data.port, hdr.data.now, (queue_depth_t)hdr.data.depth, hdr.data.ip_bytes,
                       hdr.data.capacity);
    }
}

#include "include/pipe.p4"
