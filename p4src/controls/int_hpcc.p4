// HPCC's telemetry (docs/algorithms/int.md#hpcc-int): each switch puts a record of
// eight bytes in front of the others when a packet leaves its queue. Where the record
// finds room is the encoding's: the program includes `int_push.p4` or `int_fixed.p4`.
//
// The record goes right behind the shim, the last switch's first. A packet that has
// its bound of records passes without a new one, but its hop count still grows: a
// receiver that counts more hops than records knows that some are missing.

#ifndef P4CC_INT_HPCC
#define P4CC_INT_HPCC

#include "../include/transport.p4"
#include "../include/int.p4"
#include "../include/sizes.p4"
#include "../adaptors/arithmetic.p4"
#include "../adaptors/int_shim.p4"
#include "../adaptors/objects.p4"

control IntHpcc(inout headers_t hdr, in port_t egress_port, in time_t now, in queue_depth_t queue_depth) {
    RecordRoom() room;
    Below() below;
    WideDepth() widen;
    AddBytes() add_framing;
    AddBytes() add_growth;
    IntShimPass() pass;
    IntUnits() units;
    FillRecord() fill;
    PlaceRecord() place;

    // What this packet is on the link, with its record.
    link_bytes_t bytes;

    // Bytes on the link since the start, of every packet of the port. 32 bits
    // wrap after 4.3 GB; that is a multiple of the period of the record's 20 bits
    // (2^27 bytes * 2^unit_shift) up to a shift of 5, so records never see it.
    SUM_REGISTER(tx_bytes, PORT_COUNT, bytes);

    bool is_port;
    bit<12> switch_id;
    bit<4> rate_code;
    bit<3> unit_shift;
    bit<8> cells_per_depth;
    link_bytes_t framing_bytes;
    bit<4> max_hops;

    // `id`: of the switch; the exclusive or of the ids on a way is the path id, by which
    // a sender knows that counters are of other ports (docs/algorithms/int.md#path-id).
    // `unit_shift`: log2 of the multiplier of both units, 0 to 5. `cells_per_depth`: 80 B cells in one unit
    // of the queue's depth, 1 where the traffic manager counts cells. `framing_bytes`: what the link adds to
    // IP bytes. `max_hops`: records after which packets grow no more; beyond 8 counts as 8.
    action set_port(
        @p4cc_role("switch_id") bit<12> id,
        @p4cc_role("rate_code") bit<4> rate,
        @p4cc_role("unit_shift") bit<3> shift,
        @p4cc_role("cells_per_depth") bit<8> cells,
        @p4cc_role("framing_bytes") bit<8> framing,
        @p4cc_role("max_hops") bit<4> hops
    ) {
        is_port = true;
        switch_id = id;
        rate_code = rate;
        unit_shift = shift;
        cells_per_depth = cells;
        framing_bytes = (link_bytes_t)framing;
        max_hops = hops;
    }

    // A port without an entry neither counts nor stamps.
    @p4cc_role("int_hpcc.ports")
    table ports {
        key = {
            egress_port: exact @name("egress_port");
        }
        actions = {
            set_port;
            NoAction;
        }
        const default_action = NoAction();
        size = PORT_COUNT;
    }

    apply {
        is_port = false;
        switch_id = 0;
        rate_code = 0;
        unit_shift = 0;
        cells_per_depth = 0;
        framing_bytes = 0;
        max_hops = 0;
        bytes = (link_bytes_t)hdr.ipv4.total_len;
        bit<32> depth;
        widen.apply(queue_depth, depth);
        // What follows of the packet alone stands before what asks for the port: a chip does both at once.
        bool can_take = false;
        bool has_room = false;
        bit<8> records = 0;
        if (hdr.int_shim.isValid()) {
            room.apply(hdr, can_take, records);
        }
        ports.apply();
        add_framing.apply(bytes, framing_bytes);
        below.apply(records, (bit<8>)max_hops, has_room);
        if (is_port) {
            if (can_take) {
                pass.apply(hdr.int_shim, switch_id);
            }
            bool stamps = can_take && has_room && records < (bit<8>)INT_HOPS_MAX;
            if (stamps) {
                add_growth.apply(bytes, RECORD_GROWTH_BYTES);
            }
            // The record holds what went before this packet; the packet counts as it leaves, with its record.
            bit<32> sent;
            ADD_TO_SUM(tx_bytes, egress_port, bytes, sent);
            if (stamps) {
                bit<32> tx_units;
                bit<32> cells;
                units.apply(sent, depth, cells_per_depth, unit_shift, tx_units, cells);
                fill.apply(hdr.int_hop, rate_code, now, tx_units, cells);
                place.apply(hdr);
            }
        }
    }
}

#endif
