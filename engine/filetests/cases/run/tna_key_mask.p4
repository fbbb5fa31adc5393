// TNA: the control plane says which bits of exact keys count.
// set_key_mask I.narrow 0xf0 0xffffffff
// add I.narrow 0x12 5 => I.set(1)
// add I.narrow 0x22 5 => I.set(2)
// add I.narrow 0x13 5 => I.set(3)
// The first of two entries that are equal now is found.
// packet 0 01 1f 00000005
// expect 1 01 1f 00000001
// packet 0 01 20 00000005
// expect 1 01 20 00000002
// packet 0 01 30 00000005
// expect 1 01 30 00000005
// packet 0 01 1f 00000006
// expect 1 01 1f 00000006
// A table whose hits count has them too.
// set_key_mask I.counted 0x0f
// add I.counted 0x55 => I.mark(9)
// packet 0 02 a5 00000000
// expect 1 02 a5 00000009
// expect_direct_counter I.counted 0x55 => 1 10
#include "include/tna_head.p4"

control I(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t intr,
          in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) {
    DirectCounter<bit<32>>(CounterType_t.PACKETS_AND_BYTES) hits;
    action mark(bit<32> value) {
        hits.count();
        hdr.data.c = value;
    }
    action set(bit<32> value) {
        hdr.data.c = value;
    }
    table narrow {
        key = { hdr.data.b: exact; hdr.data.c: exact; }
        actions = { set; NoAction; }
        const default_action = NoAction;
        size = 16;
    }
    table counted {
        key = { hdr.data.b: exact; }
        actions = { mark; NoAction; }
        const default_action = NoAction;
        counters = hits;
        size = 16;
    }
    apply {
        tm.ucast_egress_port = 1;
        tm.bypass_egress = 1;
        if (hdr.data.a == 1) {
            narrow.apply();
        } else {
            counted.apply();
        }
    }
}

#include "include/tna_tail.p4"
