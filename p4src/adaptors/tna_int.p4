// What telemetry needs beside tna.p4 on Tofino. A program includes this file before its controls.

#ifndef P4CC_TNA_INT
#define P4CC_TNA_INT

#define P4CC_CAN_GROW
#define P4CC_INT_SHIM
#define P4CC_INT_RECORDS

#include "../include/transport.p4"
#include "../include/int.p4"
#include "../controls/grow.p4"

// What is above the limit, and what the two lengths differ by: actions of their own, as in `DepthReaches`.
control CanGrow(in ipv4_h ipv4, in udp_h udp, out bool can) {
    bit<16> above;
    bit<16> headers;

    action measure() {
        above = ipv4.total_len |-| GROWTH_LIMIT_BYTES;
        headers = ipv4.total_len - udp.length;
        can = false;
    }

    apply {
        measure();
        if (above == 0 && headers == IPV4_HEADER_BYTES) {
            can = true;
        }
    }
}

// The path id has twelve of sixteen bits, and the chip's exclusive or takes whole bytes: it is done beside
// the header.
control IntShimPass(inout int_shim_h shim, in bit<12> switch_id) {
    bit<16> path;
    bit<16> id;
    bit<8> hops;

    action copy() {
        path = (bit<16>)shim.path_id;
        id = (bit<16>)switch_id;
        hops = (bit<8>)shim.hop_count;
    }

    action pass() {
        path = path ^ id;
        hops = hops + 1;
    }

    action put_back() {
        shim.path_id = path[11:0];
        shim.hop_count = hops[3:0];
    }

    apply {
        copy();
        pass();
        if (hops == 16) {
            hops = 15;
        }
        put_back();
    }
}

// A shift has a constant width, so each has an action. Depths are in cells already: `cells_per_depth` is 1.
control IntUnits(in bit<32> sent, in bit<32> depth, in bit<8> cells_per_depth, in bit<3> shift,
                 out bit<32> tx_units, out bit<32> cells) {
    action by_0() {
        tx_units = sent >> 7;
        cells = depth;
    }

    action by_1() {
        tx_units = sent >> 8;
        cells = depth >> 1;
    }

    action by_2() {
        tx_units = sent >> 9;
        cells = depth >> 2;
    }

    action by_3() {
        tx_units = sent >> 10;
        cells = depth >> 3;
    }

    action by_4() {
        tx_units = sent >> 11;
        cells = depth >> 4;
    }

    action by_5() {
        tx_units = sent >> 12;
        cells = depth >> 5;
    }

    table shifts {
        key = {
            shift: exact @name("shift");
        }
        actions = {
            by_0;
            by_1;
            by_2;
            by_3;
            by_4;
            by_5;
        }
        const entries = {
            0: by_0();
            1: by_1();
            2: by_2();
            3: by_3();
            4: by_4();
            5: by_5();
        }
        const default_action = by_0();
        size = 8;
    }

    apply {
        shifts.apply();
    }
}

// Fields that share a container come one after the other: a stage takes two sources for each container.
control FillRecord(inout int_hop_h record, in bit<4> rate_code, in time_t now, in bit<32> tx_units, in bit<32> cells) {
    action take_time() {
        record.setValid();
        record.timestamp = now[23:0];
    }

    action take_bytes() {
        record.tx_units = tx_units[19:0];
    }

    action take_rate() {
        record.rate_code = rate_code;
    }

    action take_depth() {
        record.queue_units = cells[15:0];
    }

    action take_most() {
        record.queue_units = 0xffff;
    }

    apply {
        take_time();
        take_rate();
        take_bytes();
        if (cells[31:16] != 0) {
            take_most();
        } else {
            take_depth();
        }
    }
}

#endif
