// p4cc's extension: what finds its queue full runs through ingress once more, with `instance_type` 9, and may be cut
// and go to another queue. Queues of port 1 hold two packets.
// deflect_on_drop
// chip capacity 1 2
// stop
// packet 5 01 00 0000 00000000
// packet 5 02 00 0000 00000000
// packet 5 03 00 0000 00000000
// Its first pass asked for something else, too.
// packet 5 04 00 0000 00000000
// The program sends it to the same queue: it is dropped, and runs no third time.
// packet 5 06 00 0000 00000000
// The other queue is full, too.
// packet 5 07 00 0000 00000000
// start
// expect 1 03 05 0009
// expect 1 04 05 0009
// expect 1 01 00 0000 00000000
// expect 1 02 00 0000 00000000
// expect nothing
// Behind a queue with room nothing is new.
// packet 5 08 00 0000 00000000
// expect 1 08 00 0000 00000000
// expect_register I.passes 6 2
// expect_register I.passes 8 1
#define OWN_EGRESS
#include "include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    register<bit<8>>(16) passes;

    apply {
        bit<8> before;
        passes.read(before, (bit<32>)hdr.data.a);
        passes.write((bit<32>)hdr.data.a, before + 1);
        sm.egress_spec = 1;
        if (hdr.data.a == 4) {
            truncate(6);
        }
        if (sm.instance_type == 9 && hdr.data.a != 6) {
            hdr.data.b = (bit<8>)sm.ingress_port;
            truncate(4);
            sm.priority = 7;
        }
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        hdr.data.c = (bit<16>)sm.instance_type;
    }
}

#include "include/pipe.p4"
