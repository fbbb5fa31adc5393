// D3's capacity estimate of one switch (docs/algorithms/d3-rcp.md#d3-switch):
// what a port may give follows its load and its queue. Once each interval T
//
//     C_e <- C_e + alpha (C - y/T) - beta q/T        between a floor and C
//
// with y what arrived and q what waits. The gains come from the controller as multipliers (controller/d3.py):
// kbit/s for each byte. A port that the controller does not list here keeps C_e = C and is not measured.
//
// Bounds: C_e stays between the floor and C. An interval counts as at most 16
// T, within which alpha of 1/16 and more brings a port without load back to C.

#ifndef P4CC_CAPACITY_ESTIMATE
#define P4CC_CAPACITY_ESTIMATE

#include "../include/rate.p4"
#include "load_meter.p4"

// A gain in units of 2^-16 kbit/s for each byte; 31 bits, so that the sum of two products stays in 64.
typedef bit<31> capacity_gain_t;

const bit<4> CAPACITY_LONGEST_SHIFT = 4;

control CapacityEstimate(in port_t egress_port, in time_t now, in queue_depth_t depth, in bit<16> ip_bytes,
                         inout rate_kbps_t capacity) {
    // C_e; 0 before the first packet.
    register<rate_kbps_t>(PORT_COUNT) estimates;

    LoadMeter() load_meter;

    bool is_measured;
    rate_kbps_t floor;
    capacity_gain_t load_gain;
    capacity_gain_t queue_gain;
    bit<8> framing_bytes;
    load_port_t port;

    // `lowest`: the floor; `t`, `speed`, `depth_bytes`: see load_port_t; `load`: alpha/T, `queue`: beta/T.
    action set_estimate(
        @p4cc_role("floor_kbps") rate_kbps_t lowest,
        @p4cc_role("interval") @p4cc_unit("ticks") bit<32> t,
        @p4cc_role("bytes_per_time") bit<32> speed,
        @p4cc_role("load_gain") capacity_gain_t load,
        @p4cc_role("queue_gain") capacity_gain_t queue,
        @p4cc_role("bytes_per_depth") bit<12> depth_bytes,
        @p4cc_role("framing_bytes") bit<8> framing
    ) {
        is_measured = true;
        floor = lowest;
        port.interval = t;
        port.bytes_per_time = speed;
        port.bytes_per_depth = depth_bytes;
        load_gain = load;
        queue_gain = queue;
        framing_bytes = framing;
    }

    @p4cc_role("d3.estimates")
    table measured {
        key = {
            egress_port: exact @name("egress_port");
        }
        actions = {
            set_estimate;
            NoAction;
        }
        const default_action = NoAction();
        size = PORT_COUNT;
    }

    apply {
        is_measured = false;
        floor = 0;
        load_gain = 0;
        queue_gain = 0;
        framing_bytes = 0;
        port.interval = 0;
        port.bytes_per_time = 0;
        port.bytes_per_depth = 0;
        port.longest_shift = CAPACITY_LONGEST_SHIFT;
        measured.apply();
        if (is_measured) {
            bit<32> cell = (bit<32>)egress_port;
            rate_kbps_t kept;
            estimates.read(kept, cell);
            rate_kbps_t estimate = capacity;
            // Never above a capacity that the controller has lowered.
            if (kept != 0 && kept < capacity) {
                estimate = kept;
            }
            bool is_over;
            load_t load;
            load_meter.apply(port, egress_port, now, depth, (bit<32>)ip_bytes + (bit<32>)framing_bytes, kept == 0, is_over,
                             load);
            if (is_over) {
                if (kept != 0) {
                    bit<64> up = (bit<64>)load_gain * load.carried;
                    bit<64> down = (bit<64>)load_gain * load.offered |+| (bit<64>)queue_gain * load.queued;
                    bit<64> next = (bit<64>)estimate + ((up |-| down) >> 16);
                    next = next |-| ((down |-| up) >> 16);
                    if (next > (bit<64>)capacity) {
                        next = (bit<64>)capacity;
                    }
                    if (next < (bit<64>)floor) {
                        next = (bit<64>)floor;
                    }
                    estimate = (rate_kbps_t)next;
                }
                estimates.write(cell, estimate);
            }
            capacity = estimate;
        }
    }
}

#endif
