// RED marking on the instantaneous queue (docs/algorithms/marking.md#red):
// nothing up to K_min, with a probability that rises to P_max at K_max,
// always above. CE of RFC 3168; a packet that is not capable is never marked.
//
// The probability is one multiplication and one shift by a slope that the controller computes
// (controller/red.py): threshold = (queue - K_min) * slope / 2^16 against 16 random bits. Slope and threshold
// are rounded down, so that the probability is at most 2^-15 below the curve, and a P_max of 1 gives 1 -
// 2^-16.

#ifndef P4CC_ECN_RED
#define P4CC_ECN_RED

#include "../include/ecn.p4"
#include "../include/headers.p4"
#include "../include/sizes.p4"

// `queue_depth` as the CP sees it: of the packet's own queue, this packet not counted. Needs the
// architecture's `random`; numbers are drawn on the slope only.
control EcnRed(inout ecn_t ecn, in port_t egress_port, in queue_depth_t queue_depth) {
    // Capable packets that left each port with CE set here; a packet that came with CE is not counted.
    counter(PORT_COUNT, CounterType.packets) marked_packets;

    bool has_curve;
    queue_depth_t k_min;
    queue_depth_t k_max;
    bit<32> slope;

    // Depths are in the traffic manager's unit; `rise` is P_max / (K_max - K_min) in units of 2^-32.
    action set_curve(
        @p4cc_role("k_min") @p4cc_unit("depth") queue_depth_t low,
        @p4cc_role("k_max") @p4cc_unit("depth") queue_depth_t high,
        @p4cc_role("slope") bit<32> rise
    ) {
        has_curve = true;
        k_min = low;
        k_max = high;
        slope = rise;
    }

    // A port without an entry never marks.
    @p4cc_role("ecn_red.curves")
    table curves {
        key = {
            egress_port: exact @name("egress_port");
        }
        actions = {
            set_curve;
            NoAction;
        }
        const default_action = NoAction();
        size = PORT_COUNT;
    }

    apply {
        has_curve = false;
        k_min = 0;
        k_max = 0;
        slope = 0;
        if (ecn != ECN_NOT_CAPABLE && ecn != ECN_CE) {
            curves.apply();
            if (has_curve && queue_depth > k_min) {
                bool marks = true;
                if (queue_depth <= k_max) {
                    bit<16> dice;
                    random<bit<16>>(dice, 0, 0xffff);
                    marks = (bit<64>)dice < ((bit<64>)(queue_depth - k_min) * (bit<64>)slope) >> 16;
                }
                if (marks) {
                    ecn = ECN_CE;
                    marked_packets.count((bit<32>)egress_port);
                }
            }
        }
    }
}

#endif
