// RED marking on the instantaneous queue by steps
// (docs/algorithms/marking.md#red): a table gives each range of depths its probability,
// which the controller takes from the curve (controller/red.py).
//
// For a switch that cannot multiply two fields, where `ecn_red.p4` multiplies depth and slope. Between two
// steps the probability is that of their middle. CE of RFC 3168; a packet that is not capable is never
// marked.

#ifndef P4CC_ECN_RED_STEPS
#define P4CC_ECN_RED_STEPS

#include "../include/ecn.p4"
#include "../include/headers.p4"
#include "../include/sizes.p4"
#include "../adaptors/arithmetic.p4"
#include "../adaptors/dice.p4"
#include "../adaptors/objects.p4"

// `queue_depth` as the CP sees it: of the packet's own queue, this packet not counted.
control EcnRedSteps(inout ecn_t ecn, in port_t egress_port, in queue_depth_t queue_depth) {
    // Capable packets that left each port with CE set here; a packet that came with CE is not counted.
    PACKET_COUNTER(PORT_COUNT) marked_packets;

    Dice() dice;
    Lower() lower;

    bool always;
    bit<16> probability;

    // In units of 2^-16.
    action set_probability(bit<16> p) {
        probability = p;
    }

    action set_always() {
        always = true;
    }

    // A depth without an entry is never marked.
    @p4cc_role("ecn_red_steps.steps")
    table steps {
        key = {
            egress_port: exact @name("egress_port");
            queue_depth: range @name("queue_depth");
        }
        actions = {
            set_probability;
            set_always;
            NoAction;
        }
        const default_action = NoAction();
        size = RED_STEPS_SIZE;
    }

    apply {
        always = false;
        probability = 0;
        if (ecn != ECN_NOT_CAPABLE && ecn != ECN_CE) {
            bit<16> drawn;
            bool marks;
            dice.apply(drawn);
            steps.apply();
            lower.apply(drawn, probability, marks);
            if (always || marks) {
                ecn = ECN_CE;
                marked_packets.count((bit<32>)egress_port);
            }
        }
    }
}

#endif
