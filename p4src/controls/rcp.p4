// RCP's fair rate of one switch (docs/algorithms/d3-rcp.md#rcp, classic):
// one rate for all flows of a port, corrected once each interval T
//
//     R <- R (1 + (T/d) (alpha (C - y/T) - beta q/d) / C)
//
// and stamped into packets as the smallest of their path.
//
// There is no division and no timer: the gains come from the controller as multipliers (controller/rcp.py),
// and the packet that closes the load meter's interval makes the correction. Two products remain whose
// factors both vary (load times gain, rate times change). A target that cannot multiply leaves them to the
// controller: it reads `sent_bytes`, computes the same step and installs `set_fixed_rate`, and the switch
// only measures and stamps.
//
// Bounds: the rate stays between `least` and the capacity and moves by at most
// 2 up and 1/2 down in one interval; changes below 2^-16 of the rate are lost.
// The interval counts as at most twice T, so that an idle port does not jump.

#ifndef P4CC_RCP
#define P4CC_RCP

#include "../include/rate.p4"
#include "load_meter.p4"

// A gain in units of 2^-40 for each byte; 31 bits, so that the sum of two products stays in 64.
typedef bit<31> gain_t;

// Largest changes in one interval, in units of 2^-16 of the rate: twice and half.
const bit<64> MOST_RISE = 65536;
const bit<64> MOST_FALL = 32768;

const bit<4> RCP_LONGEST_SHIFT = 1;

// What the controller says of a port.
struct rcp_port_t {
    rate_kbps_t capacity;
    rate_kbps_t least;
    gain_t load_gain;
    gain_t queue_gain;
}

// The correction at the end of an interval: `rate` is the old rate, then the new one.
control RcpStep(inout rate_kbps_t rate, in rcp_port_t port, in load_t load) {
    apply {
        bit<64> up = (bit<64>)port.load_gain * load.carried;
        bit<64> down = (bit<64>)port.load_gain * load.offered |+| (bit<64>)port.queue_gain * load.queued;
        bit<64> rise = (up |-| down) >> 24;
        bit<64> fall = (down |-| up) >> 24;
        if (rise > MOST_RISE) {
            rise = MOST_RISE;
        }
        if (fall > MOST_FALL) {
            fall = MOST_FALL;
        }
        bit<64> next = (bit<64>)rate + (((bit<64>)rate * rise) >> 16) - (((bit<64>)rate * fall) >> 16);
        if (next > (bit<64>)port.capacity) {
            next = (bit<64>)port.capacity;
        }
        if (next < (bit<64>)port.least) {
            next = (bit<64>)port.least;
        }
        rate = (rate_kbps_t)next;
    }
}

control RcpRate(inout headers_t hdr, in port_t egress_port, in time_t now, in queue_depth_t queue_depth) {
    // The fair rate; 0 before the first packet.
    register<rate_kbps_t>(PORT_COUNT) fair_rates;

    LoadMeter() load_meter;
    RcpStep() step;

    bool is_port;
    bool is_fixed;
    rate_kbps_t rate;
    rcp_port_t port;
    load_port_t load_port;
    bit<8> framing_bytes;

    // `c`, `initial`, `lowest`: capacity, first rate and lowest rate; `t`: the interval in units of time, at
    // most 2^31; `speed`: capacity in bytes for one unit of time, in units of 2^-20; `load`: alpha T/d,
    // `queue`: beta (T/d)^2, both over the bytes of one interval; `depth_bytes`: bytes of one unit of the
    // queue's depth.
    action set_port(
        @p4cc_role("capacity_kbps") rate_kbps_t c,
        @p4cc_role("initial_kbps") rate_kbps_t initial,
        @p4cc_role("least_kbps") rate_kbps_t lowest,
        @p4cc_role("interval") @p4cc_unit("ticks") bit<32> t,
        @p4cc_role("bytes_per_time") bit<32> speed,
        @p4cc_role("load_gain") gain_t load,
        @p4cc_role("queue_gain") gain_t queue,
        @p4cc_role("bytes_per_depth") bit<12> depth_bytes,
        @p4cc_role("framing_bytes") bit<8> framing
    ) {
        is_port = true;
        rate = initial;
        port.capacity = c;
        port.least = lowest;
        load_port.interval = t;
        load_port.bytes_per_time = speed;
        port.load_gain = load;
        port.queue_gain = queue;
        load_port.bytes_per_depth = depth_bytes;
        framing_bytes = framing;
    }

    // The controller keeps the rate.
    action set_fixed_rate(rate_kbps_t fixed, bit<8> framing) {
        is_port = true;
        is_fixed = true;
        rate = fixed;
        framing_bytes = framing;
    }

    // A port without an entry neither measures nor stamps.
    @p4cc_role("rcp.ports")
    table ports {
        key = {
            egress_port: exact @name("egress_port");
        }
        actions = {
            set_port;
            set_fixed_rate;
            NoAction;
        }
        const default_action = NoAction();
        size = PORT_COUNT;
    }

    apply {
        is_port = false;
        is_fixed = false;
        rate = 0;
        port.capacity = 0;
        port.least = 0;
        load_port.interval = 0;
        load_port.bytes_per_time = 0;
        port.load_gain = 0;
        port.queue_gain = 0;
        load_port.bytes_per_depth = 0;
        load_port.longest_shift = RCP_LONGEST_SHIFT;
        framing_bytes = 0;
        ports.apply();
        if (is_port) {
            bit<32> cell = (bit<32>)egress_port;
            rate_kbps_t kept;
            fair_rates.read(kept, cell);
            // The first packet of all starts an interval at the initial rate.
            bool is_first = !is_fixed && kept == 0;
            bool is_over;
            load_t load;
            load_meter.apply(load_port, egress_port, now, queue_depth, (bit<32>)hdr.ipv4.total_len + (bit<32>)framing_bytes,
                             is_first, is_over, load);
            if (!is_fixed) {
                if (!is_first) {
                    rate = kept;
                    if (is_over) {
                        step.apply(rate, port, load);
                    }
                }
                if (is_over) {
                    fair_rates.write(cell, rate);
                }
            }
            if (hdr.fair_rate.isValid() && rate < hdr.fair_rate.rate) {
                hdr.fair_rate.rate = rate;
            }
        }
    }
}

#endif
