// A deflected packet that asks for more: both passes are whole, and each of its lives has one deflection at most.
// Queues of port 1 hold one packet, and the first packet fills its queue 0.
// deflect_on_drop
// chip capacity 1 1
// session 1 2
// multicast 1 3 4
// multicast 2 1
// stop
// packet 5 01 00 0000 00000000
// Resubmitted in its second pass, it loses its mark. It is not deflected again: the same queue drops it.
// packet 5 02 00 0000 00000000
// The same, but its third pass chooses a queue with room.
// packet 5 03 00 0000 00000000
// Resubmitted in its first pass, it is deflected then.
// packet 5 04 00 0000 00000000
// Clone and digest of both passes.
// packet 5 05 00 0000 00000000
// expect_digest pass_t 5 0
// expect_digest pass_t 5 9
// Multicast by the second pass; multicast to a full queue is not deflected.
// packet 5 06 00 0000 00000000
// packet 5 07 00 0000 00000000
// The second pass drops it.
// packet 5 08 00 0000 00000000
// start
// expect 1 03 00 0000 00000000
// expect 1 01 00 0000 00000000
// expect 2 05 00 0001 00000000
// expect 2 05 00 0001 00000000
// expect 3 06 00 0005 00000000
// expect 4 06 00 0005 00000000
// expect nothing
// expect_register I.passes 1 1
// expect_register I.passes 2 3
// expect_register I.passes 3 3
// expect_register I.passes 4 3
// expect_register I.passes 5 2
// expect_register I.passes 6 2
// expect_register I.passes 7 1
// expect_register I.passes 8 2
// Recirculated, it starts anew, and is deflected again if its queue is still full.
// stop
// packet 5 01 00 0000 00000000
// packet 5 09 00 0000 00000000
// start
// expect 1 09 01 0009 00000000
// expect 1 01 00 0000 00000000
// expect_register I.passes 9 4
// A packet that recirculates and is deflected without end has the passes of its lineage, and a resubmission
// without end likewise.
// stop
// packet 5 01 00 0000 00000000
// packet 5 0a 00 0000 00000000
// packet 5 0b 00 0000 00000000
// start
// expect 1 01 00 0000 00000000
// expect nothing
// expect_register I.passes 10 4097
// expect_register I.passes 11 4097
#define OWN_EGRESS
#include "include/v1.p4"

struct pass_t {
    bit<8> a;
    bit<8> instance;
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    register<bit<16>>(16) passes;

    apply {
        bit<16> before;
        passes.read(before, (bit<32>)hdr.data.a);
        passes.write((bit<32>)hdr.data.a, before + 1);
        bit<8> a = hdr.data.a;
        bool is_deflected = sm.instance_type == 9;
        bool is_resubmitted = sm.instance_type == 6;
        sm.egress_spec = 1;
        if (is_deflected && (a == 2 || a == 3 || a == 11)) {
            resubmit_preserving_field_list(1);
        }
        if (is_resubmitted && a == 3) {
            sm.priority = 7;
        }
        if (is_resubmitted && a == 11) {
            resubmit_preserving_field_list(1);
        }
        if (a == 4 && sm.instance_type == 0) {
            resubmit_preserving_field_list(1);
        }
        if (a == 5) {
            clone(CloneType.I2E, 1);
            digest<pass_t>(1, {a, (bit<8>)sm.instance_type});
        }
        if (is_deflected && a == 6) {
            sm.mcast_grp = 1;
        }
        if (a == 7) {
            sm.mcast_grp = 2;
        }
        if (is_deflected && a == 8) {
            mark_to_drop(sm);
        }
        if (is_deflected && (a == 9 || a == 10)) {
            sm.priority = 7;
        }
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        if (sm.instance_type == 9 && (hdr.data.a == 9 && hdr.data.b == 0 || hdr.data.a == 10)) {
            hdr.data.b = hdr.data.b + 1;
            recirculate_preserving_field_list(1);
        } else {
            hdr.data.c = (bit<16>)sm.instance_type;
        }
    }
}

#include "include/pipe.p4"
