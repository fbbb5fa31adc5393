// What a port was offered in an interval, for programs that set rates
// by load and queue (docs/algorithms/d3-rcp.md#d3-switch, #rcp).
//
// There is no timer: the first packet that leaves after the interval's end closes it, with the capacity of
// the time that really went by. Load is what arrived at the queue: what left plus the growth of the queue.
// What a full queue dropped is not in it; the queue itself then shows.
//
// Bounds: `sent_bytes` (32 bits) stops at its largest value. Time (48 bits) is
// subtracted modulo 2^48 and counts as at most `interval << longest_shift`.

#ifndef P4CC_LOAD_METER
#define P4CC_LOAD_METER

#include "../include/sizes.p4"

// What the controller says of a port.
struct load_port_t {
    // Units of time, at most 2^31; 0 for one that never ends.
    bit<32> interval;
    // Capacity in bytes for one unit of time, in units of 2^-20.
    bit<32> bytes_per_time;
    // Bytes of one unit of the queue's depth.
    bit<12> bytes_per_depth;
    // Log2 of the most intervals that one may count as.
    bit<4> longest_shift;
}

// One interval, in bytes.
struct load_t {
    // What the capacity would have carried.
    bit<64> carried;
    // What arrived.
    bit<64> offered;
    // What waits now.
    bit<64> queued;
}

control LoadMeter(in load_port_t port, in port_t egress_port, in time_t now, in queue_depth_t depth,
                  in bit<32> wire_bytes, in bool restart, out bool is_over, out load_t load) {
    // Start of the interval.
    register<time_t>(PORT_COUNT) interval_starts;
    // Bytes that left in the interval.
    register<bit<32>>(PORT_COUNT) sent_bytes;
    // The queue at the interval's start.
    register<queue_depth_t>(PORT_COUNT) start_depths;

    apply {
        bit<32> cell = (bit<32>)egress_port;
        bit<32> sent;
        time_t start;
        sent_bytes.read(sent, cell);
        interval_starts.read(start, cell);
        time_t elapsed = now - start;
        is_over = restart || (port.interval != 0 && elapsed >= (time_t)port.interval);
        load.carried = 0;
        load.offered = 0;
        load.queued = 0;
        if (is_over) {
            queue_depth_t depth_before;
            start_depths.read(depth_before, cell);
            time_t longest = (time_t)port.interval << port.longest_shift;
            if (elapsed > longest) {
                elapsed = longest;
            }
            load.carried = ((bit<64>)elapsed * (bit<64>)port.bytes_per_time) >> 20;
            load.queued = (bit<64>)depth * (bit<64>)port.bytes_per_depth;
            bit<64> seen = (bit<64>)sent + load.queued;
            load.offered = seen |-| (bit<64>)depth_before * (bit<64>)port.bytes_per_depth;
            interval_starts.write(cell, now);
            start_depths.write(cell, depth);
            sent = 0;
        }
        sent_bytes.write(cell, sent |+| wire_bytes);
    }
}

#endif
