// Registers and counters keep their values from packet to packet.
// register I.totals 3 0x10
// packet 0 0305 0000 00000000
// expect 1 0305 0015 00000000
// packet 0 0305 0000 00000000
// expect 1 0305 001a 00000000
// expect_register I.totals 3 0x1a
// expect_register I.totals 0 0
// expect_counter I.seen 3 2
// expect_counter I.seen 4 0
#include "include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    register<bit<16>>(8) totals;
    counter(8, CounterType.packets) seen;
    apply {
        sm.egress_spec = 1;
        bit<16> total;
        totals.read(total, (bit<32>)hdr.data.a);
        total = total + (bit<16>)hdr.data.b;
        totals.write((bit<32>)hdr.data.a, total);
        seen.count((bit<32>)hdr.data.a);
        hdr.data.c = total;
    }
}

#include "include/pipe.p4"
