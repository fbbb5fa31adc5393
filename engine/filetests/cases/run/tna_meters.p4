// TNA: counters and meters count where they are called; bytes are taken off; colours of a meter's own.
// add I.direct 1 => I.counted()
// add I.direct 2 => I.other()
// add I.metered 1 => I.color()
// add I.metered 2 => I.given_color(3)
// An array counts six bytes and the four of the check sequence, less two.
// packet 0 01 03 00000000
// expect 1 01 03 00000000
// packet 0 02 03 00000000
// expect 1 02 03 00000000
// expect_counter I.all 3 2
// A direct counter of an action that does not call it stands still.
// packet 0 03 01 00000000
// expect 1 03 01 00000000
// packet 0 03 02 00000000
// expect 1 03 02 00000000
// expect_direct_counter I.direct 1 => 1 9
// expect_direct_counter I.direct 2 => 0 0
// Of the default entry too, by its own action.
// packet 0 03 09 00000000
// expect 1 03 09 00000000
// expect_direct_counter I.direct => 1 9
// Bytes: a burst of ten takes one packet of six with its check sequence, and the next one is red: 9 here.
// set_meter I.bytes 0 0 10 0 10
// packet 0 04 00 00000000
// expect 1 04 00 00000007
// packet 0 04 00 00000000
// expect 1 04 00 00000009
// Less three bytes, two packets fit into sixteen.
// set_meter I.bytes 0 0 14 0 16
// packet 0 05 00 00000000
// expect 1 05 00 00000007
// packet 0 05 00 00000000
// expect 1 05 00 00000007
// packet 0 05 00 00000000
// expect 1 05 00 00000009
// The control plane adds bytes: ten and two are all of twelve.
// set_meter I.bytes 0 0 12 0 12
// set_meter_adjust I.bytes 2
// packet 0 04 00 00000000
// expect 1 04 00 00000007
// packet 0 04 00 00000000
// expect 1 04 00 00000009
// Above the committed burst alone it is yellow, 8 here.
// set_meter_adjust I.bytes 0
// set_meter I.bytes 0 0 0 0 12
// packet 0 04 00 00000000
// expect 1 04 00 00000008
// A direct meter of packets, by its entries; the chip's red is 3.
// set_direct_meter I.metered 1 => 0 1 0 2
// packet 0 06 01 00000000
// expect 1 06 01 00000000
// packet 0 06 01 00000000
// expect 1 06 01 00000001
// packet 0 06 01 00000000
// expect 1 06 01 00000003
// It is told that the packet is red already.
// set_direct_meter I.metered 2 => 0 9 0 9
// packet 0 06 02 00000000
// expect 1 06 02 00000003
#include "include/tna_head.p4"

control I(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t intr,
          in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) {
    Counter<bit<64>, bit<8>>(8, CounterType_t.PACKETS_AND_BYTES) all;
    DirectCounter<bit<32>>(CounterType_t.PACKETS_AND_BYTES) hits;
    action counted() {
        hits.count(1);
    }
    action other() { }
    table direct {
        key = { hdr.data.b: exact; }
        actions = { counted; other; }
        const default_action = counted();
        counters = hits;
        size = 16;
    }
    Meter<bit<8>>(4, MeterType_t.BYTES, 9, 8, 7) bytes;
    DirectMeter(MeterType_t.PACKETS) packets;
    action color() {
        hdr.data.c = 24w0 ++ packets.execute();
    }
    action given_color(bit<8> before) {
        hdr.data.c = 24w0 ++ packets.execute((MeterColor_t) before);
    }
    table metered {
        key = { hdr.data.b: exact; }
        actions = { color; given_color; NoAction; }
        const default_action = NoAction;
        meters = packets;
        size = 16;
    }
    apply {
        tm.ucast_egress_port = 1;
        tm.bypass_egress = 1;
        if (hdr.data.a == 1) {
            all.count(hdr.data.b);
        } else if (hdr.data.a == 2) {
            all.count(hdr.data.b, 2);
        } else if (hdr.data.a == 3) {
            direct.apply();
        } else if (hdr.data.a == 4) {
            hdr.data.c = 24w0 ++ bytes.execute(0);
        } else if (hdr.data.a == 5) {
            hdr.data.c = 24w0 ++ bytes.execute(index = 0, adjust_byte_count = 3);
        } else {
            metered.apply();
        }
    }
}

#include "include/tna_tail.p4"
