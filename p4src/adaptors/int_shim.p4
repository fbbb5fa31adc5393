// What a switch does with the shim and the units of HPCC's telemetry, in software. `tna.p4` of
// this folder has the same for the chip; whichever file a program includes first counts.

#ifndef P4CC_INT_SHIM
#define P4CC_INT_SHIM

#include "../include/headers.p4"
#include "../include/transport.p4"
#include "../include/int.p4"

// One switch more on the packet's way.
control IntShimPass(inout int_shim_h shim, in bit<12> switch_id) {
    apply {
        shim.hop_count = shim.hop_count |+| 1;
        shim.path_id = shim.path_id ^ switch_id;
    }
}

// Bytes and depth in the units of a record; `cells` may be more than its field holds.
control IntUnits(in bit<32> sent, in bit<32> depth, in bit<8> cells_per_depth, in bit<3> shift,
                 out bit<32> tx_units, out bit<32> cells) {
    apply {
        tx_units = (sent >> 7) >> shift;
        cells = (depth * (bit<32>)cells_per_depth) >> shift;
    }
}

// A record, its queue at most what its field holds.
control FillRecord(inout int_hop_h record, in bit<4> rate_code, in time_t now, in bit<32> tx_units, in bit<32> cells) {
    apply {
        record.setValid();
        record.rate_code = rate_code;
        record.timestamp = now[23:0];
        record.tx_units = tx_units[19:0];
        record.queue_units = cells[15:0];
        if (cells[31:16] != 0) {
            record.queue_units = 0xffff;
        }
    }
}

#endif
